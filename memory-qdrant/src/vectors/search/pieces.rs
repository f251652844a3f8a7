//! From candidates to hits: which of its pieces is the nearest.
//!
//! The server scores an item by its nearest piece but does not say which it is. Items of one piece need no question; the
//! pieces of the others are fetched and compared here, so many at once that no answer is long.

use std::collections::HashMap;

use ::qdrant_client::qdrant::{GetPoints, PointId};
use futures_util::{StreamExt as _, TryStreamExt as _, stream};
use memory_core::store::vectors::VectorHit;
use memory_core::{Error, Result};

use super::candidate::Candidate;
use crate::error::BACKEND;
use crate::point::pieces;
use crate::vectors::index::Index;

/// The most points and about the most bytes of one answer: the client would read one of any length.
const PAGE: usize = 256;
const PAGE_BYTES: u64 = 8 << 20;

/// About how many bytes a point takes beside its numbers.
const POINT_BYTES: u64 = 128;

/// How many answers of one search are under way at once.
const AT_ONCE: usize = 4;

/// Returns the hits that the candidates are, in their order.
pub(super) async fn hits(
    index: &Index,
    sought: &[f32],
    candidates: Vec<Candidate>,
    with_vectors: bool,
) -> Result<Vec<VectorHit>> {
    let mut places = if with_vectors { HashMap::new() } else { fetch(index, sought, &candidates).await? };
    let hits = candidates.into_iter().map(|candidate| {
        let Candidate { id, item, fields, similarity, epoch: _, count, pieces } = candidate;
        if with_vectors && pieces.is_empty() {
            return Err(Error::corrupt(BACKEND, "a point has no vector"));
        }
        // Without a place there is one piece alone, or the item was deleted meanwhile.
        let fetched = id.and_then(|id| places.remove(&id)).unwrap_or_default();
        let place = if with_vectors { nearest(sought, &pieces) } else { fetched };
        let piece = place.min(usize::try_from(count).unwrap_or(usize::MAX).saturating_sub(1));
        let vector = if with_vectors { pieces.into_iter().nth(piece) } else { None };
        Ok(VectorHit { item, piece: u32::try_from(piece).unwrap_or(u32::MAX), similarity, fields, vector })
    });
    hits.collect()
}

/// Returns the place of the nearest piece of those candidates that have several.
async fn fetch(index: &Index, sought: &[f32], candidates: &[Candidate]) -> Result<HashMap<PointId, usize>> {
    let several = candidates.iter().filter(|candidate| candidate.count > 1);
    let counted = several.filter_map(|candidate| Some((candidate.id.clone()?, candidate.count)));
    let pages = pages(counted.collect(), index.space.dimension);
    let requests = pages.into_iter().map(|ids| fetch_page(index, sought, ids));
    let fetched: Vec<Vec<(PointId, usize)>> = stream::iter(requests).buffer_unordered(AT_ONCE).try_collect().await?;
    Ok(fetched.into_iter().flatten().collect())
}

/// Returns the points with the places of their nearest pieces. The pieces themselves are kept no longer than the answer.
async fn fetch_page(index: &Index, sought: &[f32], ids: Vec<PointId>) -> Result<Vec<(PointId, usize)>> {
    let request = GetPoints {
        collection_name: index.collection.name.clone(),
        ids,
        with_payload: Some(false.into()),
        with_vectors: Some(true.into()),
        read_consistency: index.collection.reads(),
        ..GetPoints::default()
    };
    let points = index.server.get("fetch the pieces of items", request).await?;
    Ok(points.into_iter().filter_map(|point| Some((point.id?, nearest(sought, &pieces(point.vectors))))).collect())
}

/// Splits points, each with the count of its pieces, into parts that are small enough for one answer; a larger point has one of
/// its own.
fn pages(points: Vec<(PointId, u64)>, dimension: usize) -> Vec<Vec<PointId>> {
    let piece_bytes = dimension as u64 * 4;
    let (mut pages, mut page, mut bytes) = (Vec::new(), Vec::new(), 0u64);
    for (id, count) in points {
        let weight = count.saturating_mul(piece_bytes).saturating_add(POINT_BYTES);
        if !page.is_empty() && (page.len() == PAGE || bytes.saturating_add(weight) > PAGE_BYTES) {
            pages.push(std::mem::take(&mut page));
            bytes = 0;
        }
        bytes = bytes.saturating_add(weight);
        page.push(id);
    }
    if !page.is_empty() {
        pages.push(page);
    }
    pages
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

    #[test]
    fn answers_keep_their_bounds_whatever_the_points_weigh_and_lose_none() {
        let lengths = |counts: &[u64]| -> Vec<usize> {
            let points = (0u64..).zip(counts).map(|(number, count)| (PointId::from(number), *count));
            pages(points.collect(), 1_024).iter().map(Vec::len).collect()
        };
        assert_eq!(lengths(&[2; 600]), [256, 256, 88]);
        // 500 pieces are 2 MB.
        assert_eq!(lengths(&[500; 10]), [4, 4, 2]);
        assert_eq!(lengths(&[u64::MAX, 2, u64::MAX]), [1, 1, 1]);
        assert!(lengths(&[]).is_empty());
    }
}
