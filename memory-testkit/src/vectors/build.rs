//! Builders of entries and queries for the scenarios of vector stores.

use memory_core::store::text::Visibility;
use memory_core::store::vectors::{VectorEntry, VectorHit, VectorQuery};
use memory_core::{Epoch, Filter, ItemId, Result, Scope, Timestamp};

use crate::text::build::{plain_fields, revision};
use crate::{Scene, Vectors, equal};

/// Returns the vector of the beds' dimension that points along axis `first` and a little along the next one.
pub(crate) fn toward(first: usize, slant: f32) -> Vec<f32> {
    let mut vector = vec![0.0; 8];
    for (axis, part) in [(first, 1.0), (first + 1, slant)] {
        if let Some(number) = vector.get_mut(axis % 8) {
            *number = part;
        }
    }
    vector
}

/// Returns an entry of the first revision with these pieces.
pub(crate) fn entry(item: ItemId, pieces: Vec<Vec<f32>>) -> VectorEntry {
    let fields = plain_fields(item.unit(), 0);
    VectorEntry { item, version: revision(1), pieces, fields }
}

/// Changes an entry in short words.
pub(crate) trait Change {
    /// Sets the revision.
    fn at_revision(self, number: u64) -> Self;
    /// Sets the epoch.
    fn in_epoch(self, number: u64) -> Self;
    /// Sets the time.
    fn said_at(self, micros: i64) -> Self;
    /// Adds a tag.
    fn tagged(self, tag: &str) -> Self;
}

impl Change for VectorEntry {
    fn at_revision(mut self, number: u64) -> Self {
        self.version.revision = number;
        self
    }

    fn in_epoch(mut self, number: u64) -> Self {
        self.version.epoch = Epoch(number);
        self
    }

    fn said_at(mut self, micros: i64) -> Self {
        self.fields.at = Timestamp(micros);
        self
    }

    fn tagged(mut self, tag: &str) -> Self {
        self.fields.tags.push(tag.to_owned());
        self
    }
}

/// Returns the question for up to 100 items near `vector` in the space of `store`.
pub(crate) fn query(store: &Vectors, vector: Vec<f32>) -> VectorQuery {
    let space = store.space().clone();
    VectorQuery { space, vector, filter: Filter::All, limit: 100, floor: None, with_vectors: false }
}

/// Puts entries that a store has no reason to refuse, findable on return.
pub(crate) async fn put(store: &Vectors, scope: &Scope, entries: &[VectorEntry]) -> Scene {
    let rejected = store.put(scope, entries, Visibility::OnReturn).await?;
    equal(rejected.len(), 0)
}

/// Returns the items near `vector`, nearest first.
pub(crate) async fn find(store: &Vectors, scope: &Scope, vector: Vec<f32>) -> Result<Vec<ItemId>> {
    Ok(items(&store.search(scope, &query(store, vector)).await?))
}

/// Returns the items of the hits, nearest first.
pub(crate) fn items(hits: &[VectorHit]) -> Vec<ItemId> {
    hits.iter().map(|hit| hit.item.clone()).collect()
}
