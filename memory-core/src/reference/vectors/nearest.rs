//! The scan over an owner's vectors.

use super::partition::{Holder, Partition};
use crate::reference::best::{Best, Candidate};
use crate::vector::{Similarity, VectorHit, VectorQuery, normalise};

/// Sums that run side by side, so that the compiler keeps them in vector registers.
const LANES: usize = 16;

/// An item's nearest piece.
#[derive(Clone, Copy)]
struct Nearest {
    similarity: f32,
    piece: u32,
}

/// Farther than anything: nothing was seen yet.
const NOTHING: Nearest = Nearest { similarity: -2.0, piece: 0 };

impl Partition {
    /// Returns the hits of a query that was checked, nearest first.
    pub(super) fn search(&self, query: &VectorQuery) -> Vec<VectorHit> {
        let VectorQuery { space: _, vector, filter, limit, floor, with_vectors } = query;
        let Some(sought) = normalise(vector) else { return Vec::new() };
        let nearest = self.nearest(&sought);
        let mut best = Best::new(*limit, filter);
        for (place, (entry, nearest)) in self.slots.iter().zip(&nearest).enumerate() {
            let score = nearest.similarity;
            let Some(entry) = entry.as_ref().filter(|_| floor.is_none_or(|floor| score >= floor.value())) else {
                continue;
            };
            best.offer(Candidate { score, item: &entry.item, fields: &entry.fields, place });
        }
        let hit = |candidate: Candidate<'_>| {
            let Candidate { score, item, fields, place } = candidate;
            let piece = nearest.get(place).map_or(0, |nearest| nearest.piece);
            let vector = with_vectors.then(|| self.vector(place, piece, sought.len()));
            VectorHit { item: item.clone(), piece, similarity: Similarity::new(score), fields: fields.clone(), vector }
        };
        best.into_sorted().map(hit).collect()
    }

    /// Returns the nearest piece of each slot; the first of pieces that are equally near.
    fn nearest(&self, sought: &[f32]) -> Vec<Nearest> {
        let mut nearest = vec![NOTHING; self.slots.len()];
        for (row, holder) in self.numbers.chunks_exact(sought.len().max(1)).zip(&self.holders) {
            // Adding zero makes -0.0 the same as 0.0, which tie.
            let similarity = Similarity::new(dot(sought, row)).value() + 0.0;
            let Holder { slot, piece } = *holder;
            let Some(kept) = nearest.get_mut(slot) else { continue };
            if similarity > kept.similarity || (similarity == kept.similarity && piece < kept.piece) {
                *kept = Nearest { similarity, piece };
            }
        }
        nearest
    }

    fn vector(&self, slot: usize, piece: u32, dimension: usize) -> Vec<f32> {
        let row = self.slots.get(slot).and_then(|entry| entry.as_ref()?.rows.get(piece as usize).copied());
        let numbers = row.and_then(|row| self.numbers.get(row * dimension..(row + 1) * dimension));
        numbers.unwrap_or_default().to_vec()
    }
}

/// Returns the scalar product. The order of the sums depends on the length alone, so equal vectors give equal numbers
/// wherever they stand.
pub(super) fn dot(a: &[f32], b: &[f32]) -> f32 {
    let (a, a_rest) = a.as_chunks::<LANES>();
    let (b, b_rest) = b.as_chunks::<LANES>();
    let mut sums = [0.0f32; LANES];
    for (a, b) in a.iter().zip(b) {
        for (sum, (a, b)) in sums.iter_mut().zip(a.iter().zip(b)) {
            *sum += a * b;
        }
    }
    let rest: f32 = a_rest.iter().zip(b_rest).map(|(a, b)| a * b).sum();
    sums.iter().sum::<f32>() + rest
}
