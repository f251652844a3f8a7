//! Long-term memory: records, and the store that holds them.

use std::sync::Arc;

use async_trait::async_trait;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::codec;
use crate::error::Result;
use crate::filter::Filter;
use crate::id::{Digest, ItemId, RecordId, SessionId};
use crate::message::Trust;
use crate::number;
use crate::scope::{Epoch, Scope};
use crate::store::Store;
use crate::time::Timestamp;

/// A fact, preference, context or other piece of long-term memory.
///
/// Stores keep [`Record::encode`] and never look inside; filters see [`crate::Fields::of_record`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Record {
    /// The caller's id, unique within the owner.
    pub id: RecordId,
    /// `fact`, `preference`, `context` or any other word; unknown kinds are kept.
    pub kind: String,
    /// The words.
    pub text: String,
    /// Tags, which filters see.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tags: Vec<String>,
    /// The session it comes from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<SessionId>,
    /// What the caller says of its importance, 0 to 1; none is read as 0.5.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub importance: Option<f32>,
    /// How far it may be believed.
    pub trust: Trust,
    /// Who or what wrote it, in the caller's words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub origin: Option<String>,
    /// What it was derived from; it falls with any of them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sources: Vec<ItemId>,
    /// Never expires and is never evicted.
    #[serde(default, skip_serializing_if = "is_false")]
    pub pinned: bool,
    /// Is hidden when it expires, as any record, but not deleted before the hold is lifted.
    #[serde(default, skip_serializing_if = "is_false")]
    pub hold: bool,
    /// When it was made.
    pub created_at: Timestamp,
    /// From this moment on it is never returned.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires_at: Option<Timestamp>,
    /// The first moment at which what it says is true.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub valid_from: Option<Timestamp>,
    /// The first moment at which it is true no longer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub valid_to: Option<Timestamp>,
    /// The record that took its place, and when.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub superseded: Option<Superseded>,
    /// The caller's own values, which filters see.
    #[serde(default, skip_serializing_if = "Map::is_empty", serialize_with = "codec::sorted_map")]
    pub metadata: Map<String, Value>,
    /// The agent that it belongs to, 1 to 255 bytes; none where there is only one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    /// The run of an agent in which it was told, 1 to 255 bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run: Option<String>,
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
    /// Returns a record of `kind` with a fresh id, the trust of a user, and nothing else set.
    pub fn new(kind: impl Into<String>, text: impl Into<String>, created_at: Timestamp) -> Self {
        Self {
            id: RecordId::fresh(),
            kind: kind.into(),
            text: text.into(),
            tags: Vec::new(),
            session: None,
            importance: None,
            trust: Trust::User,
            origin: None,
            sources: Vec::new(),
            pinned: false,
            hold: false,
            created_at,
            expires_at: None,
            valid_from: None,
            valid_to: None,
            superseded: None,
            metadata: Map::new(),
            agent: None,
            run: None,
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
    /// The owner's epoch when the caller's handle was opened; another one is `Fenced`. `None` checks nothing.
    pub epoch: Option<Epoch>,
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
    /// A put whose record is stored already with equal content succeeds and changes nothing, whatever it expects.
    /// A record put again after its deletion gets a version above all it ever had.
    ///
    /// # Errors
    /// `Conflict` if an expected version is not the stored one; `IdConflict` if a record expected to be absent is
    /// there with other content; `Fenced` if the owner's epoch is another one.
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

    /// Deletes these records for good, notes them gone for every index, and returns how many there were.
    ///
    /// An empty list deletes nothing.
    async fn delete(&self, scope: &Scope, ids: &[RecordId]) -> Result<u64>;

    /// Stores all rows, or none, as they are, with versions and access statistics (export, moves), and notes them pending.
    ///
    /// A row whose version is not above the stored one is skipped if its content is equal.
    ///
    /// # Errors
    /// `Conflict` if the stored version is the same or newer and the content is other; a deletion counts as other content.
    /// `Invalid` if a version or count is larger than [`StoredRecord::check_numbers`] lets be.
    async fn restore(&self, scope: &Scope, rows: &[StoredRecord]) -> Result<()>;
}
