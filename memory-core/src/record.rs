//! Long-term memory: records, and the store that holds them.

mod body;
mod fold;
mod telling;
#[cfg(test)]
mod tests;

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::codec;
use crate::error::Result;
use crate::id::{Digest, RecordId};
use crate::message::Trust;
use crate::number;
use crate::time::Timestamp;

pub use telling::Telling;

/// A fact, preference, context or other piece of long-term memory: the words, who told them, and when.
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
