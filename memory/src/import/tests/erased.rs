//! Imports that are under way when everything of their owner is forgotten.

use std::io::Cursor;

use memory_core::engine::{Forget, Memory, Remember};
use memory_core::{Error, Filter, Message, Role, Scope, SessionId};
use serde_json::json;
use tempfile::tempdir;

use super::{NOW, whole_source};
use crate::import::Import;
use crate::transfer;

/// Messages of the file, more than one batch of an import has.
const COUNT: usize = 600;

/// Imports one batch for a new owner, forgets everything of that owner, and passes if the import fails and leaves nothing.
async fn is_fenced(memory: &Memory, subject: &str, text: Vec<u8>) {
    let owner = || memory.of(&Scope::new("acme", subject).unwrap());
    let mut import = Import::begin(owner(), Cursor::new(text.clone()), whole_source()).unwrap();
    assert!(import.step().await.unwrap().unwrap().committed > 0);
    assert!(owner().forget(&Forget::Everything).await.unwrap().complete);
    let failed = loop {
        match import.step().await {
            Ok(step) => assert!(step.is_some(), "the import went on to its end"),
            Err(error) => break error,
        }
    };
    assert!(matches!(failed, Error::Fenced), "{failed:?}");
    assert_eq!(owner().sessions(None, 10).await.unwrap(), []);
    assert_eq!(owner().records(&Filter::All, None, 10).await.unwrap(), []);

    let mut again = Import::begin(owner(), Cursor::new(text), whole_source()).unwrap();
    while again.step().await.unwrap().is_some() {}
    assert!(again.finish().committed() >= COUNT as u64);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_import_under_way_brings_nothing_back_after_everything_was_forgotten() {
    let folder = tempdir().unwrap();
    let memory = crate::open(folder.path().join("m.sqlite").to_str().unwrap()).await.unwrap().build().await.unwrap();
    let line =
        |n: usize| json!({"session": format!("s{}", n / 100), "role": "user", "content": format!("message {n}")});
    let lines: String = (0..COUNT).map(|n| format!("{}\n", line(n))).collect();
    is_fenced(&memory, "lines", lines.into_bytes()).await;

    let ada = memory.of(&Scope::new("acme", "ada").unwrap());
    for session in 0..COUNT / 100 {
        let said = (0..100).map(|n| Message::new(Role::User, format!("message {n}"), NOW));
        ada.session(&SessionId::new(&format!("s{session}")).unwrap()).append(said.collect()).await.unwrap();
    }
    ada.remember_all((0..300).map(|n| Remember::fact(format!("fact {n}"))).collect()).await.unwrap();
    let mut exported = Vec::new();
    transfer::export(&ada, None, &mut exported).await.unwrap();
    is_fenced(&memory, "rows", exported).await;
    memory.close().await.unwrap();
}
