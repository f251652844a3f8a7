//! Search by meaning.

mod entry;
mod hit;
mod search;

use std::sync::Arc;

use async_trait::async_trait;
use memory_core::error::{Error, Result};
use memory_core::store::text::{Deletion, Rejected, Visibility};
use memory_core::store::upkeep::Incarnation;
use memory_core::store::vectors::{VectorEntry, VectorHit, VectorQuery, VectorStore};
use memory_core::store::{Erased, Health, Store};
use memory_core::vector::EmbeddingSpace;
use memory_core::{Epoch, ItemId, Scope, Version};
use serde_json::{Map, json};

use crate::client::Elastic;
use crate::error::BACKEND;
use crate::index::{Index, Plan};
use crate::{delete, put, scan};

/// The most numbers that the server's vectors have.
const MAX_DIMENSION: usize = 4_096;

/// A vector index on a server. Cheap to clone.
///
/// Vectors are compared one by one with those of the owner, never with those of others, so every answer is exact.
#[derive(Clone, Debug)]
pub struct ElasticVectors {
    index: Index,
    space: EmbeddingSpace,
}

impl ElasticVectors {
    /// Opens the index of the vectors of `space`, or makes it.
    ///
    /// # Errors
    /// `Unsupported` for vectors of more than 4,096 numbers, for an index of this name that is another's, or one that
    /// does not sync what it acknowledges; `Backend` if the server does not answer.
    pub async fn open(elastic: &Elastic, space: EmbeddingSpace) -> Result<Self> {
        if space.dimension == 0 || space.dimension > MAX_DIMENSION {
            let what = format!("hold vectors of {} numbers", space.dimension);
            return Err(Error::Unsupported { backend: BACKEND, what });
        }
        let index = Index::open(elastic, Arc::new(plan(&elastic.config().index, &space))).await?;
        Ok(Self { index, space })
    }

    fn check(&self, entry: &VectorEntry) -> Result<()> {
        if entry.pieces.is_empty() {
            return Err(Error::invalid("an entry has at least one vector"));
        }
        entry.pieces.iter().try_for_each(|piece| self.space.check_vector(piece))
    }
}

/// Rises with each change of what documents hold: an older index is not read, but filled anew under another name.
const FORMAT: &str = "vectors-2";

fn plan(prefix: &str, space: &EmbeddingSpace) -> Plan {
    // By default the server would round vectors off, and look for neighbours in a graph over all owners.
    let vector = json!({
        "type": "dense_vector",
        "dims": space.dimension,
        "element_type": "float",
        "index": true,
        "similarity": "dot_product",
        "index_options": { "type": "flat" },
    });
    let pieces = json!({ "type": "nested", "properties": { "v": vector } });
    // How many there are: which of several is the nearest has to be asked for.
    let parts = json!({ "type": "integer", "index": false });
    Plan {
        alias: format!("{prefix}-{FORMAT}-{}", space.fingerprint()),
        recipe: format!("{FORMAT}/{space}/{}", space.normalised),
        fields: Map::from_iter([("parts".to_owned(), parts), ("pieces".to_owned(), pieces)]),
        source: json!({ "excludes": ["values"] }),
    }
}

#[async_trait]
impl Store for ElasticVectors {
    fn backend(&self) -> &'static str {
        BACKEND
    }

    async fn ping(&self) -> Result<Health> {
        self.index.ping().await
    }

    async fn erase(&self, scope: &Scope, below: Epoch) -> Result<Erased> {
        delete::erase(&self.index, scope, below).await
    }

    async fn close(&self) -> Result<()> {
        self.index.close().await
    }
}

#[async_trait]
impl VectorStore for ElasticVectors {
    fn space(&self) -> &EmbeddingSpace {
        &self.space
    }

    async fn incarnation(&self) -> Result<Incarnation> {
        self.index.incarnation().await
    }

    async fn put(&self, scope: &Scope, entries: &[VectorEntry], visibility: Visibility) -> Result<Vec<Rejected>> {
        let (incoming, mut rejected) = Rejected::split(entries, |entry| {
            self.check(entry).and_then(|()| entry::document(scope, entry)).map_err(Rejected::of(&entry.item))
        });
        rejected.extend(put::put(&self.index, scope, incoming, visibility).await?);
        Ok(rejected)
    }

    async fn flush(&self) -> Result<()> {
        self.index.flush().await
    }

    async fn search(&self, scope: &Scope, query: &VectorQuery) -> Result<Vec<VectorHit>> {
        self.space.check(&query.space)?;
        self.space.check_vector(&query.vector)?;
        if query.limit == 0 {
            return Err(Error::invalid("a search returns at least one hit"));
        }
        let _call = self.index.elastic.enter().await?;
        search::search(&self.index, scope, query).await
    }

    async fn versions(&self, scope: &Scope, items: &[ItemId]) -> Result<Vec<(ItemId, Version)>> {
        delete::versions(&self.index, scope, items).await
    }

    async fn scan(&self, scope: &Scope, after: Option<&ItemId>, limit: usize) -> Result<Vec<(ItemId, Version)>> {
        scan::scan(&self.index, scope, after, limit).await
    }

    async fn delete(&self, scope: &Scope, what: &Deletion) -> Result<()> {
        delete::delete(&self.index, scope, what).await
    }

    async fn clear(&self, scope: &Scope) -> Result<()> {
        delete::clear(&self.index, scope).await
    }
}
