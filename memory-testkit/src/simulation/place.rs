//! The place of an index, which may be lost with all it holds: another one is there then, which is empty.

use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;
use memory_core::store::{Erased, Health, Store};
use memory_core::text::{Deletion, Rejected, TextEntry, TextHits, TextQuery, TextStore, Visibility};
use memory_core::upkeep::Incarnation;
use memory_core::vector::{EmbeddingSpace, VectorEntry, VectorHit, VectorQuery, VectorStore};
use memory_core::{Epoch, ItemId, Result, Scope, Version};

/// An index that stays what it is called, whatever place holds it.
#[derive(Debug)]
pub(super) struct Place<S: ?Sized> {
    /// The first one, which is asked for its name.
    named: Arc<S>,
    held: Mutex<Arc<S>>,
}

impl<S: ?Sized> Place<S> {
    pub(super) fn new(store: Arc<S>) -> Arc<Self> {
        Arc::new(Self { named: Arc::clone(&store), held: Mutex::new(store) })
    }

    pub(super) fn replace(&self, store: Arc<S>) {
        *self.held.lock().unwrap_or_else(PoisonError::into_inner) = store;
    }

    fn held(&self) -> Arc<S> {
        Arc::clone(&self.held.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

#[async_trait]
impl<S: Store + ?Sized> Store for Place<S> {
    fn backend(&self) -> &'static str {
        self.named.backend()
    }

    async fn ping(&self) -> Result<Health> {
        self.held().ping().await
    }

    async fn close(&self) -> Result<()> {
        self.held().close().await
    }

    async fn erase(&self, scope: &Scope, below: Epoch) -> Result<Erased> {
        self.held().erase(scope, below).await
    }
}

#[async_trait]
impl<S: TextStore + ?Sized> TextStore for Place<S> {
    fn analysis(&self) -> &str {
        self.named.analysis()
    }

    async fn incarnation(&self) -> Result<Incarnation> {
        self.held().incarnation().await
    }

    async fn put(&self, scope: &Scope, entries: &[TextEntry], visibility: Visibility) -> Result<Vec<Rejected>> {
        self.held().put(scope, entries, visibility).await
    }

    async fn flush(&self) -> Result<()> {
        self.held().flush().await
    }

    async fn search(&self, scope: &Scope, query: &TextQuery) -> Result<TextHits> {
        self.held().search(scope, query).await
    }

    async fn versions(&self, scope: &Scope, items: &[ItemId]) -> Result<Vec<(ItemId, Version)>> {
        self.held().versions(scope, items).await
    }

    async fn scan(&self, scope: &Scope, after: Option<&ItemId>, limit: usize) -> Result<Vec<(ItemId, Version)>> {
        self.held().scan(scope, after, limit).await
    }

    async fn delete(&self, scope: &Scope, what: &Deletion) -> Result<()> {
        self.held().delete(scope, what).await
    }
}

#[async_trait]
impl<S: VectorStore + ?Sized> VectorStore for Place<S> {
    fn space(&self) -> &EmbeddingSpace {
        self.named.space()
    }

    async fn incarnation(&self) -> Result<Incarnation> {
        self.held().incarnation().await
    }

    async fn put(&self, scope: &Scope, entries: &[VectorEntry], visibility: Visibility) -> Result<Vec<Rejected>> {
        self.held().put(scope, entries, visibility).await
    }

    async fn flush(&self) -> Result<()> {
        self.held().flush().await
    }

    async fn search(&self, scope: &Scope, query: &VectorQuery) -> Result<Vec<VectorHit>> {
        self.held().search(scope, query).await
    }

    async fn versions(&self, scope: &Scope, items: &[ItemId]) -> Result<Vec<(ItemId, Version)>> {
        self.held().versions(scope, items).await
    }

    async fn scan(&self, scope: &Scope, after: Option<&ItemId>, limit: usize) -> Result<Vec<(ItemId, Version)>> {
        self.held().scan(scope, after, limit).await
    }

    async fn delete(&self, scope: &Scope, what: &Deletion) -> Result<()> {
        self.held().delete(scope, what).await
    }
}
