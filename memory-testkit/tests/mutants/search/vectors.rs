//! Vector stores that are whole but for what a [`Break`] changes.

use std::fmt::Debug;
use std::sync::Arc;

use async_trait::async_trait;
use memory_core::reference::MemVectors;
use memory_core::store::{Erased, Health, Store};
use memory_core::text::{Deletion, Rejected, Visibility};
use memory_core::upkeep::Incarnation;
use memory_core::vector::{EmbeddingSpace, VectorEntry, VectorHit, VectorQuery, VectorStore};
use memory_core::{Epoch, ItemId, Result, Scope, Version};
use memory_testkit::{Vectors, vectors};

use crate::frame;

/// What is broken: the methods that are not given here are whole.
#[async_trait]
pub(crate) trait Break: Debug + Send + Sync + 'static {
    /// Returns the owner that a call is taken for.
    fn scope(&self, scope: &Scope) -> Scope {
        scope.clone()
    }

    async fn incarnation(&self, inner: &MemVectors) -> Result<Incarnation> {
        inner.incarnation().await
    }

    async fn put(
        &self,
        inner: &MemVectors,
        scope: &Scope,
        entries: &[VectorEntry],
        visibility: Visibility,
    ) -> Result<Vec<Rejected>> {
        inner.put(scope, entries, visibility).await
    }

    async fn search(&self, inner: &MemVectors, scope: &Scope, query: &VectorQuery) -> Result<Vec<VectorHit>> {
        inner.search(scope, query).await
    }

    async fn versions(&self, inner: &MemVectors, scope: &Scope, items: &[ItemId]) -> Result<Vec<(ItemId, Version)>> {
        inner.versions(scope, items).await
    }

    async fn scan(
        &self,
        inner: &MemVectors,
        scope: &Scope,
        after: Option<&ItemId>,
        limit: usize,
    ) -> Result<Vec<(ItemId, Version)>> {
        inner.scan(scope, after, limit).await
    }

    async fn delete(&self, inner: &MemVectors, scope: &Scope, what: &Deletion) -> Result<()> {
        inner.delete(scope, what).await
    }

    async fn erase(&self, inner: &MemVectors, scope: &Scope, below: Epoch) -> Result<Erased> {
        inner.erase(scope, below).await
    }
}

/// A store with a break.
#[derive(Debug)]
struct Mutant<B> {
    inner: MemVectors,
    broken: B,
}

/// Returns a store with the break.
pub(crate) fn store<B: Break>(space: EmbeddingSpace, broken: B) -> Vectors {
    Arc::new(Mutant { inner: MemVectors::new(space), broken })
}

/// Checks that each of the scenarios `by` catches the break.
pub(crate) async fn caught<B: Break + Clone>(broken: B, by: &[&str]) {
    frame::caught(&vectors::table(), by, move |setting| store(setting.space, broken.clone())).await;
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
impl<B: Break> VectorStore for Mutant<B> {
    fn space(&self) -> &EmbeddingSpace {
        self.inner.space()
    }

    async fn incarnation(&self) -> Result<Incarnation> {
        self.broken.incarnation(&self.inner).await
    }

    async fn put(&self, scope: &Scope, entries: &[VectorEntry], visibility: Visibility) -> Result<Vec<Rejected>> {
        self.broken.put(&self.inner, &self.broken.scope(scope), entries, visibility).await
    }

    async fn flush(&self) -> Result<()> {
        self.inner.flush().await
    }

    async fn search(&self, scope: &Scope, query: &VectorQuery) -> Result<Vec<VectorHit>> {
        self.broken.search(&self.inner, &self.broken.scope(scope), query).await
    }

    async fn versions(&self, scope: &Scope, items: &[ItemId]) -> Result<Vec<(ItemId, Version)>> {
        self.broken.versions(&self.inner, &self.broken.scope(scope), items).await
    }

    async fn scan(&self, scope: &Scope, after: Option<&ItemId>, limit: usize) -> Result<Vec<(ItemId, Version)>> {
        self.broken.scan(&self.inner, &self.broken.scope(scope), after, limit).await
    }

    async fn delete(&self, scope: &Scope, what: &Deletion) -> Result<()> {
        self.broken.delete(&self.inner, &self.broken.scope(scope), what).await
    }
}
