//! Text stores that are whole but for what a [`Break`] changes.

use std::fmt::Debug;
use std::sync::Arc;

use async_trait::async_trait;
use memory_core::reference::MemText;
use memory_core::store::{Erased, Health, Store};
use memory_core::text::{Deletion, Rejected, TextEntry, TextHits, TextQuery, TextStore, Visibility};
use memory_core::upkeep::Incarnation;
use memory_core::{Epoch, ItemId, Result, Scope, Version};
use memory_testkit::{Texts, text};

use crate::frame;

/// What is broken: the methods that are not given here are whole.
#[async_trait]
pub(crate) trait Break: Debug + Send + Sync + 'static {
    /// Returns the owner that a call is taken for.
    fn scope(&self, scope: &Scope) -> Scope {
        scope.clone()
    }

    async fn incarnation(&self, inner: &MemText) -> Result<Incarnation> {
        inner.incarnation().await
    }

    async fn put(
        &self,
        inner: &MemText,
        scope: &Scope,
        entries: &[TextEntry],
        visibility: Visibility,
    ) -> Result<Vec<Rejected>> {
        inner.put(scope, entries, visibility).await
    }

    async fn flush(&self, inner: &MemText) -> Result<()> {
        inner.flush().await
    }

    async fn search(&self, inner: &MemText, scope: &Scope, query: &TextQuery) -> Result<TextHits> {
        inner.search(scope, query).await
    }

    async fn versions(&self, inner: &MemText, scope: &Scope, items: &[ItemId]) -> Result<Vec<(ItemId, Version)>> {
        inner.versions(scope, items).await
    }

    async fn scan(
        &self,
        inner: &MemText,
        scope: &Scope,
        after: Option<&ItemId>,
        limit: usize,
    ) -> Result<Vec<(ItemId, Version)>> {
        inner.scan(scope, after, limit).await
    }

    async fn delete(&self, inner: &MemText, scope: &Scope, what: &Deletion) -> Result<()> {
        inner.delete(scope, what).await
    }

    async fn erase(&self, inner: &MemText, scope: &Scope, below: Epoch) -> Result<Erased> {
        inner.erase(scope, below).await
    }
}

/// A store with a break.
#[derive(Debug)]
struct Mutant<B> {
    inner: MemText,
    broken: B,
}

/// Returns a store with the break.
pub(crate) fn store<B: Break>(broken: B) -> Texts {
    store_of("test-1", broken)
}

/// Returns a store of the terms of `analysis` with the break.
pub(crate) fn store_of<B: Break>(analysis: &str, broken: B) -> Texts {
    Arc::new(Mutant { inner: MemText::new(analysis), broken })
}

/// Checks that each of the scenarios `by` catches the break.
pub(crate) async fn caught<B: Break + Clone>(broken: B, by: &[&str]) {
    frame::caught(&text::table(), by, move |_| store(broken.clone())).await;
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
impl<B: Break> TextStore for Mutant<B> {
    fn analysis(&self) -> &str {
        self.inner.analysis()
    }

    async fn incarnation(&self) -> Result<Incarnation> {
        self.broken.incarnation(&self.inner).await
    }

    async fn put(&self, scope: &Scope, entries: &[TextEntry], visibility: Visibility) -> Result<Vec<Rejected>> {
        self.broken.put(&self.inner, &self.broken.scope(scope), entries, visibility).await
    }

    async fn flush(&self) -> Result<()> {
        self.broken.flush(&self.inner).await
    }

    async fn search(&self, scope: &Scope, query: &TextQuery) -> Result<TextHits> {
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
