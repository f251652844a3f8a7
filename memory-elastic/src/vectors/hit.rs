//! What an answer says of the items near a vector.

use std::cmp::Ordering;

use memory_core::error::{Error, Result};
use memory_core::store::vectors::VectorHit;
use memory_core::vector::{Similarity, nearest_first};
use memory_core::{Fields, ItemId, Timestamp};
use serde_json::Value;

use crate::error::{BACKEND, garbled};

pub(super) const SEARCH: &str = "search by meaning";

/// An item near the vector sought, and how near its nearest piece is.
#[derive(Clone, Debug)]
pub(super) struct Near {
    pub(super) similarity: Similarity,
    pub(super) at: Timestamp,
    pub(super) item: ItemId,
    pub(super) key: String,
    pub(super) epoch: u64,
    /// The hit, if all that is asked for was read with it.
    pub(super) whole: Option<VectorHit>,
}

impl Near {
    /// Returns the order of hits.
    pub(super) fn order(&self, other: &Self) -> Ordering {
        nearest_first((self.similarity, self.at, &self.item), (other.similarity, other.at, &other.item))
    }
}

/// Returns the hits of an answer.
pub(super) fn hits(answer: &Value) -> impl Iterator<Item = &Value> {
    answer.pointer("/hits/hits").and_then(Value::as_array).into_iter().flatten()
}

/// Reads how near the item of a hit is.
pub(super) fn near(hit: &Value) -> Result<Near> {
    let bare = || garbled(SEARCH);
    let column = |name: &str| hit.get("fields").and_then(|fields| fields.get(name)?.as_array()?.first());
    let key = column("item").and_then(Value::as_str).ok_or_else(bare)?.to_owned();
    let item = ItemId::from_key(&key).map_err(|error| Error::corrupt(BACKEND, error))?;
    let at = Timestamp(column("at").and_then(Value::as_i64).ok_or_else(bare)?);
    let epoch = column("epoch").and_then(Value::as_u64).ok_or_else(bare)?;
    let score = hit.get("_score").and_then(Value::as_f64).ok_or_else(bare)?;
    Ok(Near { similarity: similarity(score), at, item, key, epoch, whole: None })
}

/// Returns the cosine that a score stands for: the server's scores are `(1 + cosine) / 2`.
fn similarity(score: f64) -> Similarity {
    // Adding zero makes -0.0 the same as 0.0, which tie.
    Similarity::new((2.0 * score - 1.0) as f32 + 0.0)
}

/// Reads a hit with its nearest piece and, if it was asked for, that piece's vector. It is not whole where there are several
/// pieces and the answer does not say which one is the nearest.
pub(super) fn whole(hit: &Value, with_vectors: bool) -> Result<Near> {
    let near = near(hit)?;
    let bare = || garbled(SEARCH);
    let nearest = hit.pointer("/inner_hits/pieces/hits/hits/0/_nested/offset").and_then(Value::as_u64);
    let parts = hit.pointer("/fields/parts/0").and_then(Value::as_u64).ok_or_else(bare)?;
    let Some(piece) = nearest.or((parts == 1).then_some(0)) else { return Ok(near) };
    let piece = u32::try_from(piece).map_err(|_| bare())?;
    let source = hit.get("_source").ok_or_else(bare)?;
    let body = source.get("body").and_then(Value::as_str).ok_or_else(bare)?;
    let fields = Fields::decode(BACKEND, body.as_bytes())?;
    let vector = if with_vectors { Some(vector(source, piece).ok_or_else(bare)?) } else { None };
    let (item, similarity) = (near.item.clone(), near.similarity);
    Ok(Near { whole: Some(VectorHit { item, piece, similarity, fields, vector }), ..near })
}

fn vector(source: &Value, piece: u32) -> Option<Vec<f32>> {
    // The server shows a single piece without a list around it.
    let pieces = source.get("pieces")?;
    let piece = match pieces.as_array() {
        Some(pieces) => pieces.get(usize::try_from(piece).ok()?)?,
        None => pieces,
    };
    piece.get("v")?.as_array()?.iter().map(|number| Some(number.as_f64()? as f32)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scores_are_cosines_again() {
        for cosine in [-1.0f32, -0.5, 0.0, 0.25, 0.6, 0.999_999, 1.0] {
            let score = (1.0 + cosine) / 2.0;
            assert!((similarity(f64::from(score)).value() - cosine).abs() <= 2e-7, "{cosine}");
        }
        assert_eq!(similarity(0.5).value().to_bits(), 0.0f32.to_bits());
        assert_eq!(similarity(1.000_000_1).value(), 1.0);
        assert_eq!(similarity(f64::NAN).value(), -1.0);
    }
}
