//! What is put on a board, and what a board answers.

use std::time::Duration;

use crate::engine::receipt::Degraded;
use crate::store::blackboard::{BlackboardStats, BoardHit};

/// An entry to be put on a board.
///
/// ```
/// use std::time::Duration;
///
/// use memory_core::engine::BoardEntry;
///
/// let plan = BoardEntry::new("plan", "Ada writes, Bob reviews").with_ttl(Duration::from_secs(3_600)).embedded();
/// ```
#[doc(alias = "BlackboardEntry")]
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BoardEntry {
    pub(super) key: String,
    pub(super) value: String,
    pub(super) ttl: Option<Duration>,
    pub(super) is_embedded: bool,
}

impl BoardEntry {
    /// Returns an entry that is found by its key and by its words, and stays until it is evicted.
    pub fn new(key: impl Into<String>, value: impl Into<String>) -> Self {
        Self { key: key.into(), value: value.into(), ttl: None, is_embedded: false }
    }

    /// Sets how long it lives, from the put on.
    #[must_use]
    pub fn with_ttl(mut self, ttl: Duration) -> Self {
        self.ttl = Some(ttl);
        self
    }

    /// Has its value embedded by the memory's embedder, so that it is also found by its meaning.
    #[doc(alias = "with_embeddings")]
    #[must_use]
    pub fn embedded(mut self) -> Self {
        self.is_embedded = true;
        self
    }
}

/// The result of a put on a board.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BoardReceipt {
    /// The keys of the live entries that were evicted to make room.
    pub evicted: Vec<String>,
    /// Whether the entry is found by its meaning. A value without words is not, nor one that the model knows nothing of.
    pub is_embedded: bool,
    /// Why the entry has no vector although it was asked for. It is on the board all the same.
    pub degraded: Vec<Degraded>,
}

/// The entries that a search of a board found.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct BoardResults {
    /// The entries, best first.
    pub hits: Vec<BoardHit>,
    /// What failed while the rest still answered: without the embedder, only words find.
    pub degraded: Vec<Degraded>,
}

/// The figures of a board.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BoardStats {
    /// What the store counts, for all processes that share the board.
    pub board: BlackboardStats,
    /// The owner's searches of the board through this memory since it was built. Counted for at most ten thousand owners.
    pub searches: u64,
    /// How long such a search took on average, the embedding of its words included; none if there was none.
    #[doc(alias = "avg_recall_latency")]
    pub mean_latency: Option<Duration>,
}
