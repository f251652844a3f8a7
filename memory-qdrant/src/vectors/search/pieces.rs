//! From candidates to hits: which of its pieces is the nearest.
//!
//! The server scores an item by its nearest piece but does not say which it is. Items of one piece need no question; the
//! pieces of the others are fetched and compared here.

use std::collections::HashMap;

use ::qdrant_client::qdrant::{GetPoints, PointId};
use memory_core::store::vectors::VectorHit;
use memory_core::{Error, Result};

use super::candidate::Candidate;
use crate::error::BACKEND;
use crate::point::pieces;
use crate::vectors::index::Index;

/// How many points are fetched at once.
const PAGE: usize = 256;

/// Returns the hits that the candidates are, in their order.
pub(super) async fn hits(
    index: &Index,
    sought: &[f32],
    candidates: Vec<Candidate>,
    with_vectors: bool,
) -> Result<Vec<VectorHit>> {
    let mut fetched = if with_vectors { HashMap::new() } else { fetch(index, &candidates).await? };
    let hits = candidates.into_iter().map(|candidate| {
        let Candidate { id, item, fields, similarity, epoch: _, count, pieces } = candidate;
        let pieces = if with_vectors { pieces } else { id.and_then(|id| fetched.remove(&id)).unwrap_or_default() };
        if with_vectors && pieces.is_empty() {
            return Err(Error::corrupt(BACKEND, "a point has no vector"));
        }
        // Without pieces there is one alone, or the item was deleted meanwhile.
        let piece = nearest(sought, &pieces).min(usize::try_from(count).unwrap_or(usize::MAX).saturating_sub(1));
        let vector = if with_vectors { pieces.into_iter().nth(piece) } else { None };
        Ok(VectorHit { item, piece: u32::try_from(piece).unwrap_or(u32::MAX), similarity, fields, vector })
    });
    hits.collect()
}

/// Returns the pieces of those candidates that have several.
async fn fetch(index: &Index, candidates: &[Candidate]) -> Result<HashMap<PointId, Vec<Vec<f32>>>> {
    let several = candidates.iter().filter(|candidate| candidate.count > 1);
    let ids: Vec<PointId> = several.filter_map(|candidate| candidate.id.clone()).collect();
    let mut fetched = HashMap::new();
    for page in ids.chunks(PAGE) {
        let request = GetPoints {
            collection_name: index.collection.name.clone(),
            ids: page.to_vec(),
            with_payload: Some(false.into()),
            with_vectors: Some(true.into()),
            read_consistency: index.collection.reads(),
            ..GetPoints::default()
        };
        for point in index.server.get("fetch the pieces of items", request).await? {
            if let Some(id) = point.id {
                fetched.insert(id, pieces(point.vectors));
            }
        }
    }
    Ok(fetched)
}

/// Returns the place of the nearest piece, of equally near ones the first; 0 if there is none.
fn nearest(sought: &[f32], pieces: &[Vec<f32>]) -> usize {
    let near = |piece: &Vec<f32>| piece.iter().zip(sought).map(|(a, b)| f64::from(*a) * f64::from(*b)).sum::<f64>();
    let near = pieces.iter().map(near).enumerate();
    near.reduce(|best, next| if next.1 > best.1 { next } else { best }).map_or(0, |(place, _)| place)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_piece_is_the_first_of_equally_near_ones() {
        let piece = |x: f32, y: f32| vec![x, y];
        assert_eq!(nearest(&[1.0, 0.0], &[piece(0.0, 1.0), piece(1.0, 0.0), piece(1.0, 0.0)]), 1);
        assert_eq!(nearest(&[1.0, 0.0], &[piece(-1.0, 0.0)]), 0);
        assert_eq!(nearest(&[1.0, 0.0], &[]), 0);
    }
}
