use std::sync::Arc;

use super::*;
use crate::record::Record;
use crate::store::Store;
use crate::store::records::{Expect, Put};
use crate::store::upkeep::Upkeep;

fn batch(record: &Record) -> RecordBatch {
    RecordBatch { fence: None, puts: vec![Put { record: Arc::new(record.clone()), expect: Expect::Anything }] }
}

#[tokio::test]
async fn sweeps_the_soonest_first_and_follows_every_change() {
    let store = MemRecords::default();
    let scope = Scope::new("acme", "ada").unwrap();
    let mut records: Vec<Record> = (0..5).map(|n| Record::new("fact", format!("{n}"), Timestamp(0))).collect();
    for (n, record) in records.iter_mut().enumerate() {
        record.first.expires_at = Some(Timestamp(10 - n as i64));
        store.put(&scope, &batch(record)).await.unwrap();
    }
    records[4].first.expires_at = Some(Timestamp(100));
    records[3].hold = true;
    for record in &records[3..] {
        store.put(&scope, &batch(record)).await.unwrap();
    }
    store.delete(&scope, &[(records[2].id, 1)]).await.unwrap();
    assert_eq!(store.sweep(Timestamp(8), 9).await.unwrap(), 0);
    assert_eq!(store.sweep(Timestamp(10), 1).await.unwrap(), 1);
    let left = store.scan(&scope, &Filter::All, None, 9).await.unwrap();
    assert!(!left.iter().any(|row| row.record.id == records[1].id), "the one of 9 goes before the one of 10");
    store.bury(&scope, Epoch(0)).await.unwrap();
    assert_eq!(store.sweep(Timestamp(1_000), 9).await.unwrap(), 0);
    assert!(store.state.lock().expiring.is_empty());
}

#[tokio::test]
async fn a_burial_is_reported_by_one_erasure() {
    let store = MemRecords::default();
    let scope = Scope::new("acme", "ada").unwrap();
    store.put(&scope, &batch(&Record::new("fact", "old", Timestamp(0)))).await.unwrap();
    let epoch = store.bury(&scope, Epoch(0)).await.unwrap();
    let new = Record::new("fact", "new", Timestamp(0));
    store.put(&scope, &batch(&new)).await.unwrap();
    assert_eq!(store.erase(&scope, epoch).await.unwrap().removed, 1);
    assert_eq!(store.erase(&scope, epoch).await.unwrap().removed, 0);
    assert_eq!(store.get(&scope, &[new.id]).await.unwrap().len(), 1);
}
