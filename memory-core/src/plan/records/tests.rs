use std::collections::HashMap;

use super::*;
use crate::error::{Error, Result};
use crate::id::RecordId;
use crate::record::{Record, StoredRecord};
use crate::scope::Epoch;
use crate::store::chat::Fence;
use crate::store::records::{Expect, Put, RecordBatch, Replace};
use crate::time::Timestamp;

fn record(text: &str) -> Record {
    Record { id: RecordId::of_content(b"one"), ..Record::new("fact", text, Timestamp(1)) }
}

fn known(version: i64, text: Option<&str>) -> HashMap<RecordId, KnownRecord> {
    let digest = text.map(|text| Row::encode(&record(text), |_| ()).unwrap().digest);
    HashMap::from([(record("").id, KnownRecord { version, digest })])
}

fn put(expect: Expect, known: &HashMap<RecordId, KnownRecord>, now: Fence) -> Result<(Vec<u64>, usize)> {
    let puts = vec![Put { record: record("a").into(), expect }];
    let batch = Batch::encode(&RecordBatch { fence: Some(Fence::default()), puts }, |_| ())?;
    batch.check(now)?;
    let Planned { versions, changed } = batch.plan(known, now)?;
    Ok((versions, changed.len()))
}

#[test]
fn a_put_gives_the_next_version_to_what_changes() {
    let now = Fence::default();
    assert_eq!(put(Expect::Absent, &HashMap::new(), now).unwrap(), (vec![1], 1));
    assert_eq!(put(Expect::Absent, &known(4, None), now).unwrap(), (vec![5], 1));
    assert_eq!(put(Expect::Absent, &known(4, Some("a")), now).unwrap(), (vec![4], 0));
    assert_eq!(put(Expect::Version(4), &known(4, Some("b")), now).unwrap(), (vec![5], 1));
    assert!(matches!(put(Expect::Absent, &known(4, Some("b")), now), Err(Error::IdConflict { .. })));
    assert!(matches!(put(Expect::Version(3), &known(4, Some("b")), now), Err(Error::Conflict)));
    assert!(matches!(put(Expect::Version(4), &known(4, None), now), Err(Error::Conflict)));
}

#[test]
fn a_put_that_is_outrun_changes_nothing() {
    let raised = Fence { generation: 1, ..Fence::default() };
    assert_eq!(put(Expect::Anything, &known(4, Some("a")), raised).unwrap(), (vec![4], 0));
    assert!(matches!(put(Expect::Anything, &known(4, Some("b")), raised), Err(Error::Conflict)));
    let buried = Fence { epoch: Epoch(1), ..Fence::default() };
    assert!(matches!(put(Expect::Anything, &known(4, Some("a")), buried), Err(Error::Fenced)));
}

#[test]
fn only_newer_records_are_restored() {
    let row = |version, text| StoredRecord { record: record(text).into(), version, accessed_at: None, access_count: 2 };
    let restore = |known: &HashMap<RecordId, KnownRecord>, rows: &[StoredRecord]| {
        let restoration = Restoration::encode(rows, |_| ())?;
        let stored = restoration.plan(known, Replace::Older)?;
        Ok(stored.iter().map(|stored| (stored.version, stored.accessed)).collect::<Vec<_>>())
    };
    assert_eq!(restore(&known(4, Some("a")), &[row(5, "b"), row(6, "c")]).unwrap(), [(6, Some((None, 2)))]);
    assert_eq!(restore(&known(4, Some("a")), &[row(4, "a")]).unwrap(), []);
    let older: Result<_> = restore(&known(4, Some("a")), &[row(4, "b")]);
    assert!(matches!(older, Err(Error::Conflict)));
}
