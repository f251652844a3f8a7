//! Search by meaning.

mod nearest;
mod partition;
#[cfg(test)]
mod tests;

use std::collections::HashMap;

use async_trait::async_trait;

use super::{BACKEND, Shared, erased, health};
use crate::error::{Error, Result};
use crate::scope::{Epoch, Scope};
use crate::store::{Erased, Health, Store};
use crate::text::{Deletion, Rejected, Visibility};
use crate::vector::{EmbeddingSpace, VectorEntry, VectorHit, VectorQuery, VectorStore};

use partition::Partition;

/// A vector index in this process: every vector of an owner is looked at, and nothing of other owners.
#[derive(Debug)]
pub struct MemVectors {
    space: EmbeddingSpace,
    owners: Shared<HashMap<Scope, Partition>>,
}

impl MemVectors {
    /// Returns an empty index for vectors of `space`.
    pub fn new(space: EmbeddingSpace) -> Self {
        Self { space, owners: Shared::default() }
    }

    fn check(&self, entry: &VectorEntry) -> Result<()> {
        if entry.pieces.is_empty() {
            return Err(Error::invalid("an entry has at least one vector"));
        }
        entry.pieces.iter().try_for_each(|piece| self.space.check_vector(piece))
    }
}

#[async_trait]
impl Store for MemVectors {
    fn backend(&self) -> &'static str {
        BACKEND
    }

    async fn ping(&self) -> Result<Health> {
        Ok(health())
    }

    async fn close(&self) -> Result<()> {
        Ok(())
    }

    async fn erase(&self, scope: &Scope, below: Epoch) -> Result<Erased> {
        let mut owners = self.owners.lock();
        Ok(erased(owners.entry(scope.clone()).or_default().erase(below)))
    }
}

#[async_trait]
impl VectorStore for MemVectors {
    fn space(&self) -> &EmbeddingSpace {
        &self.space
    }

    /// Every put is findable on return.
    async fn put(&self, scope: &Scope, entries: &[VectorEntry], _visibility: Visibility) -> Result<Vec<Rejected>> {
        let mut owners = self.owners.lock();
        let partition = owners.entry(scope.clone()).or_default();
        let mut refused = Vec::new();
        for entry in entries {
            match self.check(entry) {
                Ok(()) => partition.put(entry),
                Err(error) => refused.push(Rejected { item: entry.item.clone(), error }),
            }
        }
        Ok(refused)
    }

    async fn flush(&self) -> Result<()> {
        Ok(())
    }

    async fn search(&self, scope: &Scope, query: &VectorQuery) -> Result<Vec<VectorHit>> {
        self.space.check(&query.space)?;
        self.space.check_vector(&query.vector)?;
        if query.limit == 0 {
            return Err(Error::invalid("a search returns at least one hit"));
        }
        let owners = self.owners.lock();
        Ok(owners.get(scope).map(|partition| partition.search(query)).unwrap_or_default())
    }

    async fn delete(&self, scope: &Scope, what: &Deletion) -> Result<()> {
        let mut owners = self.owners.lock();
        let Some(partition) = owners.get_mut(scope) else { return Ok(()) };
        match what {
            Deletion::Items(items) => items.iter().for_each(|item| partition.delete(item)),
            Deletion::Session(session) => partition.delete_session(session),
        }
        Ok(())
    }
}
