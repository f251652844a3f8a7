//! Exports imported where their records are stored, were changed or were forgotten since.

use std::io::Cursor;

use memory_core::engine::{Forget, Remember, Scoped};
use memory_core::store::records::Expect;
use memory_core::{Filter, Record, Scope, StoredRecord};

use super::whole_source;
use crate::import::{Import, Tally};
use crate::transfer;

async fn owner() -> Scoped {
    let memory = crate::open("memory:").await.unwrap().build().await.unwrap();
    memory.of(&Scope::new("acme", "ada").unwrap())
}

/// Imports an export of these records in a version.
async fn import(ada: &Scoped, records: &[Record], version: u64) -> Tally {
    let elsewhere = owner().await;
    let row =
        |record: &Record| StoredRecord { record: record.clone().into(), version, accessed_at: None, access_count: 7 };
    elsewhere.restore(&records.iter().map(row).collect::<Vec<_>>()).await.unwrap();
    let mut lines = Vec::new();
    transfer::export(&elsewhere, None, &mut lines).await.unwrap();
    let mut import = Import::begin(ada.clone(), Cursor::new(lines), whole_source()).unwrap();
    while import.step().await.unwrap().is_some() {}
    import.finish()
}

/// Returns a record as it is stored, put as often as that.
async fn put(ada: &Scoped, times: u64) -> StoredRecord {
    let id = ada.remember(Remember::fact("version 1")).await.unwrap().id;
    for version in 1..times {
        let StoredRecord { record, .. } = ada.get(&[id]).await.unwrap().remove(0);
        let record = Record { text: format!("version {}", version + 1), ..Record::clone(&record) };
        ada.put(record, Expect::Version(version)).await.unwrap();
    }
    ada.get(&[id]).await.unwrap().remove(0)
}

#[tokio::test]
async fn a_stored_record_stays_as_it_is_whatever_version_the_file_has() {
    for (times, version) in [(1, 1_000), (3, 5), (3, 3), (3, 1)] {
        let ada = owner().await;
        let stored = put(&ada, times).await;
        let other = Record { text: "other".to_owned(), ..Record::clone(&stored.record) };
        let beside = Record::new("fact", "not stored yet", ada.memory().now());
        let tally = import(&ada, &[other, beside], version).await;
        assert_eq!((tally.added, tally.already, tally.rejected, tally.forgotten), (1, 0, 1, 0));
        let tally = import(&ada, &[Record::clone(&stored.record)], version).await;
        assert_eq!((tally.added, tally.already, tally.rejected, tally.forgotten), (0, 1, 0, 0));
        assert_eq!(ada.get(&[stored.record.id]).await.unwrap(), [stored]);
    }
}

#[tokio::test]
async fn a_forgotten_record_stays_forgotten_whatever_version_the_file_has() {
    for version in [1, 2, 1_000] {
        let ada = owner().await;
        let stored = put(&ada, 1).await;
        assert!(ada.forget(&Forget::Records(vec![stored.record.id])).await.unwrap().complete);
        let beside = Record::new("fact", "not stored yet", ada.memory().now());
        let tally = import(&ada, &[Record::clone(&stored.record), beside.clone()], version).await;
        assert_eq!((tally.added, tally.already, tally.rejected, tally.forgotten), (1, 0, 0, 1));
        let left = ada.records(&Filter::All, None, 10).await.unwrap();
        assert_eq!(left.iter().map(|row| (row.record.id, row.version)).collect::<Vec<_>>(), [(beside.id, version)]);
    }
}
