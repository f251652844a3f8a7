//! The blackboard: a small keyed board of an owner, usually a team, for what agents share for a while.

use std::time::Duration;

use async_trait::async_trait;

use crate::error::Result;
use crate::scope::Scope;
use crate::store::Store;
use crate::store::text::Term;
use crate::time::Timestamp;
use crate::vector::Similarity;

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
    /// How often it was returned.
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
}

/// An entry found on a board.
#[derive(Clone, Debug, PartialEq)]
pub struct BoardHit {
    /// The entry.
    pub entry: Posted,
    /// How near it is: the cosine, or the share of the query's terms that it holds.
    pub similarity: Similarity,
}

/// The statistics of a board.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BlackboardStats {
    /// Entries that have not expired.
    pub live: u64,
    /// Entries that have expired and are not swept yet.
    pub expired: u64,
    /// The most live entries there may be.
    pub capacity: u64,
    /// Entries returned so far.
    pub accesses: u64,
    /// Entries evicted to make room.
    pub evictions: u64,
    /// Gets that found an entry.
    pub hits: u64,
    /// Gets that found none.
    pub misses: u64,
}

/// Holds a board of entries for each owner, up to a capacity. It evicts expired entries first, then the least recently used.
#[async_trait]
pub trait Blackboard: Store {
    /// Puts an entry in place of the one under its key, and returns the keys evicted to make room. One atomic step.
    ///
    /// # Errors
    /// `Invalid` for a key that is empty or too long, a `ttl` of zero, or a vector without a direction.
    async fn put(&self, scope: &Scope, entry: &BlackboardEntry) -> Result<Vec<String>>;

    /// Returns the entry under `key`, and counts this as a use; none if there is none or it has expired.
    async fn get(&self, scope: &Scope, key: &str) -> Result<Option<Posted>>;

    /// Returns the best `limit` live entries, ties by key, and counts this as their use.
    async fn search(&self, scope: &Scope, query: &BoardQuery, limit: usize) -> Result<Vec<BoardHit>>;

    /// Deletes the entry under `key` and returns whether there was one.
    async fn delete(&self, scope: &Scope, key: &str) -> Result<bool>;

    /// Deletes expired entries of the owner and returns how many.
    async fn sweep(&self, scope: &Scope) -> Result<u64>;

    /// Returns the board's statistics. This counts as no use.
    async fn stats(&self, scope: &Scope) -> Result<BlackboardStats>;
}
