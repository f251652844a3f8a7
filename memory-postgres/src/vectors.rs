//! The vector store over a database.

mod approximate;
mod asked;
mod erase;
mod exact;
mod hits;
mod own_index;
mod pieces;
mod table;
mod write;

use std::sync::Arc;

use async_trait::async_trait;
use memory_core::store::text::{Deletion, Rejected, Visibility};
use memory_core::store::upkeep::Incarnation;
use memory_core::store::vectors::{VectorEntry, VectorHit, VectorQuery, VectorStore};
use memory_core::store::{Erased, Health, Store};
use memory_core::vector::EmbeddingSpace;
use memory_core::{Epoch, Error, ItemId, Result, Scope, Version};

use crate::client::{Call, Postgres};
use crate::error::BACKEND;
use crate::index::{most, show};

use asked::Built;
use hits::Answer;
use own_index::{Large, OwnIndexes};
use pieces::Sought;
use table::Table;

const SEARCH: &str = "search vectors";
const INCARNATION: &str = "read the incarnation of an index";

/// A [`VectorStore`] in a PostgreSQL database with the extension pgvector.
///
/// Several spaces may share a database, each with its own table. What is put is findable when the call returns.
///
/// For an owner with up to 20,000 vectors (by default) a search compares them all, so it is exact. For a larger owner an HNSW
/// index over `halfvec` is built in the background. Once it is ready, a search takes candidates from it and compares these
/// exactly. If it finds fewer than were asked for, it compares all vectors.
///
/// At most 32 owners of a space have such an index, because every statement locks all of them. An owner with twice as many
/// vectors replaces the one with the fewest. For other owners a search compares all vectors.
#[derive(Clone, Debug)]
pub struct PgVectors {
    database: Postgres,
    table: Arc<Table>,
    exact_below: i64,
    indexes: OwnIndexes,
}

impl PgVectors {
    /// Returns the vector store of `space`, whose table is made if it is missing.
    ///
    /// # Errors
    /// `Unsupported` if the database lacks pgvector and cannot be given it; `SpaceMismatch` if its table belongs to
    /// another space; `Backend` if the server fails.
    pub async fn open(database: &Postgres, space: EmbeddingSpace) -> Result<Self> {
        let table = database.run(Call::transaction("open a space of vectors").long(), space, |connection, space| {
            Box::pin(table::open(connection, space))
        });
        let table = Arc::new(table.await?);
        let indexes = OwnIndexes::new(database, &table);
        Ok(Self { database: database.clone(), table, exact_below: 20_000, indexes })
    }

    /// Sets up to how many vectors of an owner a search compares all of them. Default 20,000.
    #[must_use]
    pub fn with_exact_below(mut self, vectors: u64) -> Self {
        self.exact_below = i64::try_from(vectors).unwrap_or(i64::MAX);
        self
    }

    /// Builds the owner's own index now, instead of in the background, and returns whether it has one. It has none if it has no
    /// vectors, if 32 other owners have about as many, or if the space has more dimensions than an index supports.
    ///
    /// # Errors
    /// `Unsupported` if the role may not make indexes; `Backend` if the server fails.
    pub async fn build_index(&self, scope: &Scope) -> Result<bool> {
        let input = (scope.clone(), Arc::clone(&self.table));
        let owner = self.database.run(Call::transaction("find the owner's vectors"), input, |connection, input| {
            Box::pin(async move {
                let (scope, table) = input;
                show(connection, scope).await?;
                crate::index::owner::number(connection, scope, &table.name).await
            })
        });
        match owner.await? {
            Some(id) => Ok(self.indexes.build(&Large { scope: scope.clone(), id, rows: 0 }).await? == Built::Stands),
            None => Ok(false),
        }
    }
}

#[async_trait]
impl Store for PgVectors {
    fn backend(&self) -> &'static str {
        BACKEND
    }

    async fn ping(&self) -> Result<Health> {
        self.database.ping().await
    }

    async fn close(&self) -> Result<()> {
        self.database.close().await;
        Ok(())
    }

    async fn erase(&self, scope: &Scope, below: Epoch) -> Result<Erased> {
        erase::erase(&self.database, &self.table, &self.indexes, self.exact_below, scope, below).await
    }
}

#[async_trait]
impl VectorStore for PgVectors {
    fn space(&self) -> &EmbeddingSpace {
        &self.table.space
    }

