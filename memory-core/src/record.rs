//! Long-term memory: records, and the store that holds them.

mod body;
mod fold;
mod telling;
#[cfg(test)]
mod tests;

use std::sync::Arc;

use async_trait::async_trait;
use serde::{Deserialize, Serialize};

use crate::chat::Fence;
use crate::codec;
use crate::error::Result;
use crate::filter::Filter;
use crate::id::{Digest, RecordId};
use crate::message::Trust;
use crate::number;
use crate::scope::Scope;
use crate::store::Store;
use crate::time::Timestamp;

pub use telling::Telling;

/// A fact, preference, context or other piece of long-term memory: words, and when and by whom they were told.
///
/// What readers and filters see is the fold of the tellings, such as [`Record::trust`] and [`Record::metadata`]. Stores
/// keep [`Record::encode`] and never look inside; filters see [`crate::Fields::of_record`].
#[derive(Clone, Debug, PartialEq)]
pub struct Record {
    /// The caller's id, unique within the owner.
    pub id: RecordId,
    /// `fact`, `preference`, `context` or any other word; unknown kinds are kept.
    pub kind: String,
    /// The words.
    pub text: String,
    /// The agent that it belongs to, 1 to 255 bytes; none where there is only one.
    pub agent: Option<String>,
    /// The first telling that is left.
    pub first: Telling,
    /// The tellings behind it, in the order in which they were told.
    pub again: Vec<Telling>,
    /// Is hidden when it expires, as any record, but not deleted before the hold is lifted.
    pub hold: bool,
    /// The record that took its place, and when.
    pub superseded: Option<Superseded>,
    /// Is being forgotten: nothing can be derived from it. Ends when it is told again.
    pub doomed: bool,
}

/// What took a record's place.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Superseded {
    /// The newer record.
    pub by: RecordId,
    /// When.
    pub at: Timestamp,
}

fn is_false(flag: &bool) -> bool {
    !flag
}

impl Record {
    /// Returns a record of `kind` with a fresh id, told once with the trust of a user, and nothing else set.
    pub fn new(kind: impl Into<String>, text: impl Into<String>, created_at: Timestamp) -> Self {
        Self {
            id: RecordId::fresh(),
            kind: kind.into(),
            text: text.into(),
            agent: None,
            first: Telling::new(created_at, Trust::User),
            again: Vec::new(),
            hold: false,
            superseded: None,
            doomed: false,
        }
    }

    /// Returns the canonical bytes that stores keep.
    pub fn encode(&self) -> Vec<u8> {
        codec::encode(self)
    }

    /// Returns how many bytes [`Record::encode`] would return, without making them.
    pub fn encoded_len(&self) -> usize {
        codec::encoded_len(self)
    }

    /// Reads canonical bytes back; `backend` is named in errors.
    ///
    /// # Errors
    /// [`crate::Error::Corrupt`] for bytes that are no record, [`crate::Error::Unsupported`] for a newer version.
    pub fn decode(backend: &'static str, bytes: &[u8]) -> Result<Self> {
        codec::decode(backend, bytes)
    }

    /// Returns the digest of the content, by which a repeated write is known from a conflicting one.
    pub fn digest(&self) -> Digest {
        Digest::of(&[&self.encode()])
    }
}

/// A record as a store holds it. Access statistics stand beside it: they change neither its version nor any index.
#[derive(Clone, Debug, PartialEq)]
pub struct StoredRecord {
    /// The record.
    pub record: Arc<Record>,
    /// Rises by one with each change, also over a deletion. The first is 1, and one that is restored is at most
    /// [`LARGEST`](crate::number::LARGEST).
    pub version: u64,
    /// When it was last returned, if that is tracked.
    pub accessed_at: Option<Timestamp>,
    /// How often it was returned. One that is restored is at most [`LARGEST`](crate::number::LARGEST).
    pub access_count: u64,
}

impl StoredRecord {
    /// Returns `Ok` if a store can count on from the row's version and count. Stores check every row of a restore.
    ///
    /// # Errors
    /// [`crate::Error::Invalid`] if one of them is above [`LARGEST`](crate::number::LARGEST).
    pub fn check_numbers(&self) -> Result<()> {
        number::check("a record's version", self.version)?;
        number::check("a record's count of accesses", self.access_count)
    }
}

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
/// Every write notes itself pending for each enlisted index ([`crate::upkeep::Upkeep`]) in the same step.
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
