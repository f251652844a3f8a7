//! Exports beside somebody who changes what is exported.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use memory_core::engine::Remember;
use memory_core::store::chat::ChatStore;
use memory_core::{Message, MessageId, Role, Scope, StoredRecord, Timestamp, Truth};
use memory_testkit::doubles::{Tap, Tapped};

use super::*;
use crate::transfer::Exported;
use crate::{BufferConfig, Folding, Settings, over};

/// Forgets a message behind the first pages of a session that are read.
#[derive(Debug)]
struct Forgetful {
    chat: Truth<dyn ChatStore>,
    scope: Scope,
    /// What is forgotten, one behind each page.
    ids: Mutex<Vec<MessageId>>,
    pages: AtomicUsize,
}

impl Tap for Forgetful {
    fn enter(&self, _: &'static str) -> memory_core::Result<()> {
        Ok(())
    }

    fn leave(&self, call: &'static str, rows: usize) -> memory_core::Result<()> {
        if call != "read" || rows == 0 {
            return Ok(());
        }
        self.pages.fetch_add(1, Ordering::SeqCst);
        let Some(id) = self.ids.lock().unwrap().pop() else { return Ok(()) };
        let redact = self.chat.store().redact(&self.scope, std::slice::from_ref(&id));
        tokio::task::block_in_place(|| tokio::runtime::Handle::current().block_on(redact)).map(drop)
    }
}

/// Keeps how many rows a call was answered with at the most.
#[derive(Debug, Default)]
struct Most(AtomicUsize);

impl Tap for Most {
    fn enter(&self, _: &'static str) -> memory_core::Result<()> {
        Ok(())
    }

    fn leave(&self, _: &'static str, rows: usize) -> memory_core::Result<()> {
        self.0.fetch_max(rows, Ordering::SeqCst);
        Ok(())
    }
}

/// Exports a session of 1,200 messages, of which `forgotten` are forgotten one by one while they are read.
async fn exported(forgotten: usize) -> (Result<Exported, Error>, String, usize) {
    let folder = tempfile::tempdir().unwrap();
    let place = folder.path().join("memory.sqlite");
    let mut stores = Settings::new(place.to_str().unwrap()).connect().await.unwrap();
    let scope = Scope::new("acme", "ada").unwrap();
    let messages: Vec<Message> =
        (0..1_200).map(|n| Message::new(Role::User, format!("word{n} boats"), Timestamp(n))).collect();
    let ids = messages.iter().take(forgotten).map(|message| message.id).collect();
    let tap = Arc::new(Forgetful {
        chat: stores.chat().unwrap().clone(),
        scope: scope.clone(),
        ids: Mutex::new(ids),
        pages: AtomicUsize::new(0),
    });
    let session = SessionId::new("talk").unwrap();
    let new = messages.into_iter().map(|message| memory_core::store::chat::NewMessage::sized(message, 3)).collect();
    stores.chat().unwrap().store().append(&scope, &session, &memory_core::store::chat::Append::new(new)).await.unwrap();
    let watched = Arc::clone(&tap);
    stores.chat = stores.chat.map(|chat| chat.layered(|store| Arc::new(Tapped::new(store, watched))));
    let memory = over(stores).buffer(BufferConfig::default().with_folding(Folding::Off)).build().await.unwrap();
    let mut written = Vec::new();
    let answer = export(&memory.of(&scope), Some(&session), &mut written).await;
    let text = String::from_utf8(written).unwrap();
    (answer, text, tap.pages.load(Ordering::SeqCst))
}

#[tokio::test(flavor = "multi_thread")]
async fn a_session_that_is_changed_between_two_pages_is_read_again_from_its_beginning() {
    let (answer, text, pages) = exported(1).await;
    assert_eq!(answer.unwrap().rows, 1_200);
    assert_eq!(pages, 2 + 3, "three pages, and the two before that was noticed");
    assert!(
        !text.contains("word0 boats") && text.contains("word1 boats"),
        "what was forgotten meanwhile is not written"
    );
    assert_eq!(text.lines().count(), 1 + 1_200 + 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_session_that_is_changed_all_the_time_is_not_exported_in_part() {
    let (answer, text, _) = exported(600).await;
    assert_eq!(answer.unwrap_err().to_string(), "talk is written to while it is exported");
    assert_eq!(text.lines().count(), 1, "the head alone: an import sees that the end is missing");
}

#[tokio::test]
async fn records_are_read_a_hundred_at_a_time() {
    let folder = tempfile::tempdir().unwrap();
    let place = folder.path().join("memory.sqlite");
    let mut stores = Settings::new(place.to_str().unwrap()).connect().await.unwrap();
    let most = Arc::new(Most::default());
    let watched = Arc::clone(&most);
    stores.records = stores.records.map(|records| records.layered(|store| Arc::new(Tapped::new(store, watched))));
    let memory = over(stores).build().await.unwrap();
    let ada = memory.of(&Scope::new("acme", "ada").unwrap());
    let told = (0..250).map(|number| Remember::fact(format!("Ada knows the number {number}")));
    ada.remember_all(told.collect()).await.unwrap();
    most.0.store(0, Ordering::SeqCst);
    let exported = export(&ada, None, &mut Vec::new()).await.unwrap();
    assert_eq!((exported.records, most.0.load(Ordering::SeqCst)), (250, 100));
}

#[tokio::test]
async fn what_has_expired_is_left_out_unless_it_is_on_hold() {
    let folder = tempfile::tempdir().unwrap();
    let place = folder.path().join("memory.sqlite");
    let stores = Settings::new(place.to_str().unwrap()).connect().await.unwrap();
    let memory = over(stores).build().await.unwrap();
    let ada = memory.of(&Scope::new("acme", "ada").unwrap());
    let rows = [("Ada is in Rome", true), ("Ada is in Oslo", false)].map(|(text, hold)| {
        let mut record = Record { hold, ..Record::new("fact", text, Timestamp(0)) };
        record.first.expires_at = Some(Timestamp(1));
        StoredRecord { record: Arc::new(record), version: 1, accessed_at: None, access_count: 0 }
    });
    ada.restore(&rows).await.unwrap();
    let mut written = Vec::new();
    let exported = export(&ada, None, &mut written).await.unwrap();
    let text = String::from_utf8(written).unwrap();
    assert_eq!((exported.records, text.contains("Rome"), text.contains("Oslo")), (1, true, false));
}
