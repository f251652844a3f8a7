//! The record store: the truth store for records.

use std::sync::Arc;

use async_trait::async_trait;

use crate::error::Result;
use crate::filter::Filter;
use crate::id::RecordId;
use crate::record::{Record, StoredRecord};
use crate::scope::{Epoch, Scope};
use crate::store::chat::Fence;
use crate::store::{Durability, Store};
use crate::time::Timestamp;

/// What a put expects to find under its id.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Expect {
    /// Anything, or nothing.
    Anything,
    /// No such record (a deleted one counts as none).
    Absent,
    /// Exactly this version.
    Version(u64),
}

/// What a restore does with records that are there already.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Replace {
    /// Those of a lower version are replaced, and deleted ones return in a higher version: a copy follows its original.
    Older,
    /// What is stored or was deleted stays as it is.
    Nothing,
}

/// One record to be put.
#[derive(Clone, Debug)]
pub struct Put {
    /// The record.
    pub record: Arc<Record>,
    /// What is expected in its place.
    pub expect: Expect,
}

/// Records to be put together.
#[derive(Clone, Debug)]
pub struct RecordBatch {
    /// The answer of [`RecordStore::fence`] before the caller read what the records depend on. `None` checks nothing.
    pub fence: Option<Fence>,
    /// The records. The same id twice is `Invalid`.
    pub puts: Vec<Put>,
}

/// Holds the records of owners: truth for long-term memory.
///
/// Every write also notes itself for each enlisted index ([`crate::store::upkeep::Upkeep`]), in the same transaction. Every
/// method may be repeated after a lost answer. If its future is dropped, the write happens fully or not at all.
#[doc(alias = "persistent")]
#[async_trait]
pub trait RecordStore: Store {
    /// Returns how durable what was put last is: what its settings allowed, or those of its server, when last read.
    fn durability(&self) -> Durability;

    /// Puts all records of the batch, or none, and returns the version of each.
    ///
    /// A put of a record that is stored with equal content succeeds and changes nothing, whatever it expects and whatever was
    /// deleted since. A record that is put again after its deletion gets a version above all earlier ones.
    ///
    /// # Errors
    /// `Fenced` if the owner's epoch is not the fence's; `Conflict` if the generation is not the fence's, because something was
    /// deleted since, or if an expected version is not the stored one; `IdConflict` if a record expected to be absent is there
    /// with other content.
    async fn put(&self, scope: &Scope, batch: &RecordBatch) -> Result<Vec<u64>>;

    /// Returns the records with these ids, in the order of `ids`. Absent and foreign ids are both skipped.
    ///
    /// Expired and superseded records are returned; the caller decides about them.
    async fn get(&self, scope: &Scope, ids: &[RecordId]) -> Result<Vec<StoredRecord>>;

    /// Returns up to `limit` records after the id `after` that match `filter`, in the order of their ids.
    async fn scan(
        &self,
        scope: &Scope,
        filter: &Filter,
        after: Option<RecordId>,
        limit: usize,
    ) -> Result<Vec<StoredRecord>>;

    /// Returns up to `limit` records that match `filter`, the newest first: by [`Record::created_at`], ties by the greater id. With
    /// `before`, only those after this time and id in that order; no record need have them.
    ///
    /// Reads what it returns, not what the owner has, unless the filter leaves out much.
    async fn newest(
        &self,
        scope: &Scope,
        filter: &Filter,
        before: Option<(Timestamp, RecordId)>,
        limit: usize,
    ) -> Result<Vec<StoredRecord>>;

    /// Counts an access of these records at `at`; absent ids are skipped.
    ///
    /// Counts each record once for each `at`, and only if `at` is later than its last access; so a repeat changes nothing.
    async fn touch(&self, scope: &Scope, ids: &[RecordId], at: Timestamp) -> Result<()>;

    /// Returns the fence that a put must carry now; zeros for an unknown owner.
    async fn fence(&self, scope: &Scope) -> Result<Fence>;

    /// Raises the generation above that of `seen`, so that puts with that fence are refused, and returns the new fence.
    ///
    /// Changes nothing if the generation is above it already, or the epoch is another one; so a late call is harmless.
    ///
    /// # Errors
    /// `Invalid` if no fence could follow `seen` ([`Fence::check`]).
    async fn advance(&self, scope: &Scope, seen: Fence) -> Result<Fence>;

    /// Deletes these records for good, each up to the version given, notes them gone for every index, and returns how many there
    /// were. Absent ids are skipped.
    ///
    /// The generation rises in the same transaction, even if none of them is there: a put that began before is refused. An empty
    /// list changes nothing.
    ///
    /// # Errors
    /// `Conflict` if one of them has a newer version; then nothing changes. So a late deletion is harmless.
    async fn delete(&self, scope: &Scope, records: &[(RecordId, u64)]) -> Result<u64>;

    /// Stores exported rows, all or none, with their versions and access statistics, and notes them for every index.
    ///
    /// A row is skipped if the stored version is the same or newer, with equal content; with [`Replace::Nothing`] also if it is older.
    /// The epoch is the one that the caller's handle saw; `None` checks nothing. No rows change nothing.
    ///
    /// # Errors
    /// `Fenced` if there are rows and the owner's epoch is another one; `Conflict` if the stored version is the same or newer, with other
    /// content, or with [`Replace::Nothing`] any version with other content; a deletion counts as other content.
    /// `Invalid` if a version or count is larger than [`StoredRecord::check_numbers`] allows.
    async fn restore(&self, scope: &Scope, epoch: Option<Epoch>, rows: &[StoredRecord], replace: Replace)
    -> Result<()>;
}
