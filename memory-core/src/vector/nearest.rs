//! The nearest items of a scan, in a bounded list, however many rows it reads.

use std::cmp::{Ordering, Reverse};

use crate::filter::Filter;
use crate::vector::Similarity;

use super::entries::{Entries, Entry};

/// A piece that may be a hit.
#[derive(Clone, Copy, Debug)]
pub(super) struct ScoredPiece {
    pub(super) similarity: f32,
    pub(super) slot: usize,
    pub(super) piece: u32,
}

/// Keeps the nearest items that match a filter, each at its nearest piece.
///
/// The filter is applied only to pieces that would be kept; the result is the same as filtering first.
#[derive(Debug)]
pub(super) struct Nearest<'a> {
    entries: &'a Entries,
    filter: &'a Filter,
    limit: usize,
    /// The best pieces so far, and some more.
    found: Vec<ScoredPiece>,
    /// The least product that may still be kept.
    least: f32,
}

impl<'a> Nearest<'a> {
    pub(super) fn new(entries: &'a Entries, filter: &'a Filter, limit: usize, floor: Option<Similarity>) -> Self {
        let least = floor.map_or(-1.0, Similarity::value);
        Self { entries, filter, limit: limit.max(1), found: Vec::new(), least }
    }

    /// Returns how many items are kept.
    pub(super) fn limit(&self) -> usize {
        self.limit
    }

    /// Returns whether a row with this product may be kept.
    #[inline(always)]
    pub(super) fn admits(&self, product: f32) -> bool {
        cosine(product) >= self.least
    }

    /// Offers a row with its scalar product.
    pub(super) fn offer(&mut self, row: usize, product: f32) {
        let similarity = cosine(product);
        let Some((slot, piece, entry)) = self.entries.holder(row) else { return };
        if similarity < self.least || !self.filter.matches(&entry.fields) {
            return;
        }
        self.found.push(ScoredPiece { similarity, slot, piece });
        // Cut only at twice the limit, so that the cost of a row does not depend on the limit.
        if self.found.len() >= self.limit.saturating_mul(2).saturating_add(64) {
            self.cut();
        }
    }

    /// Drops what is beyond the limit, and raises the least product to keep.
    pub(super) fn cut(&mut self) {
        if self.entries.has_pieces() {
            self.found.sort_unstable_by(|a, b| a.slot.cmp(&b.slot).then_with(|| by_piece(a, b)));
            self.found.dedup_by_key(|found| found.slot);
        }
        if self.found.len() < self.limit {
            return;
        }
        let entries = self.entries;
        let (_, last, _) = self.found.select_nth_unstable_by(self.limit - 1, |a, b| order(entries, a, b));
        self.least = last.similarity;
        self.found.truncate(self.limit);
    }

    /// Returns the nearest items, nearest first, ties by newer `at`, then by item.
    pub(super) fn into_sorted(mut self) -> Vec<ScoredPiece> {
        self.cut();
        let entries = self.entries;
        self.found.sort_unstable_by(|a, b| order(entries, a, b));
        self.found
    }
}

/// Returns a scalar product of unit vectors as a cosine; -0.0 becomes 0.0, so that they tie.
#[inline(always)]
fn cosine(product: f32) -> f32 {
    product.clamp(-1.0, 1.0) + 0.0
}

/// Orders the pieces of an item: the nearest first, ties by piece.
fn by_piece(a: &ScoredPiece, b: &ScoredPiece) -> Ordering {
    b.similarity.total_cmp(&a.similarity).then_with(|| a.piece.cmp(&b.piece))
}

fn order(entries: &Entries, a: &ScoredPiece, b: &ScoredPiece) -> Ordering {
    let rest =
        |found: &ScoredPiece| entries.entry(found.slot).map(|Entry { item, fields, .. }| (Reverse(fields.at), item));
    b.similarity.total_cmp(&a.similarity).then_with(|| rest(a).cmp(&rest(b)))
}
