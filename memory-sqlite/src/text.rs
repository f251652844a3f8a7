//! The text store over a database file.

mod bucket;
mod entry;
pub(crate) mod held;
mod search;
mod segment;
mod statistics;
mod tail;
mod write;

#[cfg(test)]
mod tests;

use std::sync::Arc;

use async_trait::async_trait;
use memory_core::posting::Shape;
use memory_core::store::text::{Deletion, Rejected, TextEntry, TextHits, TextQuery, TextStore, Visibility};
use memory_core::store::upkeep::Incarnation;
use memory_core::store::{Erased, Health, Store};
use memory_core::{Epoch, Error, ItemId, Result, Scope, Unit, Version};

use crate::client::Sqlite;
use crate::error::{BACKEND, lost};
use crate::filter::EACH_UNIT;
use crate::index::{erase, items, place};

use held::Key;

/// The sizes of an index. The larger segments are, the fewer rows a search reads, and the less a term repeats; the longer a tail,
/// the fewer folds write them.
const SHAPE: Shape = Shape { tail: 512 << 10, postings: 3_200_000, ..Shape::of_segments(16_384) };

/// A [`TextStore`] in a SQLite file.
///
/// Each owner has its own posting lists, so neither the cost nor the result of a search depends on other owners. Several
/// analyses may share a file. What is put is findable when the call returns, in every process that has the file open.
///
/// The posting lists of recently searched terms are cached, up to [`crate::SqliteConfig::with_texts_held`]. Each search asks
/// the file whether they are current, and reads what has changed. What this process deletes or erases leaves the cache
/// before the call returns; what another process deletes leaves it with the next search of that owner.
#[derive(Clone, Debug)]
pub struct SqliteText {
    file: Sqlite,
    analysis: Arc<str>,
    /// The index's name in the tables.
    name: Arc<str>,
    shape: Shape,
}

impl SqliteText {
    /// Returns the text store of the terms that `analysis` makes.
    pub fn new(file: &Sqlite, analysis: &str) -> Self {
        Self { file: file.clone(), analysis: analysis.into(), name: format!("text/{analysis}").into(), shape: SHAPE }
    }

    fn key(&self, scope: &Scope, unit: Unit) -> Key {
        (scope.clone(), Arc::clone(&self.name), unit)
    }

    /// Drops an owner's entries from the cache.
    fn let_go(&self, scope: &Scope) {
        for unit in EACH_UNIT {
            self.file.texts().remove(&self.key(scope, unit));
        }
    }

    /// Deletes from the file, then from the cache.
    async fn forget(&self, scope: &Scope, what: &Deletion) -> Result<()> {
        let (owner, name, what) = (scope.clone(), Arc::clone(&self.name), what.clone());
        let work = self.file.write("delete texts", move |connection| {
            Box::pin(async move { write::delete(connection, &owner, &name, &what).await })
        });
        let forgotten = work.await;
        self.let_go(scope);
        forgotten
    }

    /// Erases from the file and from the cache.
    async fn erase_all(&self, scope: &Scope, below: Epoch) -> Result<Erased> {
        let (owner, name) = (scope.clone(), Arc::clone(&self.name));
        let work = self.file.write("erase the owner's texts", move |connection| {
            Box::pin(async move { write::erase(connection, &owner, &name, below).await })
        });
        let removed = work.await;
        self.let_go(scope);
        erase::finish(&self.file, scope, &self.name, below, removed?).await
    }
}

#[async_trait]
impl Store for SqliteText {
    fn backend(&self) -> &'static str {
        BACKEND
    }

    async fn ping(&self) -> Result<Health> {
        self.file.ping().await
    }

    async fn close(&self) -> Result<()> {
        self.file.close().await
    }

    async fn erase(&self, scope: &Scope, below: Epoch) -> Result<Erased> {
        // In a task of its own, so that a dropped call leaves nothing in the cache that is gone from the file.
        let (texts, scope) = (self.clone(), scope.clone());
        let task = tokio::spawn(async move { texts.erase_all(&scope, below).await });
        task.await.unwrap_or_else(|_| Err(lost("erase the owner's texts")))
    }
}

#[async_trait]
impl TextStore for SqliteText {
    fn analysis(&self) -> &str {
        &self.analysis
    }

    async fn incarnation(&self) -> Result<Incarnation> {
        place::incarnation(&self.file, &self.name).await
    }

    async fn put(&self, scope: &Scope, entries: &[TextEntry], _visibility: Visibility) -> Result<Vec<Rejected>> {
        let (prepared, rejected) = Rejected::split(entries, entry::prepare);
        if !prepared.is_empty() {
            let (scope, name, shape) = (scope.clone(), Arc::clone(&self.name), self.shape);
            let work = self.file.write("put texts", move |connection| {
                Box::pin(async move { write::put(connection, &scope, &name, shape, prepared).await })
            });
            work.await?;
        }
        Ok(rejected)
    }

    async fn flush(&self) -> Result<()> {
        Ok(())
    }

    async fn search(&self, scope: &Scope, query: &TextQuery) -> Result<TextHits> {
        if query.limit == 0 {
            return Err(Error::invalid("a search returns at least 1 result"));
        }
        search::search(&self.file, &self.key(scope, query.unit), query).await
    }

    async fn versions(&self, scope: &Scope, items: &[ItemId]) -> Result<Vec<(ItemId, Version)>> {
        items::versions(&self.file, scope, &self.name, items).await
    }

    async fn scan(&self, scope: &Scope, after: Option<&ItemId>, limit: usize) -> Result<Vec<(ItemId, Version)>> {
        items::scan(&self.file, scope, &self.name, after, limit).await
    }

    async fn delete(&self, scope: &Scope, what: &Deletion) -> Result<()> {
        if matches!(what, Deletion::Items(items) if items.is_empty()) {
            return Ok(());
        }
        let (texts, scope, what) = (self.clone(), scope.clone(), what.clone());
        let task = tokio::spawn(async move { texts.forget(&scope, &what).await });
        task.await.unwrap_or_else(|_| Err(lost("delete texts")))
    }

    async fn clear(&self, scope: &Scope) -> Result<()> {
        let (texts, scope) = (self.clone(), scope.clone());
        let task = tokio::spawn(async move {
            let cleared = erase::clear(&texts.file, &scope, &texts.name).await;
            // Afterwards: a search meanwhile reads what is still there.
            texts.let_go(&scope);
            cleared
        });
        task.await.unwrap_or_else(|_| Err(lost("clear texts")))
    }
}
