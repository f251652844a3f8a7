//! How indexes follow truth: the truth stores keep notes of what each index still has to take in.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use uuid::Uuid;

use crate::error::{Error, Result};
use crate::id::{RecordId, Seq, SessionId};
use crate::scope::{Epoch, Scope};
use crate::store::Store;
use crate::time::Timestamp;
use crate::vector::EmbeddingSpace;

/// The name of an index that follows truth, such as `text/english-1` or `vector/…`: 1 to 255 printable ASCII bytes.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct IndexName(Arc<str>);

impl IndexName {
    /// What the names of those begin with who find facts in what is said. They hold no copy of what they read ([`Upkeep::enlist`]).
    pub const FACTS: &'static str = "facts/";

    /// Returns the index name `name`.
    ///
    /// # Errors
    /// [`Error::Invalid`] if `name` is empty, longer than 255 bytes or not printable ASCII.
    pub fn new(name: &str) -> Result<Self> {
        let is_legal = (1..=255).contains(&name.len()) && name.bytes().all(|byte| byte.is_ascii_graphic());
        if is_legal { Ok(Self(name.into())) } else { Err(Error::invalid("not the name of an index")) }
    }

    /// Returns the name of the index of meaning in a space.
    pub fn of_space(space: &EmbeddingSpace) -> Self {
        Self(format!("vector/{}", space.fingerprint()).into())
    }

    /// Returns whether it is the index of a space.
    pub fn is_of_meaning(&self) -> bool {
        self.0.starts_with("vector/")
    }

    /// Returns whether it is of somebody who finds facts, and of no index.
    pub fn finds_facts(&self) -> bool {
        self.0.starts_with(Self::FACTS)
    }

    /// Returns the name.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for IndexName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "IndexName({})", self.0)
    }
}

/// The identity of an index's data: a random id that is made with the data, and lost with it.
///
/// An index that was lost, emptied or moved has another incarnation under the same name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Incarnation(pub Uuid);

impl Incarnation {
    /// Returns a new random incarnation.
    #[must_use]
    pub fn draw() -> Self {
        Self(Uuid::now_v7())
    }
}

/// An index that follows truth.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Enlisted {
    /// The index.
    pub name: IndexName,
    /// Its incarnation when it was enlisted; none if it could not be asked, or was doubted since.
    pub incarnation: Option<Incarnation>,
    /// Whether everything that was stored before is noted. If not, its backlog still grows.
    pub is_noted: bool,
}

/// What a note is about.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Target {
    /// Messages of a session.
    Messages(SessionId),
    /// A record.
    Record(RecordId),
    /// The whole owner: an erasure that the index still has to carry out.
    Owner,
}

/// A note of something that an index has not taken in yet. There is one for each session of an owner, and one for each record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Note {
    /// The owner.
    pub scope: Scope,
    /// What it is about.
    pub target: Target,
    /// The owner's epoch, which index entries carry.
    pub epoch: Epoch,
    /// The first message not indexed; for a record its version.
    pub from: Seq,
    /// The last message not indexed; for a record its version.
    pub upto: Seq,
    /// Rises when the target changes, except by an append, so that a settlement under way does not cover the change.
    pub stamp: u64,
    /// How often it has failed.
    pub attempts: u32,
    /// Whether the session or record was deleted. Then it is deleted from the index before anything is put. The note of a session
    /// without new messages goes from 1 to 0: there is nothing to put.
    pub gone: bool,
}

impl Note {
    /// Returns the last message of the note's first `most`, or of all if it has fewer.
    pub(crate) fn end_of_slice(&self, most: u64) -> Seq {
        Seq(self.upto.0.min(self.from.0.saturating_add(most - 1)))
    }
}

/// The longest time that a note waits after a failure.
pub const LONGEST_WAIT: Duration = Duration::from_secs(1 << 12);

