//! Records: the pieces of long-term memory.

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

/// A piece of long-term memory, such as a fact or a preference: its text, and its tellings, which say who told it and when.
///
/// Readers and filters see the fold of the tellings, such as [`Record::trust`] and [`Record::metadata`]. Stores hold the bytes
/// of [`Record::encode`] and never look inside; filters see [`crate::Fields::of_record`].
#[derive(Clone, Debug, PartialEq)]
pub struct Record {
    /// The caller's id, unique within the owner.
    pub id: RecordId,
    /// `fact`, `preference`, `context` or any other word; unknown kinds are kept.
    pub kind: String,
    /// The text.
    pub text: String,
    /// The agent that it belongs to, 1 to 255 bytes; none if there is only one agent.
    pub agent: Option<String>,
    /// The oldest telling that is left.
    pub first: Telling,
    /// The later tellings, in their order.
    pub again: Vec<Telling>,
    /// Whether it is on hold. It is hidden when it expires, like any record, but not deleted before the hold is lifted.
    pub hold: bool,
    /// The record that superseded it, and when.
    pub superseded: Option<Superseded>,
    /// Whether it is being forgotten, so that nothing can be derived from it. Ends when it is told again.
    pub doomed: bool,
}

/// How a record was superseded.
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

    /// Returns the canonical bytes, which stores hold.
    pub fn encode(&self) -> Vec<u8> {
        codec::encode(self)
    }

    /// Returns the number of bytes of [`Record::encode`], without making them.
    pub fn encoded_len(&self) -> usize {
        codec::encoded_len(self)
    }

    /// Decodes canonical bytes. Errors name `backend`.
    ///
    /// # Errors
    /// [`crate::Error::Corrupt`] for bytes that are not a record, [`crate::Error::Unsupported`] for a newer version.
    pub fn decode(backend: &'static str, bytes: &[u8]) -> Result<Self> {
        codec::decode(backend, bytes)
    }

    /// Returns the digest of the content, which tells a repeated write from a conflicting one.
    pub fn digest(&self) -> Digest {
        Digest::of(&[&self.encode()])
    }
}

/// A record as a store holds it, with its access statistics. These change neither its version nor any index.
#[derive(Clone, Debug, PartialEq)]
pub struct StoredRecord {
    /// The record.
    pub record: Arc<Record>,
    /// Starts at 1 and rises by one with each change, even across a deletion. A restored one is at most
    /// [`LARGEST`](crate::number::LARGEST).
    pub version: u64,
    /// When it was last returned, if that is tracked.
    pub accessed_at: Option<Timestamp>,
    /// How often it was returned. A restored count is at most [`LARGEST`](crate::number::LARGEST).
    pub access_count: u64,
}

impl StoredRecord {
    /// Returns `Ok` if a store can continue the row's version and count. Stores check every row of a restore.
    ///
    /// # Errors
    /// [`crate::Error::Invalid`] if one of them is above [`LARGEST`](crate::number::LARGEST).
    pub fn check_numbers(&self) -> Result<()> {
        number::check("a record's version", self.version)?;
        number::check("a record's count of accesses", self.access_count)
    }
}
