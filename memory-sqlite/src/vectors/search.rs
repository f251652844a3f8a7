//! Searching a vector index: a scan of the owner's blocks.

use std::collections::{BTreeSet, HashMap};

use memory_core::vector::{Similarity, VectorHit, VectorQuery, normalise};
use memory_core::{Error, Result, Scope};
use sqlx::{Row, SqliteConnection};

use super::block::{Block, Pieces, visit};
use crate::error::Doing;
use crate::index::{Candidate, Chosen, Owner, best};

/// Reads the next blocks of an owner.
pub(super) const SCAN: &str =
    "SELECT block, vectors FROM vector_block WHERE owner = ? AND block > ? ORDER BY block LIMIT 64";

const DOING: &str = "scan the vectors";

/// How many numbers are multiplied side by side.
const LANES: usize = 16;

/// Returns the hits of a query of one owner.
pub(super) async fn search(
    connection: &mut SqliteConnection,
    scope: &Scope,
    name: &str,
    query: &VectorQuery,
) -> Result<Vec<VectorHit>> {
    let VectorQuery { space, vector, filter, limit, floor, with_vectors } = query;
    let Some(owner) = Owner::find(connection, scope, name).await? else { return Ok(Vec::new()) };
    let sought = normalise(vector).ok_or_else(|| Error::invalid("a vector without length has no direction"))?;
    let mut candidates = scan(connection, owner.id, &sought).await?;
    if let Some(floor) = floor {
        candidates.retain(|candidate| candidate.score >= floor.value());
    }
    let chosen = best(connection, owner.id, filter, *limit, candidates).await?;
    let mut vectors = match with_vectors {
        true => read_pieces(connection, owner.id, space.dimension, &chosen).await?,
        false => HashMap::new(),
    };
    let hits = chosen.into_iter().map(|chosen| hit(chosen, &mut vectors));
    Ok(hits.collect())
}

fn hit(chosen: Chosen, vectors: &mut HashMap<i64, Vec<f32>>) -> VectorHit {
    let Chosen { candidate: Candidate { score, item: id, place, .. }, item, fields, block: _ } = chosen;
    let piece = u32::try_from(place).unwrap_or(u32::MAX);
    VectorHit { item, piece, similarity: Similarity::new(score), fields, vector: vectors.remove(&id) }
}

/// Returns every item of an owner with the similarity and the number of its nearest piece.
async fn scan(connection: &mut SqliteConnection, owner: i64, sought: &[f32]) -> Result<Vec<Candidate>> {
    let mut candidates = Vec::new();
    let mut after = i64::MIN;
    loop {
        let rows = sqlx::query(SCAN).bind(owner).bind(after).fetch_all(&mut *connection).await.doing(DOING)?;
        let Some(last) = rows.last() else { return Ok(candidates) };
        after = last.try_get(0).doing(DOING)?;
        for row in &rows {
            // Borrowed, because a copy of every vector would cost as much as comparing it.
            let vectors: &[u8] = row.try_get(1).doing(DOING)?;
            visit(vectors, sought.len(), |pieces| candidates.extend(nearest(sought, pieces)))?;
        }
    }
}

/// Returns the item by its nearest piece, of equally near ones the first.
fn nearest(sought: &[f32], pieces: Pieces<'_>) -> Option<Candidate> {
    let Pieces { item, at, vectors } = pieces;
    // Adding zero makes -0.0 the same as 0.0, which tie.
    let similarity = |piece| Similarity::new(dot(sought, piece)).value() + 0.0;
    let similarities = vectors.chunks_exact(sought.len() * 4).map(similarity);
    let candidates = similarities.enumerate().map(|(place, score)| Candidate { score, at, item, place });
    candidates.reduce(|best, next| if next.score > best.score { next } else { best })
}

/// Returns the sum of the products: always in the same order, in lanes that the compiler can keep side by side.
fn dot(sought: &[f32], piece: &[u8]) -> f32 {
    let (numbers, _) = piece.as_chunks::<4>();
    let (wide, narrow) = sought.as_chunks::<LANES>();
    let (wide_piece, narrow_piece) = numbers.as_chunks::<LANES>();
    let mut lanes = [0.0_f32; LANES];
    for (a, b) in wide.iter().zip(wide_piece) {
        for (lane, (a, b)) in lanes.iter_mut().zip(a.iter().zip(b)) {
            *lane += a * f32::from_le_bytes(*b);
        }
    }
    let rest: f32 = narrow.iter().zip(narrow_piece).map(|(a, b)| a * f32::from_le_bytes(*b)).sum();
    lanes.iter().sum::<f32>() + rest
}

/// Returns the nearest piece of each hit, by the item's number.
async fn read_pieces(
    connection: &mut SqliteConnection,
    owner: i64,
    dimension: usize,
    chosen: &[Chosen],
) -> Result<HashMap<i64, Vec<f32>>> {
    let places: HashMap<i64, usize> =
        chosen.iter().map(|chosen| (chosen.candidate.item, chosen.candidate.place)).collect();
    let blocks: BTreeSet<i64> = chosen.iter().filter_map(|chosen| chosen.block).collect();
    let mut vectors = HashMap::new();
    for number in blocks {
        let block = Block::open(connection, owner, dimension, number).await?;
        block.visit(|Pieces { item, vectors: pieces, .. }| {
            let piece = places.get(&item).and_then(|place| pieces.chunks_exact(dimension * 4).nth(*place));
            if let Some(piece) = piece {
                let (numbers, _) = piece.as_chunks::<4>();
                vectors.insert(item, numbers.iter().map(|number| f32::from_le_bytes(*number)).collect());
            }
        })?;
    }
    Ok(vectors)
}
