//! The vector store over a server.

mod erase;
mod incarnation;
mod index;
mod scan;
mod search;
mod sizes;
mod tombstone;
mod write;

use std::fmt;
use std::sync::Arc;

use async_trait::async_trait;
use memory_core::store::text::{Deletion, Rejected, Visibility};
use memory_core::store::upkeep::Incarnation;
use memory_core::store::vectors::{VectorEntry, VectorHit, VectorQuery, VectorStore};
use memory_core::store::{Erased, Health, Store};
use memory_core::vector::EmbeddingSpace;
use memory_core::{Epoch, Error, ItemId, Result, Scope, Version};

use crate::client::{Qdrant, detached};
use crate::collection::Collection;
use crate::error::BACKEND;
use crate::point::Prepared;
use index::Index;
use sizes::Sizes;

/// A [`VectorStore`] in a collection of a Qdrant server, one collection for each space.
///
/// What is put is findable when the call returns, on the bulk path too: a write that a server took without having done
/// it may be lost, so every write waits. An owner's epoch, an item's revision and their bounds lie below 2^53.
#[derive(Clone)]
pub struct QdrantVectors {
    index: Arc<Index>,
}

impl QdrantVectors {
    /// Opens the collection of `space`, and makes it if there is none.
    ///
    /// # Errors
    /// `SpaceMismatch` if the collection of that name holds vectors of another space, `Unsupported` if another
    /// application or a newer version of this crate made it; nothing is changed then. `Backend` if the server does not
    /// answer.
    pub async fn open(server: &Qdrant, space: EmbeddingSpace) -> Result<Self> {
        if space.dimension == 0 {
            return Err(Error::invalid("a vector has at least one number"));
        }
        let server = server.clone();
        let opened = detached("open the collection", async move {
            let collection = Collection::open(&server, &space).await?;
            Ok(Index { server, space, collection, sizes: Sizes::default() })
        });
        Ok(Self { index: Arc::new(opened.await?) })
    }

    /// Returns the same collection by way of another client of the same server: with another key, or other headers.
    #[must_use]
    pub fn through(&self, server: &Qdrant) -> Self {
        let Index { server: _, space, collection, sizes: _ } = &*self.index;
        let (space, collection) = (space.clone(), collection.clone());
        let index = Index { server: server.clone(), space, collection, sizes: Sizes::default() };
        Self { index: Arc::new(index) }
    }

    /// Returns the name of the collection.
    pub fn collection(&self) -> &str {
        &self.index.collection.name
    }
}

impl fmt::Debug for QdrantVectors {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Index { server, space, collection, sizes: _ } = &*self.index;
        let mut shown = f.debug_struct("QdrantVectors");
        shown.field("server", server).field("space", space).field("collection", collection).finish()
    }
}

#[async_trait]
impl Store for QdrantVectors {
    fn backend(&self) -> &'static str {
        BACKEND
    }

    async fn ping(&self) -> Result<Health> {
        self.index.server.ping().await
    }

    async fn close(&self) -> Result<()> {
        self.index.server.close().await
    }

    async fn erase(&self, scope: &Scope, below: Epoch) -> Result<Erased> {
        let (index, scope) = (Arc::clone(&self.index), scope.clone());
        detached("erase the owner's vectors", async move { erase::erase(&index, &scope, below).await }).await
    }
}

#[async_trait]
impl VectorStore for QdrantVectors {
    fn space(&self) -> &EmbeddingSpace {
        &self.index.space
    }

    async fn incarnation(&self) -> Result<Incarnation> {
        let index = Arc::clone(&self.index);
        detached("read the incarnation", async move { incarnation::ensure(&index).await }).await
    }

    async fn put(&self, scope: &Scope, entries: &[VectorEntry], _visibility: Visibility) -> Result<Vec<Rejected>> {
        let (prepared, rejected) = Rejected::split(entries, |entry| {
            Prepared::new(&self.index.space, entry).map_err(Rejected::of(&entry.item))
        });
        if !prepared.is_empty() {
            let (index, scope) = (Arc::clone(&self.index), scope.clone());
            detached("put vectors", async move { write::put(&index, &scope, prepared).await }).await?;
        }
        Ok(rejected)
    }

    async fn flush(&self) -> Result<()> {
        Ok(())
    }

    async fn search(&self, scope: &Scope, query: &VectorQuery) -> Result<Vec<VectorHit>> {
        self.index.space.check(&query.space)?;
        self.index.space.check_vector(&query.vector)?;
        if query.limit == 0 {
            return Err(Error::invalid("a search returns at least 1 result"));
        }
        search::search(&self.index, scope, query).await
    }

    async fn versions(&self, scope: &Scope, items: &[ItemId]) -> Result<Vec<(ItemId, Version)>> {
        write::versions(&self.index, scope, items).await
    }

    async fn scan(&self, scope: &Scope, after: Option<&ItemId>, limit: usize) -> Result<Vec<(ItemId, Version)>> {
        scan::scan(&self.index, scope, after, limit).await
    }

    async fn delete(&self, scope: &Scope, what: &Deletion) -> Result<()> {
        if matches!(what, Deletion::Items(items) if items.is_empty()) {
            return Ok(());
        }
        let (index, scope, what) = (Arc::clone(&self.index), scope.clone(), what.clone());
        detached("delete vectors", async move { write::delete(&index, &scope, &what).await }).await
    }

    async fn clear(&self, scope: &Scope) -> Result<()> {
        // Not in a task of its own: a call that was given up may not delete what is put afterwards.
        erase::clear(&self.index, scope).await
    }
}

#[cfg(test)]
mod tests {
    use std::task::{Context, Waker};

    use super::*;

    #[tokio::test]
    async fn a_clearing_that_is_given_up_deletes_nothing_later() {
        let ada = Scope::new("t", "ada").unwrap();
        let mut context = Context::from_waker(Waker::noop());
        // The control: an erasure goes on all the same.
        for goes_on in [true, false] {
            let (model, recipe) = ("m".to_owned(), "r".to_owned());
            let space = EmbeddingSpace { model, dimension: 2, normalised: true, recipe };
            let (server, collection) = (Qdrant::waiting(), Collection { name: "c".to_owned(), replicas: 1 });
            let index = Index { server: server.clone(), space, collection, sizes: Sizes::default() };
            let store = QdrantVectors { index: Arc::new(index) };
            if goes_on {
                assert!(store.erase(&ada, Epoch(1)).as_mut().poll(&mut context).is_pending());
            } else {
                assert!(store.clear(&ada).as_mut().poll(&mut context).is_pending());
            }
            tokio::task::yield_now().await;
            assert_eq!(server.admits_one(), goes_on);
        }
    }
}
