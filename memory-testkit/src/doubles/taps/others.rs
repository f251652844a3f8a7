//! Taps around caches, blackboards and journals.

use std::time::Duration;

use async_trait::async_trait;
use memory_core::blackboard::{Blackboard, BlackboardEntry, BlackboardStats, BoardHit, BoardQuery, Posted};
use memory_core::cache::Cache;
use memory_core::chat::Append;
use memory_core::journal::{Journal, Queued, Rejection};
use memory_core::store::Durability;
use memory_core::{Epoch, Result, Scope, SessionId};

use super::{Tapped, none};

#[async_trait]
impl<S: Cache + ?Sized> Cache for Tapped<S> {
    async fn get(&self, scope: &Scope, epoch: Epoch, key: &str) -> Result<Option<Vec<u8>>> {
        self.run("get", self.inner.get(scope, epoch, key), |found| usize::from(found.is_some())).await
    }

    async fn put(&self, scope: &Scope, epoch: Epoch, key: &str, value: &[u8], ttl: Duration) -> Result<()> {
        self.run("put", self.inner.put(scope, epoch, key, value, ttl), none).await
    }

    async fn delete(&self, scope: &Scope, epoch: Epoch, keys: &[&str]) -> Result<()> {
        self.run("delete", self.inner.delete(scope, epoch, keys), none).await
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
        self.run("push", self.inner.push(scope, epoch, key, value, cap, ttl), none).await
    }

    async fn tail(&self, scope: &Scope, epoch: Epoch, key: &str, count: usize) -> Result<Vec<Vec<u8>>> {
        self.run("tail", self.inner.tail(scope, epoch, key, count), Vec::len).await
    }
}

#[async_trait]
impl<S: Blackboard + ?Sized> Blackboard for Tapped<S> {
    async fn put(&self, scope: &Scope, entry: &BlackboardEntry) -> Result<Vec<String>> {
        self.run("put", self.inner.put(scope, entry), Vec::len).await
    }

    async fn get(&self, scope: &Scope, key: &str) -> Result<Option<Posted>> {
        self.run("get", self.inner.get(scope, key), |found| usize::from(found.is_some())).await
    }

    async fn search(&self, scope: &Scope, query: &BoardQuery, limit: usize) -> Result<Vec<BoardHit>> {
        self.run("search", self.inner.search(scope, query, limit), Vec::len).await
    }

    async fn delete(&self, scope: &Scope, key: &str) -> Result<bool> {
        self.run("delete", self.inner.delete(scope, key), none).await
    }

    async fn sweep(&self, scope: &Scope) -> Result<u64> {
        self.run("sweep", self.inner.sweep(scope), none).await
    }

    async fn stats(&self, scope: &Scope) -> Result<BlackboardStats> {
        self.run("stats", self.inner.stats(scope), none).await
    }
}

#[async_trait]
impl<S: Journal + ?Sized> Journal for Tapped<S> {
    fn durability(&self) -> Durability {
        self.inner.durability()
    }

    async fn push(&self, scope: &Scope, session: &SessionId, batch: &Append) -> Result<u64> {
        self.run("push", self.inner.push(scope, session, batch), none).await
    }

    async fn queued(&self, scope: Option<&Scope>, session: Option<&SessionId>, limit: usize) -> Result<Vec<Queued>> {
        self.run("queued", self.inner.queued(scope, session, limit), Vec::len).await
    }

    async fn acknowledge(&self, numbers: &[u64]) -> Result<()> {
        self.run("acknowledge", self.inner.acknowledge(numbers), none).await
    }

    async fn reject(&self, number: u64, why: &str) -> Result<()> {
        self.run("reject", self.inner.reject(number, why), none).await
    }

    async fn rejected(&self, limit: usize) -> Result<Vec<Rejection>> {
        self.run("rejected", self.inner.rejected(limit), Vec::len).await
    }

    async fn revive(&self, numbers: &[u64]) -> Result<()> {
        self.run("revive", self.inner.revive(numbers), none).await
    }

    async fn erase(&self, scope: &Scope, session: Option<&SessionId>) -> Result<u64> {
        self.run("erase", self.inner.erase(scope, session), none).await
    }
}
