//! A partition: the vectors of one owner, and the exact search among them.

#[cfg(test)]
mod tests;

use crate::fields::Fields;
use crate::filter::Filter;
use crate::id::{ItemId, Version};
use crate::store::vectors::{VectorHit, VectorQuery};

use super::dot::dot;
use super::entries::{Entries, Entry, Holder};
use super::lanes::{LANES, Lanes};
use super::nearest::{Nearest, ScoredPiece};
use super::quantised::{Quantised, Sought};
use super::rows::{Rows, make_room};
use super::scan::{scan, scan_quantised};
use super::{Similarity, normalise};

/// From this many items on, a sample tells whether the filter lets most items pass.
const SAMPLED: usize = 256;

/// The size of the sample.
const SAMPLE: usize = 64;

/// The vectors of one owner in one contiguous table, for stores that search by a full scan.
///
/// A search is exact. The cost of a put or a delete does not depend on the number of items.
#[derive(Debug)]
pub struct Partition {
    dimension: usize,
    rows: Rows<Lanes>,
    quantised: Option<Quantised>,
    entries: Entries,
}

/// How many items pass a filter, estimated from a sample.
enum Passing {
    Few,
    Many,
    All,
}

impl Partition {
    /// Returns an empty partition for vectors of `dimension` numbers.
    pub fn new(dimension: usize) -> Self {
        Self { dimension, rows: Rows::new(dimension.div_ceil(LANES)), quantised: None, entries: Entries::default() }
    }

    /// Keeps 8-bit codes beside the full numbers. A search then reads a quarter of the bytes and finds the same, because it reads
    /// a row in full if the error of its codes may hide that it is near. Takes a quarter more memory.
    #[must_use]
    pub fn with_quantised(mut self) -> Self {
        let mut quantised = Quantised::new(self.dimension);
        for row in 0..self.rows.len() {
            quantised.push(&self.numbers(row));
        }
        self.quantised = Some(quantised);
        self
    }

    /// Returns how many items there are.
    pub fn len(&self) -> usize {
        self.entries.items.len()
    }

    /// Returns whether there are none.
    pub fn is_empty(&self) -> bool {
        self.entries.items.is_empty()
    }

    /// Returns about how many bytes it takes in memory.
    pub fn bytes(&self) -> usize {
        let entry = size_of::<Option<Entry>>() + size_of::<(ItemId, usize)>() + 64;
        let codes = self.quantised.as_ref().map_or(0, Quantised::bytes);
        self.rows.bytes()
            + codes
            + self.entries.holders.capacity() * size_of::<Holder>()
            + self.entries.slots.capacity() * entry
    }

    /// Returns the version of an item.
    pub fn version(&self, item: &ItemId) -> Option<Version> {
        Some(self.entries.entry(*self.entries.items.get(item)?)?.version)
    }

    /// Returns the items with their versions and fields, in no order.
    pub fn items(&self) -> impl Iterator<Item = (&ItemId, Version, &Fields)> {
        self.entries.slots.iter().flatten().map(|entry| (&entry.item, entry.version, &entry.fields))
    }

    /// Puts an item in place of its old entry. `pieces` are vectors of unit length, one after the other.
    pub fn put(&mut self, item: ItemId, version: Version, fields: Fields, pieces: &[f32]) {
        self.delete(&item);
        let slot = self.entries.free.pop().unwrap_or(self.entries.slots.len());
        let mut rows = Vec::with_capacity(pieces.len() / self.dimension.max(1));
        for (piece, unit) in (0..).zip(pieces.chunks_exact(self.dimension.max(1))) {
            rows.push(self.entries.holders.len());
            make_room(&mut self.entries.holders, 1);
            self.entries.holders.push(Holder { slot, piece });
            self.rows.push(&Lanes::row(unit));
            if let Some(quantised) = &mut self.quantised {
                quantised.push(unit);
            }
        }
        self.entries.items.insert(item.clone(), slot);
        let entry = Some(Entry { item, version, fields, rows });
        match self.entries.slots.get_mut(slot) {
            Some(free) => *free = entry,
            None => {
                make_room(&mut self.entries.slots, 1);
                self.entries.slots.push(entry);
            }
        }
    }

    /// Deletes an item; returns whether there was one.
    pub fn delete(&mut self, item: &ItemId) -> bool {
        let Some(slot) = self.entries.items.remove(item) else { return false };
        while let Some(row) = self.entries.slots.get_mut(slot).and_then(|entry| entry.as_mut()?.rows.pop()) {
            self.remove_row(row);
        }
        if let Some(entry) = self.entries.slots.get_mut(slot) {
            *entry = None;
            self.entries.free.push(slot);
        }
        if self.entries.items.is_empty() {
            let empty = Self::new(self.dimension);
            *self = if self.quantised.is_some() { empty.with_quantised() } else { empty };
        }
        true
    }

