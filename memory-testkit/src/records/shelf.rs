//! The records of one owner under test, with short methods for the scenarios.

use std::sync::Arc;

use memory_core::record::{Record, Telling};
use memory_core::store::chat::Fence;
use memory_core::store::records::{Expect, Put, RecordBatch, Replace};
use memory_core::{Epoch, Filter, RecordId, Result, Scope, StoredRecord, Timestamp};

use crate::chat::talk::{MANY, NOON};
use crate::{Bed, Records};

/// The records of one owner.
#[derive(Clone)]
pub(crate) struct Shelf {
    pub(crate) records: Records,
    pub(crate) scope: Scope,
}

/// Returns a fact.
pub(crate) fn fact(text: &str) -> Record {
    Record::new("fact", text, NOON)
}

/// Returns a fact that expires so many seconds after noon.
pub(super) fn brief(text: &str, seconds: i64) -> Record {
    tell(fact(text), |telling| telling.expires_at = Some(later(seconds)))
}

/// Returns the record with another first telling.
pub(super) fn tell(mut record: Record, change: impl FnOnce(&mut Telling)) -> Record {
    change(&mut record.first);
    record
}

/// Returns the moment so many seconds after noon.
pub(super) fn later(seconds: i64) -> Timestamp {
    Timestamp(NOON.0 + seconds * 1_000_000)
}

/// Returns the fence of an owner of whom nothing was deleted in this epoch.
pub(super) fn at(epoch: Epoch) -> Option<Fence> {
    Some(Fence { epoch, generation: 0 })
}

/// Returns the same record with other words.
pub(super) fn reworded(record: &Record, text: &str) -> Record {
    Record { text: text.to_owned(), ..record.clone() }
}

/// Returns the words of rows.
pub(super) fn texts(rows: &[StoredRecord]) -> Vec<&str> {
    rows.iter().map(|row| row.record.text.as_str()).collect()
}

/// Returns the ids of rows.
pub(super) fn ids(rows: &[StoredRecord]) -> Vec<RecordId> {
    rows.iter().map(|row| row.record.id).collect()
}

impl Shelf {
    pub(super) fn new(bed: &Bed<Records>, subject: &str) -> Result<Self> {
        Ok(Self { records: bed.store.clone(), scope: bed.scope(subject)? })
    }

    /// Returns the shelf of the owner `ada`.
    pub(crate) fn plain(bed: &Bed<Records>) -> Result<Self> {
        Self::new(bed, "ada")
    }

    pub(super) async fn put_with(&self, fence: Option<Fence>, puts: &[(&Record, Expect)]) -> Result<Vec<u64>> {
        let puts = puts.iter().map(|(record, expect)| Put { record: Arc::new((*record).clone()), expect: *expect });
        self.records.store().put(&self.scope, &RecordBatch { fence, puts: puts.collect() }).await
    }

    pub(super) async fn expecting(&self, record: &Record, expect: Expect) -> Result<Vec<u64>> {
        self.put_with(None, &[(record, expect)]).await
    }

    /// Puts records whatever is there, and returns their versions.
    pub(crate) async fn put(&self, records: &[&Record]) -> Result<Vec<u64>> {
        let puts: Vec<_> = records.iter().map(|record| (*record, Expect::Anything)).collect();
        self.put_with(None, &puts).await
    }

    pub(super) async fn get(&self, ids: &[RecordId]) -> Result<Vec<StoredRecord>> {
        self.records.store().get(&self.scope, ids).await
    }

    pub(crate) async fn all(&self) -> Result<Vec<StoredRecord>> {
        self.records.store().scan(&self.scope, &Filter::All, None, MANY).await
    }

    pub(super) async fn touch(&self, ids: &[RecordId], at: Timestamp) -> Result<()> {
        self.records.store().touch(&self.scope, ids, at).await
    }

    /// Deletes records whatever versions they have.
    pub(super) async fn delete(&self, ids: &[RecordId]) -> Result<u64> {
        let records: Vec<_> = ids.iter().map(|id| (*id, u64::MAX)).collect();
        self.delete_at(&records).await
    }

    /// Deletes records that are no newer.
    pub(super) async fn delete_at(&self, records: &[(RecordId, u64)]) -> Result<u64> {
        self.records.store().delete(&self.scope, records).await
    }

    pub(super) async fn fence(&self) -> Result<Fence> {
        self.records.store().fence(&self.scope).await
    }

    pub(super) async fn advance(&self, seen: Fence) -> Result<Fence> {
        self.records.store().advance(&self.scope, seen).await
    }

    pub(super) async fn restore(&self, rows: &[StoredRecord]) -> Result<()> {
        self.restore_with(None, rows).await
    }

    pub(super) async fn restore_with(&self, epoch: Option<Epoch>, rows: &[StoredRecord]) -> Result<()> {
        self.records.store().restore(&self.scope, epoch, rows, Replace::Older).await
    }

    /// Restores rows that replace nothing.
    pub(super) async fn restore_missing(&self, rows: &[StoredRecord]) -> Result<()> {
        self.records.store().restore(&self.scope, None, rows, Replace::Nothing).await
    }
}
