//! The text store over a database.

mod entry;
mod erase;
mod items;
mod search;
mod segment;
mod select;
mod statistics;
mod tail;
mod write;

use std::sync::Arc;

use async_trait::async_trait;
use memory_core::posting::Shape;
use memory_core::store::text::{Deletion, Rejected, TextEntry, TextHits, TextQuery, TextStore, Visibility};
use memory_core::store::upkeep::Incarnation;
use memory_core::store::{Erased, Health, Store};
use memory_core::{Epoch, Error, ItemId, Result, Scope, Version};

use crate::client::{Call, Postgres};
use crate::error::BACKEND;
use crate::index::{corrupt, most, place, show};

/// The sizes of an index.
const SHAPE: Shape = Shape::of_segments(512);

const SEARCH: &str = "search texts";

/// A [`TextStore`] in a PostgreSQL database.
///
/// Each owner has its own posting lists, so neither the cost nor the result of a search depends on other owners. Several
/// analyses may share a database. What is put is findable when the call returns.
#[derive(Clone, Debug)]
pub struct PgText {
    database: Postgres,
    analysis: Arc<str>,
    /// The index's name in the tables.
    name: Arc<str>,
    shape: Shape,
}

impl PgText {
    /// Returns the text store of the terms that `analysis` makes.
    pub fn new(database: &Postgres, analysis: &str) -> Self {
        let name = format!("text/{analysis}").into();
        Self { database: database.clone(), analysis: analysis.into(), name, shape: SHAPE }
    }

    /// Sets how many bytes of terms an owner's tail may have before all but its last quarter is folded into posting lists,
    /// and how many documents a segment holds. Default 256 KiB and 512.
    ///
    /// A search reads the whole tail; putting a document again is cheap while it is in the tail.
    #[must_use]
    pub fn with_folding(mut self, tail: u64, documents: usize) -> Self {
        let tail = i64::try_from(tail).unwrap_or(i64::MAX);
        self.shape = Shape { tail, kept: tail / 4, documents: documents.max(1), ..self.shape };
        self
    }
}

#[async_trait]
impl Store for PgText {
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
        erase::erase(&self.database, &self.name, scope, below).await
    }
}

#[async_trait]
impl TextStore for PgText {
    fn analysis(&self) -> &str {
        &self.analysis
    }

    async fn incarnation(&self) -> Result<Incarnation> {
        place::incarnation(&self.database, &self.name).await
    }

    async fn put(&self, scope: &Scope, entries: &[TextEntry], _visibility: Visibility) -> Result<Vec<Rejected>> {
        let (prepared, rejected) = Rejected::split(entries, entry::prepare);
        if !prepared.is_empty() {
            let call = Call::transaction("put texts").rows(prepared.len());
            let input = (scope.clone(), Arc::clone(&self.name), self.shape, prepared);
            let put = self.database.run(call, input, |connection, input| {
                let (scope, name, shape, entries) = input;
                Box::pin(write::put(connection, scope, name, *shape, entries))
            });
            put.await?;
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
        let input = Arc::new((scope.clone(), Arc::clone(&self.name), query.clone()));
        // First without a transaction, which saves two round trips; then in a snapshot, if somebody wrote in between.
        for call in [Call::statement(SEARCH), Call::snapshot(SEARCH)] {
            let search = self.database.run(call, Arc::clone(&input), |connection, input| {
                let (scope, name, query) = input.as_ref();
                Box::pin(search::search(connection, scope, name, query))
            });
            if let Some(hits) = search.await? {
                return Ok(hits);
            }
        }
        Err(corrupt("a state that does not change has changed"))
    }

    async fn versions(&self, scope: &Scope, items: &[ItemId]) -> Result<Vec<(ItemId, Version)>> {
        let input = (scope.clone(), Arc::clone(&self.name), items.to_vec());
        let versions = self.database.run(Call::snapshot("read versions"), input, |connection, input| {
            Box::pin(async move {
                let (scope, name, items) = input;
                show(connection, scope).await?;
                items::versions(connection, scope, name, items).await
            })
        });
        versions.await
    }

    async fn scan(&self, scope: &Scope, after: Option<&ItemId>, limit: usize) -> Result<Vec<(ItemId, Version)>> {
        let input = (scope.clone(), Arc::clone(&self.name), after.cloned(), i64::try_from(limit).unwrap_or(i64::MAX));
        let scan = self.database.run(Call::snapshot("list texts"), input, |connection, input| {
            Box::pin(async move {
                let (scope, name, after, limit) = input;
                show(connection, scope).await?;
                items::scan(connection, scope, name, after.as_ref(), *limit).await
            })
        });
        scan.await
    }

    async fn delete(&self, scope: &Scope, what: &Deletion) -> Result<()> {
        let most = most(what);
        if most == 0 {
            return Ok(());
        }
        let call = Call::transaction("delete texts").rows(most);
        let input = (scope.clone(), Arc::clone(&self.name), what.clone());
        let delete = self
            .database
            .run(call, input, |connection, (scope, name, what)| Box::pin(write::delete(connection, scope, name, what)));
        delete.await
    }

    async fn clear(&self, scope: &Scope) -> Result<()> {
        erase::clear(&self.database, &self.name, scope).await
    }
}