    async fn incarnation(&self) -> Result<Incarnation> {
        let space = self.table.space.clone();
        let read = self.database.run(Call::transaction(INCARNATION), space, |connection, space| {
            Box::pin(table::incarnation(connection, space))
        });
        read.await
    }

    async fn put(&self, scope: &Scope, entries: &[VectorEntry], _visibility: Visibility) -> Result<Vec<Rejected>> {
        let (prepared, rejected) = Rejected::split(entries, |entry| {
            write::prepare(&self.table.space, entry).map_err(Rejected::of(&entry.item))
        });
        if prepared.is_empty() {
            return Ok(rejected);
        }
        let rows = prepared.iter().map(|entry| entry.content.len()).sum();
        let call = Call::transaction("put vectors").rows(rows);
        let input = (scope.clone(), Arc::clone(&self.table), prepared);
        let put = self.database.run(call, input, |connection, input| {
            let (scope, table, entries) = input;
            Box::pin(write::put(connection, scope, table, entries))
        });
        let (id, rows) = put.await?;
        if rows > self.exact_below {
            self.indexes.ensure(Large { scope: scope.clone(), id, rows });
        }
        Ok(rejected)
    }

    async fn flush(&self) -> Result<()> {
        Ok(())
    }

    async fn search(&self, scope: &Scope, query: &VectorQuery) -> Result<Vec<VectorHit>> {
        self.table.space.check(&query.space)?;
        self.table.space.check_vector(&query.vector)?;
        if query.limit == 0 {
            return Err(Error::invalid("a search returns at least 1 result"));
        }
        let input = Arc::new((scope.clone(), Arc::clone(&self.table), query.clone(), self.exact_below));
        let first = self.database.run(Call::statement(SEARCH), Arc::clone(&input), |connection, input| {
            Box::pin(async move {
                let (scope, table, query, exact_below) = input.as_ref();
                hits::first(connection, &Sought::new(scope, table, query)?, *exact_below).await
            })
        });
        let Answer { hits, is_done, unindexed } = first.await?;
        if let Some((id, rows)) = unindexed {
            self.indexes.ensure(Large { scope: scope.clone(), id, rows });
        }
        if is_done {
            return Ok(hits);
        }
        let further = self.database.run(Call::snapshot(SEARCH), input, |connection, input| {
            Box::pin(async move {
                let (scope, table, query, exact_below) = input.as_ref();
                hits::further(connection, &Sought::new(scope, table, query)?, *exact_below).await
            })
        });
        further.await
    }

    async fn versions(&self, scope: &Scope, items: &[ItemId]) -> Result<Vec<(ItemId, Version)>> {
        let input = (scope.clone(), Arc::clone(&self.table), items.to_vec());
        let versions = self.database.run(Call::snapshot("read versions"), input, |connection, input| {
            Box::pin(async move {
                let (scope, table, items) = input;
                show(connection, scope).await?;
                write::versions(connection, scope, table, items).await
            })
        });
        versions.await
    }

    async fn scan(&self, scope: &Scope, after: Option<&ItemId>, limit: usize) -> Result<Vec<(ItemId, Version)>> {
        let input = (scope.clone(), Arc::clone(&self.table), after.cloned(), i64::try_from(limit).unwrap_or(i64::MAX));
        let scan = self.database.run(Call::snapshot("list vectors"), input, |connection, input| {
            Box::pin(async move {
                let (scope, table, after, limit) = input;
                show(connection, scope).await?;
                write::scan(connection, scope, table, after.as_ref(), *limit).await
            })
        });
        scan.await
    }

    async fn delete(&self, scope: &Scope, what: &Deletion) -> Result<()> {
        let most = most(what);
        if most == 0 {
            return Ok(());
        }
        let call = Call::transaction("delete vectors").rows(most);
        let input = (scope.clone(), Arc::clone(&self.table), what.clone());
        let delete = self.database.run(call, input, |connection, input| {
            let (scope, table, what) = input;
            Box::pin(write::delete(connection, scope, table, what))
        });
        if let Some(shrunk) = delete.await?.filter(|shrunk| shrunk.is_below(self.exact_below)) {
            self.indexes.tidy(shrunk.owner).await;
        }
        Ok(())
    }

    async fn clear(&self, scope: &Scope) -> Result<()> {
        erase::clear(&self.database, &self.table, &self.indexes, scope).await
    }
}
