//! Caches that are whole but for what a [`Break`] changes.

use std::sync::Arc;

use memory_core::Clock;
use memory_core::methods::*;
use memory_core::reference::MemCache;
use memory_testkit::{Caches, broken_store, cache};

use crate::frame;

memory_core::store_methods!(Store, Cache => broken_store {
    #[expect(clippy::too_many_arguments, reason = "a push has six, and the whole store stands before them")]
    MemCache {
        /// Returns the epoch that a call is taken for.
        fn epoch(&self, epoch: Epoch) -> Epoch {
            epoch
        }

        /// Returns the life that a value is given.
        fn life(&self, ttl: Duration) -> Duration {
            ttl
        }

        /// Returns the length that a list may have.
        fn cap(&self, cap: usize) -> usize {
            cap
        }
    }
});

/// Returns a cache with the break.
pub(crate) fn store<B: Break>(clock: Arc<dyn Clock>, broken: B) -> Caches {
    Arc::new(Mutant { inner: MemCache::new(clock), broken })
}

/// Checks that each of the scenarios `by` catches the break.
pub(crate) async fn caught<B: Break + Clone>(broken: B, by: &[&str]) {
    frame::caught(&cache::table(), by, move |setting| store(setting.clock, broken.clone())).await;
}