/// Returns the latest time at which a note that failed by `now` can be due. If a note is due later, the clock was wrong when
/// it failed.
pub fn latest_due(now: Timestamp) -> Timestamp {
    now.checked_add(LONGEST_WAIT).unwrap_or(Timestamp(i64::MAX))
}

/// Returns the notes that could be read, for [`Upkeep::pending`]. A damaged note holds up no other.
///
/// # Errors
/// The first error, if there are notes and none could be read.
pub fn legible(read: impl IntoIterator<Item = Result<Note>>) -> Result<Vec<Note>> {
    let (mut notes, mut first) = (Vec::new(), None);
    for note in read {
        match note {
            Ok(note) => notes.push(note),
            Err(error) => first = first.or(Some(error)),
        }
    }
    match first {
        Some(error) if notes.is_empty() => Err(error),
        _ => Ok(notes),
    }
}

/// How many rows a page has at least that is read because notes before it cannot be read.
const STEP: usize = 64;

/// Reads notes page by page, for [`Upkeep::pending`]. Where notes cannot be read, the ones behind them take their places.
#[derive(Debug)]
pub struct NotePages {
    most: usize,
    /// How many rows of the present order were read.
    offset: usize,
    /// How many rows the last page could have had.
    limit: usize,
    is_end: bool,
    notes: Vec<Note>,
    illegible: Option<Error>,
}

impl NotePages {
    /// Reads at most `most` notes.
    pub fn new(most: usize) -> Self {
        Self { most, offset: 0, limit: 0, is_end: false, notes: Vec::new(), illegible: None }
    }

    /// Returns the limit and the offset of the next page; none if there are enough notes, or the last page was not full. The offset
    /// holds within one snapshot; whoever has none begins behind the last row that was read.
    pub fn next_page(&mut self) -> Option<(usize, usize)> {
        let left = self.most.saturating_sub(self.notes.len());
        if left == 0 || self.is_end {
            return None;
        }
        self.limit = if self.offset == 0 { left } else { left.max(STEP) };
        Some((self.limit, self.offset))
    }

    /// Takes the rows of that page.
    pub fn take(&mut self, rows: impl IntoIterator<Item = Result<Note>>) {
        let mut count = 0;
        for note in rows {
            count += 1;
            match note {
                Ok(note) => self.notes.push(note),
                Err(error) => self.illegible = self.illegible.take().or(Some(error)),
            }
        }
        self.offset += count;
        self.is_end = count < self.limit;
    }

    /// Goes on at the beginning of other rows.
    pub fn restart(&mut self) {
        (self.offset, self.is_end) = (0, false);
    }

    /// Returns the notes.
    ///
    /// # Errors
    /// As [`legible`].
    pub fn finish(mut self) -> Result<Vec<Note>> {
        self.notes.truncate(self.most);
        legible(self.notes.into_iter().map(Ok).chain(self.illegible.map(Err)))
    }
}

/// The outcome of a note.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// Indexed up to and including this number (for a record: this version).
    Done {
        /// The last number indexed.
        through: Seq,
    },
    /// Failed; to be retried at `at`.
    Retry {
        /// When to retry: at most [`LONGEST_WAIT`] from now.
        at: Timestamp,
        /// Why, one clause without payload.
        why: String,
    },
    /// Given up. It blocks nothing, and is tried again when its target changes or it is revived.
    Dead {
        /// Why, one clause without payload.
        why: String,
    },
}

/// How far an index is behind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Backlog {
    /// Notes to be carried out, now or later.
    pub pending: u64,
    /// Notes given up.
    pub dead: u64,
}

