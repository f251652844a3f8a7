use std::path::Path;
use std::sync::Arc;

use memory_core::engine::{Memory, Remember, Search};
use memory_core::record::Record;
use memory_core::store::records::{Expect, Put, RecordBatch, RecordStore};
use memory_core::store::upkeep::{Incarnation, Note, Outcome, Upkeep};
use memory_core::{Analysis, Truth};
use sqlx::sqlite::SqliteConnectOptions;
use sqlx::{ConnectOptions, Connection};

use super::*;
use crate::{SqliteChat, SqliteConfig, SqliteRecords, SqliteText};

fn scope(subject: &str) -> Scope {
    Scope::new("acme", subject).unwrap()
}

async fn put(records: &SqliteRecords, subject: &str) {
    let mut record = Record::new("fact", format!("the rose of {subject}"), Timestamp(1));
    record.first.expires_at = Some(Timestamp(5));
    let record = Arc::new(record);
    let puts = vec![Put { record, expect: Expect::Absent }];
    records.put(&scope(subject), &RecordBatch { fence: None, puts }).await.unwrap();
}

/// Changes the file behind the store's back.
async fn damage(path: &Path, sql: &'static str) {
    let mut connection = SqliteConnectOptions::new().filename(path).connect().await.unwrap();
    assert!(sqlx::query(sql).execute(&mut connection).await.unwrap().rows_affected() > 0);
    connection.close().await.unwrap();
}

#[tokio::test]
async fn upkeep_ends_over_a_file_that_holds_the_largest_version() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("memory.db");
    let file = Sqlite::connect(SqliteConfig::new(&path)).await.unwrap();
    let analysis = Analysis::english();
    let (chat, records) = (SqliteChat::new(&file), SqliteRecords::new(&file));
    let memory = Memory::builder(Truth::chat(Arc::new(chat)), Truth::records(Arc::new(records)))
        .text(Arc::new(SqliteText::new(&file, analysis.name())))
        .build()
        .await
        .unwrap();
    let ada = memory.of(&scope("ada"));
    let id = ada.remember(Remember::fact("the rose is called Aurora")).await.unwrap().id;
    damage(&path, "UPDATE record SET version = 9223372036854775807").await;
    damage(&path, "UPDATE note SET \"from\" = 9223372036854775807, upto = 9223372036854775807").await;
    let pending = async || memory.status().await.indexes[0].backlog.clone().unwrap().pending;
    for _ in 0..2 {
        let report = memory.upkeep_once().await.unwrap();
        assert_eq!((report.failures.len(), pending().await), (0, 0), "{report:?}");
    }
    assert_eq!(ada.search(&Search::new("Aurora")).await.unwrap().hits.len(), 1);
    // Its deletion has the same version, and is carried out too.
    ada.forget(&memory_core::engine::Forget::Records(vec![id])).await.unwrap();
    assert_eq!((memory.upkeep_once().await.unwrap().failures.len(), pending().await), (0, 0));
}

#[tokio::test]
async fn a_note_that_cannot_be_read_holds_up_no_other() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("memory.db");
    let file = Sqlite::connect(SqliteConfig::new(&path)).await.unwrap();
    let (records, index) = (SqliteRecords::new(&file), IndexName::new("text/test-1").unwrap());
    records.enlist(&index, None, usize::MAX).await.unwrap();
    put(&records, "ada").await;
    put(&records, "bob").await;
    damage(&path, "UPDATE owner SET key = 'no key of a scope' WHERE key = 'acme.ada'").await;
    let pending = || records.pending(&index, Timestamp(0), 10);
    let [note]: [Note; 1] = pending().await.unwrap().try_into().unwrap();
    assert_eq!(note.scope, scope("bob"));
    let done = Outcome::Done { through: note.upto };
    records.settle(&index, &[(note, done)]).await.unwrap();
    assert!(matches!(pending().await, Err(Error::Corrupt { .. })));
}

