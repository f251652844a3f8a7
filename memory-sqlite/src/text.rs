//! The text store over a database file.

mod entry;
mod search;
mod segment;
mod shape;
mod statistics;
mod tail;
mod write;

#[cfg(test)]
mod tests;

use std::sync::Arc;

use async_trait::async_trait;
use memory_core::store::{Erased, Health, Store};
use memory_core::text::{Deletion, Rejected, TextEntry, TextHits, TextQuery, TextStore, Visibility};
use memory_core::{Epoch, Error, Result, Scope};

use crate::client::Sqlite;
use crate::error::BACKEND;
use crate::index::erase;

use shape::Shape;

/// A [`TextStore`] in a SQLite file.
///
/// Each owner has posting lists of its own, so neither what a search costs nor what it finds depends on other owners.
/// Several analyses may share a file. What is put is findable when the call returns.
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
        Self {
            file: file.clone(),
            analysis: analysis.into(),
            name: format!("text/{analysis}").into(),
            shape: Shape::default(),
        }
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
        let (owner, name) = (scope.clone(), Arc::clone(&self.name));
        let work = self.file.write("erase the owner's texts", move |connection| {
            Box::pin(async move { write::erase(connection, &owner, &name, below).await })
        });
        let removed = work.await?;
        erase::finish(&self.file, scope, &self.name, below, removed).await
    }
}

#[async_trait]
impl TextStore for SqliteText {
    fn analysis(&self) -> &str {
        &self.analysis
    }

    async fn put(&self, scope: &Scope, entries: &[TextEntry], _visibility: Visibility) -> Result<Vec<Rejected>> {
        let (mut prepared, mut rejected) = (Vec::with_capacity(entries.len()), Vec::new());
        for entry in entries {
            match entry::prepare(entry) {
                Ok(entry) => prepared.push(entry),
                Err(refusal) => rejected.push(refusal),
            }
        }
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
        let (scope, name, query) = (scope.clone(), Arc::clone(&self.name), query.clone());
        let work = self.file.snapshot("search texts", move |connection| {
            Box::pin(async move { search::search(connection, &scope, &name, &query).await })
        });
        work.await
    }

    async fn delete(&self, scope: &Scope, what: &Deletion) -> Result<()> {
        if matches!(what, Deletion::Items(items) if items.is_empty()) {
            return Ok(());
        }
        let (scope, name, what) = (scope.clone(), Arc::clone(&self.name), what.clone());
        let work = self.file.write("delete texts", move |connection| {
            Box::pin(async move { write::delete(connection, &scope, &name, &what).await })
        });
        work.await
    }
}
