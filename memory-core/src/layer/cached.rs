//! A cache before truth: content that was asked for by id lately, and vectors of queries.
//!
//! Only what truth confirms is served. Every read by id asks truth for the owner's epoch beside the cache, so nothing
//! of an erased owner comes back; and every cached item carries the *stamp* of its owner, a random mark in the cache
//! itself:
//!
//! - A read takes an item only if its stamp is the owner's present one.
//! - What is read from truth is cached with the stamp seen *before* truth was read.
//! - A write marks the owner busy before it commits, and puts a new stamp after: whatever was cached before or
//!   meanwhile is never taken again. While an owner is busy nothing is cached, so a writer that dies in between leaves
//!   an owner without a cache, not a stale one.
//! - A write whose answer did not come may be carried out later. It leaves a mark, for longer than any server takes: as long
//!   as that stands nothing is taken or cached, whoever puts a new stamp.
//!
//! So a put, a forget or an erasure that has returned is seen by every later read, whoever filled the cache and when.
//! Evicted entries and an emptied cache are misses: a missing stamp is replaced by a new one. Where the cache did not take
//! the new stamp after a write, this process takes nothing of that owner until it has put one, however late the cache
//! carries out what it was sent before. Another process that still reaches the cache may see the old content until it
//! has expired there ([`CachePolicy::ttl`], one minute), and so may all if the cache itself falls back to an older copy.
//!
//! What a cache does not answer comes from truth. The receipts name it.

mod doubts;
mod item;
mod notes;
mod query;
mod shelf;
mod stores;

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use crate::cache::Cache;
use crate::chat::ChatStore;
use crate::message::StoredMessage;
use crate::record::{RecordStore, StoredRecord};
use crate::scope::{Epoch, Scope};
use crate::truth::Truth;

use doubts::Doubts;
pub(crate) use notes::noting;
pub(crate) use query::embed;
use shelf::Shelf;
use stores::Cached;

/// Owners that something is remembered of at the most.
const OWNERS: usize = 10_000;

/// What is cached, and for how long.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct CachePolicy {
    /// How long messages and records are kept. Default one minute.
    pub ttl: Duration,
    /// How long vectors of queries are kept. Default one hour.
    pub vectors_ttl: Duration,
    /// The largest item that is kept, in bytes. Default 64 KiB.
    pub largest: usize,
}

impl Default for CachePolicy {
    fn default() -> Self {
        Self { ttl: Duration::from_secs(60), vectors_ttl: Duration::from_secs(3_600), largest: 64 << 10 }
    }
}

impl CachePolicy {
    /// Sets how long messages and records are kept.
    #[must_use]
    pub fn with_ttl(mut self, ttl: Duration) -> Self {
        self.ttl = ttl;
        self
    }

    /// Sets how long vectors of queries are kept.
    #[must_use]
    pub fn with_vectors_ttl(mut self, ttl: Duration) -> Self {
        self.vectors_ttl = ttl;
        self
    }
}

/// A cache as a layer: puts itself before truth stores, and keeps vectors of queries.
#[derive(Debug)]
pub struct CacheLayer {
    cache: Arc<dyn Cache>,
    policy: CachePolicy,
    /// The epochs that truth told last: a guess, checked against truth whenever it matters.
    epochs: Mutex<HashMap<Scope, Epoch>>,
    /// The owners of whom the cache may hold what a write could not take back.
    doubts: Mutex<Doubts>,
}

impl CacheLayer {
    /// Returns the layer over `cache`.
    pub fn new(cache: Arc<dyn Cache>, policy: CachePolicy) -> Arc<Self> {
        Arc::new(Self { cache, policy, epochs: Mutex::default(), doubts: Mutex::default() })
    }

    /// Puts the cache before a conversation store.
    pub fn chat(self: &Arc<Self>, truth: Truth<dyn ChatStore>) -> Truth<dyn ChatStore> {
        let shelf = Shelf::<StoredMessage>::new(Arc::clone(self), Arc::clone(truth.upkeep()));
        truth.layered(|inner| Arc::new(Cached::new(inner, shelf)))
    }

    /// Puts the cache before a record store.
    pub fn records(self: &Arc<Self>, truth: Truth<dyn RecordStore>) -> Truth<dyn RecordStore> {
        let shelf = Shelf::<StoredRecord>::new(Arc::clone(self), Arc::clone(truth.upkeep()));
        truth.layered(|inner| Arc::new(Cached::new(inner, shelf)))
    }

    pub(crate) fn cache(&self) -> &Arc<dyn Cache> {
        &self.cache
    }

    fn guess(&self, scope: &Scope) -> Epoch {
        self.epochs.lock().unwrap_or_else(PoisonError::into_inner).get(scope).copied().unwrap_or_default()
    }

    fn learn(&self, scope: &Scope, epoch: Epoch) {
        let mut epochs = self.epochs.lock().unwrap_or_else(PoisonError::into_inner);
        if epoch == Epoch::default() {
            epochs.remove(scope);
            return;
        }
        if epochs.len() >= OWNERS && !epochs.contains_key(scope) {
            epochs.clear();
        }
        epochs.insert(scope.clone(), epoch);
    }

    fn doubts(&self) -> MutexGuard<'_, Doubts> {
        self.doubts.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
