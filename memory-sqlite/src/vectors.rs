//! The vector store over a database file.

mod block;
mod follow;
pub(crate) mod held;
mod nearest;
mod search;
mod write;

#[cfg(test)]
mod tests;

use std::sync::Arc;

use async_trait::async_trait;
use memory_core::store::text::{Deletion, Rejected, Visibility};
use memory_core::store::upkeep::Incarnation;
use memory_core::store::vectors::{VectorEntry, VectorHit, VectorQuery, VectorStore};
use memory_core::store::{Erased, Health, Store};
use memory_core::vector::EmbeddingSpace;
use memory_core::{Epoch, Error, ItemId, Result, Scope, Version};

use crate::client::Sqlite;
use crate::error::{BACKEND, lost};
use crate::index::{erase, items, place};

/// A [`VectorStore`] in a SQLite file: exact, by a scan of the owner's own vectors.
///
/// Several spaces may share a file, each with its own rows. What is put is findable when the call returns, in every process
/// that has the file open.
///
/// The vectors of recently searched owners are cached, up to [`crate::SqliteConfig::with_vectors_held`]. Each search asks the
/// file whether they are current, and reads what has changed. What this process deletes or erases leaves the cache before
/// the call returns; what another process deletes leaves it with the next search of that owner.
#[derive(Clone, Debug)]
pub struct SqliteVectors {
    file: Sqlite,
    space: EmbeddingSpace,
    /// The index's name in the tables.
    name: Arc<str>,
}

impl SqliteVectors {
    /// Returns the vector store of `space`.
    pub fn new(file: &Sqlite, space: EmbeddingSpace) -> Self {
        let name = format!("vector/{}", space.fingerprint()).into();
        Self { file: file.clone(), space, name }
    }

    /// Deletes from the file, then from the cache.
    async fn forget(&self, scope: &Scope, what: &Deletion) -> Result<()> {
        let (owner, name, dimension, what) =
            (scope.clone(), Arc::clone(&self.name), self.space.dimension, what.clone());
        let work = self.file.write("delete vectors", move |connection| {
            Box::pin(async move { write::delete(connection, &owner, &name, dimension, &what).await })
        });
        work.await?;
        let key = (scope.clone(), Arc::clone(&self.name));
        if search::let_go(&self.file, &key, dimension).await.is_err() {
            self.file.vectors().remove(&key);
        }
        Ok(())
    }

    /// Erases from the file and from the cache.
    async fn erase_all(&self, scope: &Scope, below: Epoch) -> Result<Erased> {
        let (owner, name, dimension) = (scope.clone(), Arc::clone(&self.name), self.space.dimension);
        let work = self.file.write("erase the owner's vectors", move |connection| {
            Box::pin(async move { write::erase(connection, &owner, &name, dimension, below).await })
        });
        let removed = work.await?;
        self.file.vectors().remove(&(scope.clone(), Arc::clone(&self.name)));
        erase::finish(&self.file, scope, &self.name, below, removed).await
    }
}

#[async_trait]
impl Store for SqliteVectors {
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
        let (vectors, scope) = (self.clone(), scope.clone());
        let task = tokio::spawn(async move { vectors.erase_all(&scope, below).await });
        task.await.unwrap_or_else(|_| Err(lost("erase the owner's vectors")))
    }
}

#[async_trait]
impl VectorStore for SqliteVectors {
    fn space(&self) -> &EmbeddingSpace {
        &self.space
    }

    async fn incarnation(&self) -> Result<Incarnation> {
        place::incarnation(&self.file, &self.name).await
    }

    async fn put(&self, scope: &Scope, entries: &[VectorEntry], _visibility: Visibility) -> Result<Vec<Rejected>> {
        let (prepared, rejected) =
            Rejected::split(entries, |entry| write::prepare(&self.space, entry).map_err(Rejected::of(&entry.item)));
        if !prepared.is_empty() {
            let (scope, name, dimension) = (scope.clone(), Arc::clone(&self.name), self.space.dimension);
            let work = self.file.write("put vectors", move |connection| {
                Box::pin(async move { write::put(connection, &scope, &name, dimension, prepared).await })
            });
            work.await?;
        }
        Ok(rejected)
    }

    async fn flush(&self) -> Result<()> {
        Ok(())
    }

    async fn search(&self, scope: &Scope, query: &VectorQuery) -> Result<Vec<VectorHit>> {
        self.space.check(&query.space)?;
        self.space.check_vector(&query.vector)?;
        if query.limit == 0 {
            return Err(Error::invalid("a search returns at least 1 result"));
        }
        search::search(&self.file, &(scope.clone(), Arc::clone(&self.name)), query).await
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
        let (vectors, scope, what) = (self.clone(), scope.clone(), what.clone());
        let task = tokio::spawn(async move { vectors.forget(&scope, &what).await });
        task.await.unwrap_or_else(|_| Err(lost("delete vectors")))
    }

    async fn clear(&self, scope: &Scope) -> Result<()> {
        let (file, key) = (self.file.clone(), (scope.clone(), Arc::clone(&self.name)));
        let task = tokio::spawn(async move {
            let cleared = erase::clear(&file, &key.0, &key.1).await;
            // Afterwards: a search meanwhile reads what is still there.
            file.vectors().remove(&key);
            cleared
        });
        task.await.unwrap_or_else(|_| Err(lost("clear vectors")))
    }
}
