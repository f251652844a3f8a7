//! The in-process text index.

mod postings;
mod search;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use async_trait::async_trait;

use super::in_process;
use super::owners::Owners;
use super::page::first_after;
use crate::error::{Error, Result};
use crate::id::{ItemId, SessionId, Unit, Version};
use crate::scope::{Epoch, Scope};
use crate::store::text::{Deletion, Rejected, TextEntry, TextHits, TextQuery, TextStore, Visibility};
use crate::store::upkeep::Incarnation;

use postings::{Document, Postings};

/// A text index in this process: posting lists per owner and unit.
///
/// The cost of a put or delete depends on its terms, not on the number of documents. Owners do not wait for each other, and
/// the searches of one owner run in parallel.
#[derive(Debug)]
pub struct MemText {
    analysis: String,
    incarnation: Incarnation,
    owners: Owners<Partition>,
}

/// The index of one owner.
#[derive(Debug, Default)]
struct Partition {
    /// The present epoch; what was written in an earlier one is erased.
    below: Epoch,
    units: BTreeMap<Unit, Postings>,
}

impl MemText {
    /// Returns an empty index for the terms of `analysis`.
    pub fn new(analysis: impl Into<String>) -> Self {
        Self { analysis: analysis.into(), incarnation: Incarnation::draw(), owners: Owners::new() }
    }

    fn drop_below(&self, scope: &Scope, below: Epoch) -> Result<usize> {
        let owned = self.owners.get_or_insert_with(scope, Partition::default);
        let mut partition = owned.write();
        partition.below = partition.below.max(below);
        let units = [Unit::Message, Unit::Record, Unit::Span];
        let removed = units.map(|unit| partition.delete_where(unit, |document| document.version.epoch < below));
        Ok(removed.iter().sum())
    }
}

in_process!(MemText);

impl Partition {
    fn put(&mut self, entry: &TextEntry) -> Result<()> {
        let TextEntry { item, version, own: _, near, fields: _ } = entry;
        if version.epoch < self.below {
            return Ok(());
        }
        if near.iter().any(|(_, count)| !count.is_finite() || *count < 0.0) {
            return Err(Error::invalid("a neighbour's count is no number from 0 on"));
        }
        self.units.entry(item.unit()).or_default().put(entry);
        Ok(())
    }

    fn version(&self, item: &ItemId) -> Option<Version> {
        self.units.get(&item.unit())?.version(item)
    }

    fn delete(&mut self, item: &ItemId, through: Version) {
        if let Some(postings) = self.units.get_mut(&item.unit())
            && postings.version(item).is_some_and(|stored| stored <= through)
        {
            postings.delete(item);
        }
    }

    fn delete_session(&mut self, session: &SessionId, through: Version) {
        for unit in [Unit::Message, Unit::Span] {
            self.delete_where(unit, |document| {
                document.fields.session.as_ref() == Some(session) && document.version <= through
            });
        }
    }

    fn delete_where(&mut self, unit: Unit, is_meant: impl Fn(&Document) -> bool) -> usize {
        let Some(postings) = self.units.get_mut(&unit) else { return 0 };
        let meant: Vec<ItemId> =
            postings.documents().filter(|document| is_meant(document)).map(|d| d.item.clone()).collect();
        meant.iter().for_each(|item| postings.delete(item));
        if postings.documents().next().is_none() {
            self.units.remove(&unit);
        }
        meant.len()
    }
}

#[async_trait]
impl TextStore for MemText {
    fn analysis(&self) -> &str {
        &self.analysis
    }

    async fn incarnation(&self) -> Result<Incarnation> {
        Ok(self.incarnation)
    }

    /// Puts entries. They are findable on return, whatever the visibility.
    async fn put(&self, scope: &Scope, entries: &[TextEntry], _visibility: Visibility) -> Result<Vec<Rejected>> {
        let owned = self.owners.get_or_insert_with(scope, Partition::default);
        let mut partition = owned.write();
        let refused = |entry: &TextEntry| {
            let error = partition.put(entry).err()?;
            Some(Rejected { item: entry.item.clone(), error })
        };
        Ok(entries.iter().filter_map(refused).collect())
    }

    async fn flush(&self) -> Result<()> {
        Ok(())
    }

    async fn search(&self, scope: &Scope, query: &TextQuery) -> Result<TextHits> {
        if query.limit == 0 {
            return Err(Error::invalid("a search returns at least one hit"));
        }
        let owned = self.owners.get(scope);
        let partition = owned.as_ref().map(|owned| owned.read());
        match partition.as_ref().and_then(|partition| partition.units.get(&query.unit)) {
            Some(postings) => Ok(postings.search(query)),
            None => Ok(Postings::default().search(query)),
        }
    }

    async fn versions(&self, scope: &Scope, items: &[ItemId]) -> Result<Vec<(ItemId, Version)>> {
        let Some(owned) = self.owners.get(scope) else { return Ok(Vec::new()) };
        let partition = owned.read();
        Ok(items.iter().filter_map(|item| Some((item.clone(), partition.version(item)?))).collect())
    }

    async fn scan(&self, scope: &Scope, after: Option<&ItemId>, limit: usize) -> Result<Vec<(ItemId, Version)>> {
        let Some(owned) = self.owners.get(scope) else { return Ok(Vec::new()) };
        let partition = owned.read();
        let documents = partition.units.values().flat_map(Postings::documents);
        Ok(first_after(documents.map(|document| (&document.item, document.version)), after, limit))
    }

    async fn delete(&self, scope: &Scope, what: &Deletion) -> Result<()> {
        let Some(owned) = self.owners.get(scope) else { return Ok(()) };
        let mut partition = owned.write();
        match what {
            Deletion::Items(items) => items.iter().for_each(|(item, through)| partition.delete(item, *through)),
            Deletion::Session(session, through) => partition.delete_session(session, *through),
        }
        Ok(())
    }

    async fn clear(&self, scope: &Scope) -> Result<()> {
        if let Some(owned) = self.owners.get(scope) {
            owned.write().units.clear();
        }
        Ok(())
    }
}