/// The part of a truth store that makes indexes follow it. The only trait that crosses owners.
///
/// Only upkeep holds it; a scoped handle cannot reach it. Notes hold keys and ids, never text.
#[async_trait]
pub trait Upkeep: Store {
    /// Makes every later write note itself for `index`, and notes up to `limit` stored items, or a few more. Returns whether
    /// everything is noted. If not, the next call continues, in any process.
    ///
    /// A call holds up others for no longer than it takes to note so many items. If the index is enlisted in this incarnation and
    /// everything is noted, nothing changes. If it is enlisted in another one, the new incarnation is stored and everything is
    /// noted anew; existing notes stay, and a settlement under way does not cover them. Without an incarnation, because the
    /// index cannot be asked, an enlisted index keeps the one it has.
    ///
    /// Who finds facts ([`IndexName::finds_facts`]) is enlisted like an index, but has no entries that could hold forgotten words, and
    /// may be paid for each reading. So a redaction makes no note for such a name, and leaves those that it has as they are.
    async fn enlist(&self, index: &IndexName, incarnation: Option<Incarnation>, limit: usize) -> Result<bool>;

    /// Forgets the incarnation of `index`, so that the next enlisting notes everything anew.
    async fn doubt(&self, index: &IndexName) -> Result<()>;

    /// Returns the enlisted indexes, in the order of their names.
    async fn indexes(&self) -> Result<Vec<Enlisted>>;

    /// Drops `index` with its notes. Enlisting it again notes everything anew.
    async fn retire(&self, index: &IndexName) -> Result<()>;

    /// Returns up to `limit` notes of `index` that are due at `now`, the longest due first. Dead notes are never due.
    ///
    /// A note is due at once when it is made or revived, or when its target changes; but an append leaves a retry waiting. A note
    /// that waits for a time after [`latest_due`] is due too, behind the others: the clock was wrong when it failed.
    ///
    /// # Errors
    /// Any, if notes are due and none of them can be read ([`legible`]).
    async fn pending(&self, index: &IndexName, now: Timestamp, limit: usize) -> Result<Vec<Note>>;

    /// Stores the outcomes of notes. A settlement covers only what the note covered when it was read: `Done` leaves what was
    /// appended since, and changes nothing if the stamp has risen. A note that is done to its end is removed, however large its
    /// numbers are.
    async fn settle(&self, index: &IndexName, notes: &[(Note, Outcome)]) -> Result<()>;

    /// Makes the dead notes of `index` due again, like new ones, and returns how many there were. A settlement under way does
    /// not cover them.
    async fn revive(&self, index: &IndexName) -> Result<u64>;

    /// Returns how far `index` is behind, for all owners together.
    async fn backlog(&self, index: &IndexName) -> Result<Backlog>;

    /// Returns how far `index` is behind for one owner. What other owners wrote does not count.
    async fn backlog_of(&self, scope: &Scope, index: &IndexName) -> Result<Backlog>;

    /// Deletes up to `limit` records that have expired at `now` and are neither pinned nor on hold, and notes them gone. Returns
    /// how many. Expiry is checked inside the deleting transaction.
    ///
    /// Every upkeep pass calls it, so a store also does its own occasional work here, in small steps.
    async fn sweep(&self, now: Timestamp, limit: usize) -> Result<u64>;

    /// Returns up to `limit` owners with data or tombstones after `after`, in the order of their keys.
    async fn owners(&self, after: Option<&Scope>, limit: usize) -> Result<Vec<Scope>>;

    /// Begins the erasure of an owner whose epoch is `seen`: raises the epoch above it, replaces the owner's notes by
    /// [`Target::Owner`] for every enlisted index, and returns the new epoch. It is durable when it returns. From then on old
    /// handles are `Fenced`, and no call returns what was stored before.
    ///
    /// Idempotent: if the epoch is above `seen` already, nothing changes, and the epoch is returned.
    ///
    /// # Errors
    /// `Invalid` if no epoch could follow `seen` ([`Epoch::check`]).
    async fn bury(&self, scope: &Scope, seen: Epoch) -> Result<Epoch>;

    /// Returns the owner's epoch; zero for an unknown owner.
    async fn epoch(&self, scope: &Scope) -> Result<Epoch>;
}
