//! Caches that are whole but for what a [`Break`] changes.

use std::fmt::Debug;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use memory_core::cache::Cache;
use memory_core::reference::MemCache;
use memory_core::store::{Erased, Health, Store};
use memory_core::{Clock, Epoch, Result, Scope};
use memory_testkit::{Caches, cache};

use crate::frame;

/// What is broken: each call is changed before the whole store sees it, and each list before the caller does.
#[async_trait]
pub(crate) trait Break: Debug + Send + Sync + 'static {
    /// Returns the owner and the key that a call is taken for.
    fn key(&self, scope: &Scope, key: &str) -> (Scope, String) {
        (scope.clone(), key.to_owned())
    }

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

    /// Returns the list that a caller is given.
    fn tail(&self, values: Vec<Vec<u8>>) -> Vec<Vec<u8>> {
        values
    }

    async fn get(&self, inner: &MemCache, scope: &Scope, epoch: Epoch, key: &str) -> Result<Option<Vec<u8>>> {
        inner.get(scope, epoch, key).await
    }

    async fn delete(&self, inner: &MemCache, scope: &Scope, epoch: Epoch, keys: &[&str]) -> Result<()> {
        inner.delete(scope, epoch, keys).await
    }

    async fn erase(&self, inner: &MemCache, scope: &Scope, below: Epoch) -> Result<Erased> {
        inner.erase(scope, below).await
    }
}

/// A cache with a break.
#[derive(Debug)]
struct Mutant<B> {
    inner: MemCache,
    broken: B,
}

/// Returns a cache with the break.
pub(crate) fn store<B: Break>(clock: Arc<dyn Clock>, broken: B) -> Caches {
    Arc::new(Mutant { inner: MemCache::new(clock), broken })
}

/// Checks that each of the scenarios `by` catches the break.
pub(crate) async fn caught<B: Break + Clone>(broken: B, by: &[&str]) {
    frame::caught(&cache::table(), by, move |setting| store(setting.clock, broken.clone())).await;
}

#[async_trait]
impl<B: Break> Store for Mutant<B> {
    fn backend(&self) -> &'static str {
        "mutant"
    }

    async fn ping(&self) -> Result<Health> {
        self.inner.ping().await
    }

    async fn close(&self) -> Result<()> {
        self.inner.close().await
    }

    async fn erase(&self, scope: &Scope, below: Epoch) -> Result<Erased> {
        self.broken.erase(&self.inner, scope, below).await
    }
}

#[async_trait]
impl<B: Break> Cache for Mutant<B> {
    async fn get(&self, scope: &Scope, epoch: Epoch, key: &str) -> Result<Option<Vec<u8>>> {
        let (scope, key) = self.broken.key(scope, key);
        self.broken.get(&self.inner, &scope, self.broken.epoch(epoch), &key).await
    }

    async fn put(&self, scope: &Scope, epoch: Epoch, key: &str, value: &[u8], ttl: Duration) -> Result<()> {
        let (scope, key) = self.broken.key(scope, key);
        self.inner.put(&scope, self.broken.epoch(epoch), &key, value, self.broken.life(ttl)).await
    }

    async fn delete(&self, scope: &Scope, epoch: Epoch, keys: &[&str]) -> Result<()> {
        self.broken.delete(&self.inner, scope, self.broken.epoch(epoch), keys).await
    }

    async fn push(
        &self,
        scope: &Scope,
        epoch: Epoch,
        key: &str,
        value: &[u8],
        cap: usize,
        ttl: Duration,
    ) -> Result<()> {
        let ((scope, key), cap) = (self.broken.key(scope, key), self.broken.cap(cap));
        self.inner.push(&scope, self.broken.epoch(epoch), &key, value, cap, self.broken.life(ttl)).await
    }

    async fn tail(&self, scope: &Scope, epoch: Epoch, key: &str, count: usize) -> Result<Vec<Vec<u8>>> {
        let (scope, key) = self.broken.key(scope, key);
        Ok(self.broken.tail(self.inner.tail(&scope, self.broken.epoch(epoch), &key, count).await?))
    }
}
