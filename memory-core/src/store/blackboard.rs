//! The blackboard: a small keyed board of an owner, usually a team, for what agents share for a while.

mod sought;

use std::time::Duration;

use async_trait::async_trait;

use crate::error::Result;
use crate::scope::{Epoch, Scope};
use crate::store::Store;
use crate::store::text::Term;
use crate::time::Timestamp;
use crate::vector::Similarity;

pub use sought::{Sought, direction_of};

/// An entry to be put on a board.
#[derive(Clone, Debug, PartialEq)]
pub struct BlackboardEntry {
    /// The key, 1 to 255 bytes.
    pub key: String,
    /// The value.
    pub value: String,
    /// The value's terms, for search by words.
    pub terms: Vec<Term>,
    /// The value's vector, for search by meaning.
    pub vector: Option<Vec<f32>>,
    /// Its time to live; with `None` it lives until it is evicted.
    pub ttl: Option<Duration>,
}

impl BlackboardEntry {
    /// Returns an entry that is found only by its key, and does not expire.
    pub fn new(key: impl Into<String>, value: impl Into<String>) -> Self {
        Self { key: key.into(), value: value.into(), terms: Vec::new(), vector: None, ttl: None }
    }

    /// Sets its time to live.
    #[must_use]
    pub fn with_ttl(mut self, ttl: Duration) -> Self {
        self.ttl = Some(ttl);
        self
    }
}

/// An entry on a board.
#[derive(Clone, Debug, PartialEq)]
pub struct Posted {
    /// The key.
    pub key: String,
    /// The value.
    pub value: String,
    /// When it was put.
    pub at: Timestamp,
    /// When it expires.
    pub expires_at: Option<Timestamp>,
    /// How often it was returned since it was put.
    pub access_count: u64,
    /// When it was last returned.
    pub last_accessed: Option<Timestamp>,
}

/// What to search a board for.
#[derive(Clone, Debug)]
pub enum BoardQuery {
    /// Entries that share words, the most words first.
    Terms(Vec<Term>),
    /// Entries whose vectors are near, the nearest first. Entries of another dimension are skipped.
    Vector(Vec<f32>),
    /// Entries that share words, or whose vectors are nearer than a right angle. The better of the two counts.
    Either(Vec<Term>, Vec<f32>),
}

/// What refreshes an entry. A full board evicts the entry that was refreshed longest ago.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Keep {
    /// Each use: a put, a get that finds the entry, and a search that returns it.
    #[default]
    Used,
    /// Only a put. Gets and searches are counted, but refresh nothing.
    Put,
}

/// An entry found on a board.
#[derive(Clone, Debug, PartialEq)]
pub struct BoardHit {
    /// The entry.
    pub entry: Posted,
    /// How near it is: the cosine, or the share of the query's terms that it holds.
    pub similarity: Similarity,
}

/// The statistics of a board. Counts begin with the board, and again when its owner is erased.
///
/// ```
/// use memory_core::store::blackboard::BlackboardStats;
///
/// let stats = BlackboardStats { live: 7, expired: 2, ..BlackboardStats::default() };
/// assert_eq!(stats.physical(), 9);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BlackboardStats {
    /// Entries that have not expired.
    pub live: u64,
    /// Entries that have expired and are not swept yet.
    #[doc(alias = "expired_entries")]
    pub expired: u64,
    /// The most live entries there may be.
    pub capacity: u64,
    /// Entries returned so far, by gets and searches.
    #[doc(alias = "total_accesses")]
    pub accesses: u64,
    /// Live entries evicted to make room.
    #[doc(alias = "eviction_count")]
    pub evictions: u64,
    /// Gets that found an entry.
    #[doc(alias = "hit_count")]
    pub hits: u64,
    /// Gets that found none.
    #[doc(alias = "miss_count")]
    pub misses: u64,
}

impl BlackboardStats {
    /// Returns how many entries take room: the live ones, and those that have expired and are not swept yet.
    #[doc(alias = "total_entries")]
    pub fn physical(&self) -> u64 {
        self.live.saturating_add(self.expired)
    }
}

/// Holds a board of entries for each owner, up to a capacity. It evicts expired entries first, then the one refreshed
/// longest ago ([`Keep`]).
///
/// Every call names the owner's epoch. The first call of a later epoch empties the board and its statistics, as
/// [`Store::erase`] does, so nothing of an earlier epoch is ever returned, also if the erasure itself never reached the board.
/// A call of an earlier epoch is `Fenced`, so a late put changes nothing.
#[async_trait]
pub trait Blackboard: Store {
    /// Puts an entry in place of the one under its key, and returns the keys evicted to make room. One atomic step.
    ///
    /// # Errors
    /// `Invalid` for a key that is empty or too long, a `ttl` of zero, or a vector without a direction.
    async fn put(&self, scope: &Scope, epoch: Epoch, entry: &BlackboardEntry) -> Result<Vec<String>>;

    /// Returns the entry under `key`, and counts this as a use; none if there is none or it has expired.
    async fn get(&self, scope: &Scope, epoch: Epoch, key: &str) -> Result<Option<Posted>>;

    /// Returns the best `limit` live entries, ties by key, and counts this as their use.
    async fn search(&self, scope: &Scope, epoch: Epoch, query: &BoardQuery, limit: usize) -> Result<Vec<BoardHit>>;

    /// Deletes the entry under `key` and returns whether there was one.
    async fn delete(&self, scope: &Scope, epoch: Epoch, key: &str) -> Result<bool>;

    /// Deletes expired entries of the owner and returns how many.
    async fn sweep(&self, scope: &Scope, epoch: Epoch) -> Result<u64>;

    /// Returns the board's statistics. This counts as no use.
    async fn stats(&self, scope: &Scope, epoch: Epoch) -> Result<BlackboardStats>;
}
