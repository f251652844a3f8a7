//! What is begun anew under the same names while everything of an owner is forgotten, or soon afterwards.

use std::sync::{Arc, Mutex};

use memory_core::analysis::Analysis;
use memory_core::engine::{Forget, Memory, Remember, Search};
use memory_core::methods::*;
use memory_core::reference::{MemChat, MemRecords, MemText};
use memory_core::{Message, Role, Truth};
use memory_testkit::broken_store;

use crate::bench::session;

memory_core::store_methods!(Store, ChatStore, Upkeep => broken_store { Arc<MemChat> {} });

fn ada() -> Scope {
    Scope::new("acme", "ada").unwrap()
}

fn rose() -> Message {
    Message::new(Role::User, "My rose is called Aurora", Timestamp(1))
}

/// Conversations of which others make use while everything is forgotten.
#[derive(Debug)]
struct InUse {
    records: Arc<MemRecords>,
    /// What others see.
    others: Memory,
    said: MessageId,
}

#[async_trait]
impl Break for InUse {
    /// Upkeep goes on with the erasure as soon as the conversations are buried.
    async fn bury(&self, inner: &Arc<MemChat>, scope: &Scope, seen: Epoch) -> Result<Epoch> {
        let epoch = inner.bury(scope, seen).await?;
        self.records.erase(scope, epoch).await?;
        Ok(epoch)
    }

    /// Somebody begins anew before the old conversations are gone.
    async fn erase(&self, inner: &Arc<MemChat>, scope: &Scope, below: Epoch) -> Result<Erased> {
        let ada = self.others.of(scope);
        ada.session(&session("talk")).append(vec![rose().with_id(self.said)]).await?;
        ada.remember(Remember::fact("Aurora is a rose").with_source(ItemId::Message(self.said))).await?;
        inner.erase(scope, below).await
    }
}

#[tokio::test]
async fn what_is_derived_while_everything_is_forgotten_keeps_its_source() {
    let (inner, records) = (Arc::new(MemChat::default()), Arc::new(MemRecords::default()));
    let truth = || Truth::records(Arc::clone(&records));
    let others = Memory::builder(Truth::chat(Arc::clone(&inner)), truth()).build().await.unwrap();
    let said = MessageId::fresh();
    let broken = InUse { records: Arc::clone(&records), others: others.clone(), said };
    let chat = Truth::chat(Arc::new(Mutant { inner, broken }));
    let memory = Memory::builder(chat, truth()).build().await.unwrap();
    assert!(memory.of(&ada()).forget(&Forget::Everything).await.unwrap().complete);
    let ada = others.of(&ada());
    assert_eq!(ada.records(&Filter::All, None, 10).await.unwrap().len(), 1);
    assert_eq!(ada.messages(&[said]).await.unwrap().len(), 1);
}

/// Hands out notes that were read long ago.
#[derive(Debug, Default)]
struct Late {
    notes: Mutex<Vec<Note>>,
}

#[async_trait]
impl Break for Late {
    async fn pending(
        &self,
        inner: &Arc<MemChat>,
        index: &IndexName,
        now: Timestamp,
        limit: usize,
    ) -> Result<Vec<Note>> {
        let notes = std::mem::take(&mut *self.notes.lock().unwrap());
        if notes.is_empty() { inner.pending(index, now, limit).await } else { Ok(notes) }
    }
}

#[tokio::test]
async fn a_note_from_before_an_erasure_spares_what_was_said_anew() {
    let inner = Arc::new(MemChat::default());
    let chat = Arc::new(Mutant { inner: Arc::clone(&inner), broken: Late::default() });
    let text = Arc::new(MemText::new(Analysis::english().name()));
    let builder = Memory::builder(Truth::chat(Arc::clone(&chat)), Truth::records(Arc::new(MemRecords::default())));
    let memory = builder.text(text).build().await.unwrap();
    let say = async || memory.of(&ada()).session(&session("talk")).append(vec![rose()]).await.unwrap();
    let hits = async || memory.of(&ada()).search(&Search::new("Aurora")).await.unwrap().hits.len();
    say().await;
    memory.upkeep_once().await.unwrap();
    memory.of(&ada()).forget(&Forget::Session(session("talk"))).await.unwrap();
    let index = memory.status().await.indexes.pop().unwrap().name;
    let notes = inner.pending(&index, Timestamp(i64::MAX), 10).await.unwrap();
    assert!(notes.iter().any(|note| note.gone), "{notes:?}");
    memory.of(&ada()).forget(&Forget::Everything).await.unwrap();
    say().await;
    memory.upkeep_once().await.unwrap();
    assert_eq!(hits().await, 1);
    *chat.broken.notes.lock().unwrap() = notes;
    memory.upkeep_once().await.unwrap();
    assert_eq!(hits().await, 1);
}
