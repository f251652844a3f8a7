//! The in-process vector index.

#[cfg(test)]
mod tests;

use std::sync::Arc;

use async_trait::async_trait;

use super::in_process;
use super::owners::{Owned, Owners};
use super::page::first_after;
use crate::error::{Error, Result};
use crate::fields::Fields;
use crate::id::{ItemId, SessionId, Unit, Version};
use crate::scope::{Epoch, Scope};
use crate::store::text::{Deletion, Rejected, Visibility};
use crate::store::upkeep::Incarnation;
use crate::store::vectors::{VectorEntry, VectorHit, VectorQuery, VectorStore};
use crate::vector::{EmbeddingSpace, Partition, normalise};

/// A vector index in this process. A search scans all vectors of its owner, and no others.
///
/// Owners do not wait for each other, and the searches of one owner run in parallel.
#[derive(Debug)]
pub struct MemVectors {
    space: EmbeddingSpace,
    is_quantised: bool,
    incarnation: Incarnation,
    owners: Owners<Vectors>,
}

/// The index of one owner.
struct Vectors {
    /// The present epoch; what was written in an earlier one is erased.
    below: Epoch,
    partition: Partition,
}

impl MemVectors {
    /// Returns an empty index for vectors of `space`.
    pub fn new(space: EmbeddingSpace) -> Self {
        Self { space, is_quantised: true, incarnation: Incarnation::draw(), owners: Owners::new() }
    }

    /// Sets whether 8-bit codes are kept too ([`Partition::with_quantised`]): searches find the same faster, and memory grows
    /// by a quarter. Default true. Call it before the first put.
    #[must_use]
    pub fn with_quantised(mut self, is_quantised: bool) -> Self {
        self.is_quantised = is_quantised;
        self
    }

    fn check(&self, entry: &VectorEntry) -> Result<Vec<f32>> {
        if entry.pieces.is_empty() {
            return Err(Error::invalid("an entry has at least one vector"));
        }
        let mut numbers = Vec::with_capacity(entry.pieces.len() * self.space.dimension);
        for piece in &entry.pieces {
            self.space.check_vector(piece)?;
            numbers.extend(normalise(piece).unwrap_or_default());
        }
        Ok(numbers)
    }

    fn intern(&self, scope: &Scope) -> Arc<Owned<Vectors>> {
        self.owners.get_or_insert_with(scope, || {
            let partition = Partition::new(self.space.dimension);
            let partition = if self.is_quantised { partition.with_quantised() } else { partition };
            Vectors { below: Epoch::default(), partition }
        })
    }

    fn drop_below(&self, scope: &Scope, below: Epoch) -> Result<usize> {
        Ok(self.intern(scope).write().erase(below))
    }
}

in_process!(MemVectors);

impl Vectors {
    /// Puts a checked entry, unless it is of an erased epoch or its item has a newer one.
    fn put(&mut self, entry: &VectorEntry, pieces: &[f32]) {
        let VectorEntry { item, version, pieces: _, fields } = entry;
        let is_newer = self.partition.version(item).is_some_and(|stored| stored > *version);
        if version.epoch >= self.below && !is_newer {
            self.partition.put(item.clone(), *version, fields.clone(), pieces);
        }
    }

    fn delete(&mut self, what: &Deletion) {
        match what {
            Deletion::Items(items) => items.iter().for_each(|(item, through)| {
                if self.partition.version(item).is_some_and(|stored| stored <= *through) {
                    self.partition.delete(item);
                }
            }),
            Deletion::Session(session, through) => self.delete_session(session, *through),
        }
    }

    fn delete_session(&mut self, session: &SessionId, through: Version) {
        let is_of =
            |item: &ItemId, fields: &Fields| item.unit() != Unit::Record && fields.session.as_ref() == Some(session);
        self.delete_where(|item, version, fields| version <= through && is_of(item, fields));
    }

    /// Removes everything from before `below`, also what is put later; returns how many items there were.
    fn erase(&mut self, below: Epoch) -> usize {
        self.below = self.below.max(below);
        self.delete_where(|_, version, _| version.epoch < below)
    }

    fn delete_where(&mut self, is_meant: impl Fn(&ItemId, Version, &Fields) -> bool) -> usize {
        let items = self.partition.items().filter(|(item, version, fields)| is_meant(item, *version, fields));
        let meant: Vec<ItemId> = items.map(|(item, ..)| item.clone()).collect();
        meant.iter().filter(|item| self.partition.delete(item)).count()
    }
}

#[async_trait]
impl VectorStore for MemVectors {
    fn space(&self) -> &EmbeddingSpace {
        &self.space
    }

    async fn incarnation(&self) -> Result<Incarnation> {
        Ok(self.incarnation)
    }

    /// Puts entries. They are findable on return, whatever the visibility.
    async fn put(&self, scope: &Scope, entries: &[VectorEntry], _visibility: Visibility) -> Result<Vec<Rejected>> {
        let owner = self.intern(scope);
        let mut vectors = owner.write();
        let mut refused = Vec::new();
        for entry in entries {
            match self.check(entry) {
                Ok(pieces) => vectors.put(entry, &pieces),
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
        Ok(self.owners.get(scope).map(|owner| owner.read().partition.search(query)).unwrap_or_default())
    }

    async fn versions(&self, scope: &Scope, items: &[ItemId]) -> Result<Vec<(ItemId, Version)>> {
        let Some(owner) = self.owners.get(scope) else { return Ok(Vec::new()) };
        let owner = owner.read();
        Ok(items.iter().filter_map(|item| Some((item.clone(), owner.partition.version(item)?))).collect())
    }

    async fn scan(&self, scope: &Scope, after: Option<&ItemId>, limit: usize) -> Result<Vec<(ItemId, Version)>> {
        let Some(owner) = self.owners.get(scope) else { return Ok(Vec::new()) };
        let owner = owner.read();
        Ok(first_after(owner.partition.items().map(|(item, version, _)| (item, version)), after, limit))
    }

    async fn delete(&self, scope: &Scope, what: &Deletion) -> Result<()> {
        if let Some(owner) = self.owners.get(scope) {
            owner.write().delete(what);
        }
        Ok(())
    }

    async fn clear(&self, scope: &Scope) -> Result<()> {
        if let Some(owner) = self.owners.get(scope) {
            owner.write().delete_where(|_, _, _| true);
        }
        Ok(())
    }
}
