//! The store that holds records.

use std::sync::Arc;

use async_trait::async_trait;

use crate::error::Result;
use crate::filter::Filter;
use crate::id::RecordId;
use crate::record::{Record, StoredRecord};
use crate::scope::Scope;
use crate::store::Store;
use crate::store::chat::Fence;
use crate::time::Timestamp;

/// What a put expects to find.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Expect {
    /// Whatever is there.
    Anything,
    /// No such record (a deleted one counts as none).
    Absent,
    /// Exactly this version.
    Version(u64),
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
    /// What [`RecordStore::fence`] returned before the caller looked at what the records depend on. `None` checks nothing.
    pub fence: Option<Fence>,
    /// The records. The same id twice is `Invalid`.
    pub puts: Vec<Put>,
}

/// Holds the records of owners: truth for long-term memory.
///
/// Every write notes itself pending for each enlisted index ([`crate::store::upkeep::Upkeep`]) in the same step.
/// Every method may be repeated after a lost answer, and may be dropped: the write then happens fully or not at all.
#[async_trait]
pub trait RecordStore: Store {
    /// Puts all records of the batch, or none, and returns the version of each.
    ///
    /// A put whose record is stored already with equal content succeeds and changes nothing, whatever it expects and whatever
    /// was deleted since. A record put again after its deletion gets a version above all it ever had.
    ///
    /// # Errors
    /// `Fenced` if the owner's epoch is not the fence's; `Conflict` if its generation is not, because something was deleted
    /// since, or if an expected version is not the stored one; `IdConflict` if a record expected to be absent is there with
    /// other content.
    async fn put(&self, scope: &Scope, batch: &RecordBatch) -> Result<Vec<u64>>;

    /// Returns the records with these ids, in the order of `ids`; absent and foreign ids are skipped alike.
    ///
    /// Expired and superseded records are returned: whoever asks by id decides.
    async fn get(&self, scope: &Scope, ids: &[RecordId]) -> Result<Vec<StoredRecord>>;

    /// Returns up to `limit` records after the id `after` that match `filter`, in the order of their ids.
    async fn scan(
        &self,
        scope: &Scope,
        filter: &Filter,
        after: Option<RecordId>,
        limit: usize,
    ) -> Result<Vec<StoredRecord>>;

    /// Notes that these records were returned at `at`; absent ids are skipped.
    ///
    /// Counts once per record and moment, and only forwards in time, so that it can be repeated.
    async fn touch(&self, scope: &Scope, ids: &[RecordId], at: Timestamp) -> Result<()>;

    /// Returns the fence that a put has to carry now; zeros for an unknown owner.
    async fn fence(&self, scope: &Scope) -> Result<Fence>;

    /// Raises the generation above that of `seen`, so that a put with that fence is refused, and returns the fence then.
    ///
    /// Nothing changes where the generation is above it already, nor where the epoch is another one: so it may come late.
    ///
    /// # Errors
    /// `Invalid` if no fence could follow `seen` ([`Fence::check`]).
    async fn advance(&self, scope: &Scope, seen: Fence) -> Result<Fence>;

    /// Deletes each of these records for good if it has the version said or an older one, notes them gone for every index, and
    /// returns how many there were. Absent ids are skipped.
    ///
    /// The generation rises in the same step, also where none of them is there: a put that began before is refused. An empty
    /// list changes nothing.
    ///
    /// # Errors
    /// `Conflict` if one of them has a newer version; then nothing changes. So a deletion may come late.
    async fn delete(&self, scope: &Scope, records: &[(RecordId, u64)]) -> Result<u64>;

    /// Stores all rows, or none, as they are, with versions and access statistics (export, moves), and notes them pending.
    ///
    /// A row whose version is not above the stored one is skipped if its content is equal.
    ///
    /// # Errors
    /// `Conflict` if the stored version is the same or newer and the content is other; a deletion counts as other content.
    /// `Invalid` if a version or count is larger than [`StoredRecord::check_numbers`] lets be.
    async fn restore(&self, scope: &Scope, rows: &[StoredRecord]) -> Result<()>;
}
