//! Blackboards that are whole but for what a [`Break`] changes.

use std::fmt::Debug;
use std::sync::Arc;

use async_trait::async_trait;
use memory_core::blackboard::{Blackboard, BlackboardEntry, BlackboardStats, BoardHit, BoardQuery, Posted};
use memory_core::reference::MemBlackboard;
use memory_core::store::{Erased, Health, Store};
use memory_core::{Epoch, Result, Scope};
use memory_testkit::{Boards, Setting, blackboard};

use crate::frame;

/// What is broken: the methods that are not given here are whole.
#[async_trait]
pub(crate) trait Break: Debug + Send + Sync + 'static {
    /// Returns the owner that a call is taken for.
    fn scope(&self, scope: &Scope) -> Scope {
        scope.clone()
    }

    async fn put(&self, inner: &MemBlackboard, scope: &Scope, entry: &BlackboardEntry) -> Result<Vec<String>> {
        inner.put(scope, entry).await
    }

    async fn get(&self, inner: &MemBlackboard, scope: &Scope, key: &str) -> Result<Option<Posted>> {
        inner.get(scope, key).await
    }

    async fn search(
        &self,
        inner: &MemBlackboard,
        scope: &Scope,
        query: &BoardQuery,
        limit: usize,
    ) -> Result<Vec<BoardHit>> {
        inner.search(scope, query, limit).await
    }

    async fn stats(&self, inner: &MemBlackboard, scope: &Scope) -> Result<BlackboardStats> {
        inner.stats(scope).await
    }

    async fn erase(&self, inner: &MemBlackboard, scope: &Scope, below: Epoch) -> Result<Erased> {
        inner.erase(scope, below).await
    }
}

/// A board with a break.
#[derive(Debug)]
struct Mutant<B> {
    inner: MemBlackboard,
    broken: B,
}

/// Returns a board with the break.
pub(crate) fn store<B: Break>(setting: Setting, broken: B) -> Boards {
    Arc::new(Mutant { inner: MemBlackboard::new(setting.clock, setting.capacity), broken })
}

/// Checks that each of the scenarios `by` catches the break.
pub(crate) async fn caught<B: Break + Clone>(broken: B, by: &[&str]) {
    frame::caught(&blackboard::table(), by, move |setting| store(setting, broken.clone())).await;
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
        self.broken.erase(&self.inner, &self.broken.scope(scope), below).await
    }
}

#[async_trait]
impl<B: Break> Blackboard for Mutant<B> {
    async fn put(&self, scope: &Scope, entry: &BlackboardEntry) -> Result<Vec<String>> {
        self.broken.put(&self.inner, &self.broken.scope(scope), entry).await
    }

    async fn get(&self, scope: &Scope, key: &str) -> Result<Option<Posted>> {
        self.broken.get(&self.inner, &self.broken.scope(scope), key).await
    }

    async fn search(&self, scope: &Scope, query: &BoardQuery, limit: usize) -> Result<Vec<BoardHit>> {
        self.broken.search(&self.inner, &self.broken.scope(scope), query, limit).await
    }

    async fn delete(&self, scope: &Scope, key: &str) -> Result<bool> {
        self.inner.delete(&self.broken.scope(scope), key).await
    }

    async fn sweep(&self, scope: &Scope) -> Result<u64> {
        self.inner.sweep(&self.broken.scope(scope)).await
    }

    async fn stats(&self, scope: &Scope) -> Result<BlackboardStats> {
        self.broken.stats(&self.inner, &self.broken.scope(scope)).await
    }
}