#[tokio::test]
async fn notes_that_cannot_be_read_take_no_room_from_others() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("memory.db");
    let file = Sqlite::connect(SqliteConfig::new(&path)).await.unwrap();
    let (records, index) = (SqliteRecords::new(&file), IndexName::new("text/test-1").unwrap());
    records.enlist(&index, None, usize::MAX).await.unwrap();
    for subject in ["ada", "bob", "cleo", "dora", "eve"] {
        put(&records, subject).await;
    }
    damage(&path, "UPDATE owner SET key = 'no key of ' || key WHERE key NOT IN ('acme.cleo', 'acme.eve')").await;
    for (limit, readable) in [(1, 1), (2, 2), (9, 2), (usize::MAX, 2)] {
        let notes = records.pending(&index, Timestamp(0), limit).await.unwrap();
        let owners: Vec<Scope> = notes.into_iter().map(|note| note.scope).collect();
        assert_eq!(owners, [scope("cleo"), scope("eve")][..readable], "{limit}");
    }
}

#[tokio::test]
async fn an_index_that_cannot_be_read_holds_up_no_other() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("memory.db");
    let file = Sqlite::connect(SqliteConfig::new(&path)).await.unwrap();
    let records = SqliteRecords::new(&file);
    let [odd, index] = ["text/odd-1", "text/test-1"].map(|name| IndexName::new(name).unwrap());
    for index in [&odd, &index] {
        records.enlist(index, Some(incarnation()), usize::MAX).await.unwrap();
    }
    damage(&path, "UPDATE enlisted SET incarnation = x'00' WHERE name = 'text/odd-1'").await;
    damage(&path, "INSERT INTO enlisted (truth, name) VALUES (1, 'no name')").await;
    let shown = async || {
        let enlisted = records.indexes().await.unwrap().into_iter();
        enlisted.map(|one| (one.name, one.incarnation)).collect::<Vec<_>>()
    };
    assert_eq!(shown().await, [(odd.clone(), None), (index.clone(), Some(incarnation()))]);
    assert!(records.enlist(&index, Some(incarnation()), usize::MAX).await.unwrap());
    // It is noted anew, as one whose incarnation nobody knows.
    assert!(records.enlist(&odd, Some(incarnation()), usize::MAX).await.unwrap());
    assert_eq!(shown().await, [(odd, Some(incarnation())), (index, Some(incarnation()))]);
}

fn incarnation() -> Incarnation {
    Incarnation(uuid::Uuid::from_u64_pair(1, 1))
}

#[tokio::test]
async fn a_damaged_row_of_one_owner_keeps_no_other_from_being_listed_or_swept() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("memory.db");
    let file = Sqlite::connect(SqliteConfig::new(&path)).await.unwrap();
    let records = SqliteRecords::new(&file);
    for subject in ["ada", "bob", "cleo", "dora"] {
        put(&records, subject).await;
    }
    damage(&path, "UPDATE record SET id = x'00' WHERE owner = (SELECT id FROM owner WHERE key = 'acme.ada')").await;
    damage(
        &path,
        "INSERT INTO record_grave (owner, id, version) SELECT owner, id, version FROM record \
         WHERE owner = (SELECT id FROM owner WHERE key = 'acme.bob')",
    )
    .await;
    damage(&path, "UPDATE owner SET key = 'acme.bob no key of a scope' WHERE key = 'acme.bob'").await;
    let listed = records.owners(None, 2).await.unwrap();
    assert_eq!(listed, [scope("ada"), scope("cleo")]);
    assert_eq!(records.owners(listed.last(), 2).await.unwrap(), [scope("dora")]);
    // A step for one record meets the damaged ones first, which expired no later.
    for _ in 0..3 {
        assert_eq!(records.sweep(Timestamp(9), 1).await.unwrap(), 1);
    }
    assert_eq!(records.sweep(Timestamp(9), 9).await.unwrap(), 0);
}
