//! The cache layer: its cache, its policy, and the epochs, doubts and late writes of owners.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use crate::scope::{Epoch, Scope};
use crate::store::cache::Cache;
use crate::sync::Lock;

use super::doubts::{Doubts, OWNERS};

/// The policy of a cache: what is cached, and for how long.
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
    /// How long messages and records are cached. Default one minute.
    pub ttl: Duration,
    /// How long vectors of queries are cached. Default one hour.
    pub vectors_ttl: Duration,
    /// The largest item that is cached, in bytes. Default 64 KiB.
    pub largest: usize,
}

impl Default for CachePolicy {
    fn default() -> Self {
        Self { ttl: Duration::from_secs(60), vectors_ttl: Duration::from_secs(3_600), largest: 64 << 10 }
    }
}

impl CachePolicy {
    /// Sets how long messages and records are cached.
    #[must_use]
    pub fn with_ttl(mut self, ttl: Duration) -> Self {
        self.ttl = ttl;
        self
    }

    /// Sets how long vectors of queries are cached.
    #[must_use]
    pub fn with_vectors_ttl(mut self, ttl: Duration) -> Self {
        self.vectors_ttl = ttl;
        self
    }
}

/// A cache as a layer before truth stores. It also caches the vectors of queries.
#[derive(Debug)]
pub struct CacheLayer {
    pub(super) cache: Arc<dyn Cache>,
    pub(super) policy: CachePolicy,
    /// The owners' epochs as truth last told them. A guess, checked against truth whenever it matters.
    pub(super) epochs: Lock<HashMap<Scope, Epoch>>,
    /// The owners of whom the cache may hold stale items, because a write could not replace their stamp.
    pub(super) doubts: Lock<Doubts>,
    /// The owners with a write that nobody waits for any more, or whose answer was lost, and of which the cache has no mark yet.
    pub(super) late: Lock<Doubts>,
}

impl CacheLayer {
    /// Returns the layer over `cache`.
    pub fn new(cache: Arc<dyn Cache>, policy: CachePolicy) -> Arc<Self> {
        let (epochs, doubts, late) = (Lock::default(), Lock::default(), Lock::default());
        Arc::new(Self { cache, policy, epochs, doubts, late })
    }

    pub(crate) fn cache(&self) -> &Arc<dyn Cache> {
        &self.cache
    }

    pub(super) fn guess(&self, scope: &Scope) -> Epoch {
        self.epochs.lock().get(scope).copied().unwrap_or_default()
    }

    pub(super) fn learn(&self, scope: &Scope, epoch: Epoch) {
        let mut epochs = self.epochs.lock();
        if epoch == Epoch::default() {
            epochs.remove(scope);
            return;
        }
        if epochs.len() >= OWNERS && !epochs.contains_key(scope) {
            epochs.clear();
        }
        epochs.insert(scope.clone(), epoch);
    }
}