    /// Removes a row that no entry refers to any more. The last row takes its place.
    fn remove_row(&mut self, row: usize) {
        self.rows.swap_remove(row);
        if let Some(quantised) = &mut self.quantised {
            quantised.swap_remove(row);
        }
        self.entries.holders.swap_remove(row);
        let Some(Holder { slot, piece }) = self.entries.holders.get(row).copied() else { return };
        let moved = self.entries.slots.get_mut(slot).and_then(|entry| entry.as_mut()?.rows.get_mut(piece as usize));
        if let Some(moved) = moved {
            *moved = row;
        }
    }

    /// Returns the hits of a query that was checked against the space: one per item, at its nearest piece; the nearest first,
    /// ties by newer `at`, then by item.
    pub fn search(&self, query: &VectorQuery) -> Vec<VectorHit> {
        let VectorQuery { space: _, vector, filter, limit, floor, with_vectors } = query;
        let unit = normalise(vector).filter(|unit| unit.len() == self.dimension);
        let Some(unit) = unit else { return Vec::new() };
        let sought = Lanes::row(&unit);
        let near = |filter: &Filter, limit: usize| {
            let mut nearest = Nearest::new(&self.entries, filter, limit, *floor);
            match &self.quantised {
                Some(codes) => scan_quantised(&self.rows, codes, (&sought, &Sought::new(&unit)), &mut nearest),
                None => scan(&self.rows, &sought, &mut nearest),
            }
            nearest.into_sorted()
        };
        let found = match self.passing(filter) {
            Passing::Few => {
                let mut nearest = Nearest::new(&self.entries, &Filter::All, *limit, *floor);
                self.offer_matching(filter, &sought, &mut nearest);
                nearest.into_sorted()
            }
            Passing::Many => near(filter, *limit),
            Passing::All => self.tried(filter, *limit, &near).unwrap_or_else(|| near(filter, *limit)),
        };
        found.into_iter().filter_map(|found| self.hit(found, *with_vectors)).collect()
    }

    /// Searches without the filter for a few more items than wanted, and filters these alone. None if too few of them match.
    fn tried(
        &self,
        filter: &Filter,
        limit: usize,
        near: &impl Fn(&Filter, usize) -> Vec<ScoredPiece>,
    ) -> Option<Vec<ScoredPiece>> {
        let more = limit.saturating_add(limit / 8).saturating_add(8);
        let mut found = near(&Filter::All, more);
        let is_everything = found.len() < more;
        found.retain(|found| self.entries.entry(found.slot).is_some_and(|entry| filter.matches(&entry.fields)));
        found.truncate(limit);
        (found.len() == limit || is_everything).then_some(found)
    }

    /// Estimates how many items pass. Skipped for a few hundred items, where it does not matter.
    fn passing(&self, filter: &Filter) -> Passing {
        if *filter == Filter::All || self.entries.slots.len() < SAMPLED {
            return Passing::Many;
        }
        let sample = self.entries.slots.iter().step_by(self.entries.slots.len() / SAMPLE).flatten();
        let (mut asked, mut matching) = (0, 0);
        for entry in sample {
            asked += 1;
            matching += usize::from(filter.matches(&entry.fields));
        }
        match matching {
            // Testing the fields of all items first saves more than it costs.
            few if few * 4 < asked => Passing::Few,
            all if all == asked => Passing::All,
            _ => Passing::Many,
        }
    }

    /// Offers the rows of items that match.
    fn offer_matching(&self, filter: &Filter, sought: &[Lanes], nearest: &mut Nearest<'_>) {
        for entry in self.entries.slots.iter().flatten().filter(|entry| filter.matches(&entry.fields)) {
            for row in &entry.rows {
                nearest.offer(*row, dot(sought, self.rows.stretch(*row, 1)));
            }
        }
    }

    fn hit(&self, found: ScoredPiece, with_vectors: bool) -> Option<VectorHit> {
        let ScoredPiece { similarity, slot, piece } = found;
        let Entry { item, fields, rows, version: _ } = self.entries.entry(slot)?;
        let row = *rows.get(piece as usize)?;
        let vector = with_vectors.then(|| self.numbers(row));
        let (item, fields) = (item.clone(), fields.clone());
        Some(VectorHit { item, piece, similarity: Similarity::new(similarity), fields, vector })
    }

    fn numbers(&self, row: usize) -> Vec<f32> {
        Lanes::numbers(self.rows.stretch(row, 1)).take(self.dimension).collect()
    }
}
