//! The nearest items of a scan, before their fields are read: each at its nearest vector.

use memory_core::posting::Candidate;
use memory_core::store::vectors::VectorQuery;
use memory_core::vector::Similarity;

use super::block::{Block, Head, Sought};

/// The nearest items of a scan, in no order.
#[derive(Debug, Default)]
pub(super) struct Near {
    /// Their scores are similarities, their places those in `found`.
    pub(super) candidates: Vec<Candidate>,
    pub(super) found: Vec<Found>,
    /// Whether these are all items that the query's floor lets pass.
    pub(super) is_all: bool,
}

/// What is known of an item that was found.
#[derive(Debug)]
pub(super) struct Found {
    /// The number of its nearest vector.
    pub(super) piece: u32,
    /// That vector, if the query asks for it.
    pub(super) vector: Option<Vec<f32>>,
}

/// Keeps the nearest items, and all that tie with the last of them.
#[derive(Debug)]
pub(super) struct Nearest {
    most: usize,
    least: f32,
    with_vectors: bool,
    near: Near,
    similarities: Vec<Similarity>,
}

impl Nearest {
    /// Begins a scan for the `most` nearest items of a query, whatever its filter and limit say.
    pub(super) fn new(query: &VectorQuery, most: usize) -> Self {
        let VectorQuery { space: _, vector: _, filter: _, limit: _, floor, with_vectors } = query;
        let least = floor.map_or(-1.0, Similarity::value);
        let near = Near { is_all: true, ..Near::default() };
        Self { most: most.max(1), least, with_vectors: *with_vectors, near, similarities: Vec::new() }
    }

    /// Offers all items of a block.
    pub(super) fn offer(&mut self, block: &Block, sought: &Sought) {
        block.similarities(sought, &mut self.similarities);
        let (mut first, similarities) = (0, std::mem::take(&mut self.similarities));
        for Head { item, at, pieces } in &block.heads {
            let of_item = similarities.get(first..first + pieces).unwrap_or_default();
            let nearer = |best: Option<(usize, f32)>, (piece, similarity): (usize, &Similarity)| match best {
                Some((_, best)) if best >= similarity.value() => None,
                _ => Some((piece, similarity.value())),
            };
            let best = of_item.iter().enumerate().fold(None, |best, next| nearer(best, next).or(best));
            if let Some((piece, score)) = best.filter(|(_, score)| *score >= self.least) {
                let place = self.near.found.len();
                self.near.candidates.push(Candidate { score, at: *at, item: *item, place });
                let vector = if self.with_vectors { block.numbers(first + piece) } else { None };
                self.near.found.push(Found { piece: piece as u32, vector });
            }
            first += pieces;
        }
        self.similarities = similarities;
        // Only at twice as many, so that the cost of an item does not depend on how many are kept.
        if self.near.candidates.len() >= self.most.saturating_mul(2).saturating_add(64) {
            self.cut();
        }
    }

    /// Adds what another scan of the same query has found.
    pub(super) fn join(&mut self, other: Self) {
        let before = self.near.found.len();
        let moved = |candidate: Candidate| Candidate { place: candidate.place + before, ..candidate };
        self.near.candidates.extend(other.near.candidates.into_iter().map(moved));
        self.near.found.extend(other.near.found);
        self.near.is_all &= other.near.is_all;
    }

    /// Returns the nearest items.
    pub(super) fn finish(mut self) -> Near {
        self.cut();
        self.near
    }

    /// Drops what is beyond the limit, and raises the least similarity to keep.
    fn cut(&mut self) {
        let Near { candidates, found, is_all } = &mut self.near;
        if candidates.len() <= self.most {
            return;
        }
        let (_, last, _) = candidates.select_nth_unstable_by(self.most - 1, |a, b| b.cmp(a));
        let (last, before) = (*last, candidates.len());
        candidates.retain(|candidate| *candidate >= last);
        if candidates.len() == before {
            return;
        }
        (self.least, *is_all) = (last.score, false);
        let mut kept = Vec::with_capacity(candidates.len());
        for candidate in candidates {
            let taken = found.get_mut(candidate.place).map(|found| (found.piece, found.vector.take()));
            candidate.place = kept.len();
            kept.extend(taken.map(|(piece, vector)| Found { piece, vector }));
        }
        *found = kept;
    }
}
