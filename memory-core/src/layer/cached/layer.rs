//! The cache layer: its cache, its policy, and what it has learned of owners.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use crate::scope::{Epoch, Scope};
use crate::store::cache::Cache;

use super::doubts::{Doubts, OWNERS};

/// What is cached, and for how long.
///
/// ```
/// use std::time::Duration;
///
/// use memory_core::layer::CachePolicy;
///
/// let policy = CachePolicy::default().with_ttl(Duration::from_secs(10)).with_vectors_ttl(Duration::from_secs(600));
/// assert_eq!(policy.largest, 64 << 10);
/// ```
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
    pub(super) cache: Arc<dyn Cache>,
    pub(super) policy: CachePolicy,
    /// The epochs that truth told last: a guess, checked against truth whenever it matters.
    pub(super) epochs: Mutex<HashMap<Scope, Epoch>>,
    /// Owners with stale entries in the cache: a write could not remove them.
    pub(super) doubts: Mutex<Doubts>,
}

impl CacheLayer {
    /// Returns the layer over `cache`.
    pub fn new(cache: Arc<dyn Cache>, policy: CachePolicy) -> Arc<Self> {
        Arc::new(Self { cache, policy, epochs: Mutex::default(), doubts: Mutex::default() })
    }

    pub(crate) fn cache(&self) -> &Arc<dyn Cache> {
        &self.cache
    }

    pub(super) fn guess(&self, scope: &Scope) -> Epoch {
        self.epochs.lock().unwrap_or_else(PoisonError::into_inner).get(scope).copied().unwrap_or_default()
    }

    pub(super) fn learn(&self, scope: &Scope, epoch: Epoch) {
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

    pub(super) fn doubts(&self) -> MutexGuard<'_, Doubts> {
        self.doubts.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
