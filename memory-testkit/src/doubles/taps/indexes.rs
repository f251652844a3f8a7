//! Taps around search stores.

use async_trait::async_trait;
use memory_core::text::{Deletion, Rejected, TextEntry, TextHits, TextQuery, TextStore, Visibility};
use memory_core::upkeep::Incarnation;
use memory_core::vector::{EmbeddingSpace, VectorEntry, VectorHit, VectorQuery, VectorStore};
use memory_core::{ItemId, Result, Scope, Version};

use super::{Tapped, none};

#[async_trait]
impl<S: TextStore + ?Sized> TextStore for Tapped<S> {
    fn analysis(&self) -> &str {
        self.inner.analysis()
    }

    async fn incarnation(&self) -> Result<Incarnation> {
        self.run("incarnation", self.inner.incarnation(), none).await
    }

    async fn put(&self, scope: &Scope, entries: &[TextEntry], visibility: Visibility) -> Result<Vec<Rejected>> {
        self.run("put", self.inner.put(scope, entries, visibility), none).await
    }

    async fn flush(&self) -> Result<()> {
        self.run("flush", self.inner.flush(), none).await
    }

    async fn search(&self, scope: &Scope, query: &TextQuery) -> Result<TextHits> {
        self.run("search", self.inner.search(scope, query), |found| found.hits.len()).await
    }

    async fn versions(&self, scope: &Scope, items: &[ItemId]) -> Result<Vec<(ItemId, Version)>> {
        self.run("versions", self.inner.versions(scope, items), Vec::len).await
    }

    async fn scan(&self, scope: &Scope, after: Option<&ItemId>, limit: usize) -> Result<Vec<(ItemId, Version)>> {
        self.run("scan", self.inner.scan(scope, after, limit), Vec::len).await
    }

    async fn delete(&self, scope: &Scope, what: &Deletion) -> Result<()> {
        self.run("delete", self.inner.delete(scope, what), none).await
    }
}

#[async_trait]
impl<S: VectorStore + ?Sized> VectorStore for Tapped<S> {
    fn space(&self) -> &EmbeddingSpace {
        self.inner.space()
    }

    async fn incarnation(&self) -> Result<Incarnation> {
        self.run("incarnation", self.inner.incarnation(), none).await
    }

    async fn put(&self, scope: &Scope, entries: &[VectorEntry], visibility: Visibility) -> Result<Vec<Rejected>> {
        self.run("put", self.inner.put(scope, entries, visibility), none).await
    }

    async fn flush(&self) -> Result<()> {
        self.run("flush", self.inner.flush(), none).await
    }

    async fn search(&self, scope: &Scope, query: &VectorQuery) -> Result<Vec<VectorHit>> {
        self.run("search", self.inner.search(scope, query), Vec::len).await
    }

    async fn versions(&self, scope: &Scope, items: &[ItemId]) -> Result<Vec<(ItemId, Version)>> {
        self.run("versions", self.inner.versions(scope, items), Vec::len).await
    }

    async fn scan(&self, scope: &Scope, after: Option<&ItemId>, limit: usize) -> Result<Vec<(ItemId, Version)>> {
        self.run("scan", self.inner.scan(scope, after, limit), Vec::len).await
    }

    async fn delete(&self, scope: &Scope, what: &Deletion) -> Result<()> {
        self.run("delete", self.inner.delete(scope, what), none).await
    }
}
