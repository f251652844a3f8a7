//! What makes indexes follow truth: notes of what is still to be indexed, kept by the truth stores themselves.

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

/// The name of an index that follows truth, such as `text/english-1` or `vector/…`: 1 to 255 printable ASCII bytes.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct IndexName(Arc<str>);

impl IndexName {
    /// Returns the index name `name`.
    ///
    /// # Errors
    /// [`Error::Invalid`] if `name` is empty, longer than 255 bytes or not printable ASCII.
    pub fn new(name: &str) -> Result<Self> {
        let is_legal = (1..=255).contains(&name.len()) && name.bytes().all(|byte| byte.is_ascii_graphic());
        if is_legal { Ok(Self(name.into())) } else { Err(Error::invalid("not the name of an index")) }
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

/// Which making of an index it is: random, made with the place that holds the index, and gone with it.
///
/// An index that was lost, emptied or moved is another one, whatever its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Incarnation(pub Uuid);

impl Incarnation {
    /// Returns one that was never drawn before.
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
    /// The incarnation that it had when it was enlisted; none if it could not be asked, or was doubted since.
    pub incarnation: Option<Incarnation>,
    /// Whether everything that was stored before is noted; if not, its backlog still grows.
    pub is_noted: bool,
}

/// What a note is about.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Target {
    /// Messages of a session.
    Messages(SessionId),
    /// A record.
    Record(RecordId),
    /// The whole owner: an erasure that every index has still to carry out.
    Owner,
}

/// Something that an index has not seen yet. One per index, owner and session, one per record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Note {
    /// The owner.
    pub scope: Scope,
    /// What it is about.
    pub target: Target,
    /// The owner's epoch; index entries carry it.
    pub epoch: Epoch,
    /// The first message not indexed; for a record its version.
    pub from: Seq,
    /// The last message not indexed; for a record its version.
    pub upto: Seq,
    /// Rises when something behind `upto` changed, so that a settlement under way does not cover it.
    pub stamp: u64,
    /// How often it was tried in vain.
    pub attempts: u32,
    /// The session or record was deleted: wipe it from the index first, then fill. A session that has no messages since
    /// is noted from 1 up to 0: there is nothing to fill.
    pub gone: bool,
}

/// The longest that a note waits after a failure.
pub const LONGEST_WAIT: Duration = Duration::from_secs(1 << 12);

/// Returns the latest moment at which a note that failed until `now` can be due. One that is due later was put off while
/// the clock was wrong.
pub fn latest_due(now: Timestamp) -> Timestamp {
    now.checked_add(LONGEST_WAIT).unwrap_or(Timestamp(i64::MAX))
}

/// Returns the notes that could be read, for [`Upkeep::pending`]: one that is damaged holds up no other.
///
/// # Errors
/// The first, if there is no note but such that could not be read.
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

/// What became of a note.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// Indexed up to and including this number (for a record: this version).
    Done {
        /// The last number indexed.
        through: Seq,
    },
    /// Failed; to be tried again at `at`.
    Retry {
        /// When: at most [`LONGEST_WAIT`] from now.
        at: Timestamp,
        /// Why, one clause without payload.
        why: String,
    },
    /// Failed for good; it blocks nothing and is tried again when its target changes, or when it is revived.
    Dead {
        /// Why, one clause without payload.
        why: String,
    },
}

/// How far an index is behind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Backlog {
    /// Notes to be done, now or later.
    pub pending: u64,
    /// Notes given up.
    pub dead: u64,
}

/// The part of a truth store that makes indexes follow it: the one trait that crosses owners.
///
/// Only the upkeep task holds it; a scoped handle cannot reach it. Notes hold keys and ids, never text.
#[async_trait]
pub trait Upkeep: Store {
    /// Makes every later write note itself for `index`, and notes up to `limit` items of what is stored already, or a few
    /// more. Returns whether everything is noted; if not, the next call goes on, in any process.
    ///
    /// One call holds up no other for longer than it takes to note so many. An index that is enlisted in this incarnation
    /// and noted is left as it is. In another one, everything is noted anew and the new one is kept; notes that are there
    /// stay, and a settlement under way does not cover them. Without an incarnation, because the index cannot be asked, one
    /// that is enlisted keeps what it has.
    async fn enlist(&self, index: &IndexName, incarnation: Option<Incarnation>, limit: usize) -> Result<bool>;

    /// Forgets in which incarnation `index` was enlisted, so that enlisting it notes everything anew.
    async fn doubt(&self, index: &IndexName) -> Result<()>;

    /// Returns the indexes that follow, in the order of their names.
    async fn indexes(&self) -> Result<Vec<Enlisted>>;

    /// Drops `index` with its notes. Enlisting it again notes everything anew.
    async fn retire(&self, index: &IndexName) -> Result<()>;

    /// Returns up to `limit` notes of `index` that are due at `now`, those due longest first; dead ones never.
    ///
    /// A note is due at once when it is made, revived or changed behind its end; an append alone leaves a retry waiting.
    /// One that waits for a moment after [`latest_due`] is due too, behind the others: the clock was wrong when it failed.
    ///
    /// # Errors
    /// Any, if notes are due and none of them can be read ([`legible`]).
    async fn pending(&self, index: &IndexName, now: Timestamp, limit: usize) -> Result<Vec<Note>>;

    /// Records what became of notes. A settlement covers only what the note covered when it was read:
    /// `Done` leaves what was appended since, and changes nothing if the stamp has risen. A note that is done through its
    /// end is gone, however large its numbers are.
    async fn settle(&self, index: &IndexName, notes: &[(Note, Outcome)]) -> Result<()>;

    /// Makes the notes of `index` that were given up due again, as if they were new, and returns how many there were. A
    /// settlement under way does not cover them.
    async fn revive(&self, index: &IndexName) -> Result<u64>;

    /// Returns how far `index` is behind, for all owners together.
    async fn backlog(&self, index: &IndexName) -> Result<Backlog>;

    /// Returns how far `index` is behind for one owner: what other owners wrote does not count.
    async fn backlog_of(&self, scope: &Scope, index: &IndexName) -> Result<Backlog>;

    /// Deletes up to `limit` records that have expired at `now` and are neither pinned nor on hold, and notes them
    /// gone. Returns how many. Expiry is checked again inside the deleting step.
    ///
    /// Upkeep calls it with every pass: a store also does here, in small steps, what it has to do now and then.
    async fn sweep(&self, now: Timestamp, limit: usize) -> Result<u64>;

    /// Returns up to `limit` owners with data or tombstones after `after`, in the order of their keys.
    async fn owners(&self, after: Option<&Scope>, limit: usize) -> Result<Vec<Scope>>;

    /// Begins the erasure of an owner whose epoch is `seen`: raises the epoch above it, notes [`Target::Owner`] for every
    /// enlisted index in place of the owner's other notes, and returns the new epoch. Durable before it returns; from then
    /// on old handles are `Fenced`, and no call returns what was stored before.
    ///
    /// Where the epoch is above `seen` already, that burial was the one asked for: nothing changes, and the epoch is returned.
    ///
    /// # Errors
    /// `Invalid` if no epoch could follow `seen` ([`Epoch::check`]).
    async fn bury(&self, scope: &Scope, seen: Epoch) -> Result<Epoch>;

    /// Returns the owner's epoch; zero for an unknown one.
    async fn epoch(&self, scope: &Scope) -> Result<Epoch>;
}
