//! A point that may be a hit.

use std::cmp::Ordering;

use ::qdrant_client::qdrant::{PointId, ScoredPoint};
use memory_core::vector::{Similarity, nearest_first};
use memory_core::{Epoch, Error, Fields, ItemId, Result, Scope};

use crate::error::BACKEND;
use crate::point::{EPOCH, FIELDS, ITEM, OWNER, PIECES, Payload, pieces};

/// An item that the server found, with what it needs to become a hit.
#[derive(Debug)]
pub(super) struct Candidate {
    pub(super) id: Option<PointId>,
    pub(super) item: ItemId,
    pub(super) fields: Fields,
    pub(super) similarity: Similarity,
    pub(super) epoch: Epoch,
    /// How many pieces there are.
    pub(super) count: u64,
    /// The pieces, if they were asked for.
    pub(super) pieces: Vec<Vec<f32>>,
}

impl Candidate {
    /// Reads a point that was found for an owner.
    ///
    /// # Errors
    /// `Corrupt` for a point that is not one of ours, or not his.
    pub(super) fn read(scope: &Scope, point: ScoredPoint) -> Result<Self> {
        let ScoredPoint { id, payload, score, vectors, .. } = point;
        let payload = Payload(payload);
        if payload.text(OWNER)? != scope.key() {
            return Err(Error::corrupt(BACKEND, "a search found a point of another owner"));
        }
        let item = ItemId::from_key(payload.text(ITEM)?).map_err(|source| Error::corrupt(BACKEND, source))?;
        Ok(Self {
            id,
            item,
            fields: Fields::decode(BACKEND, payload.text(FIELDS)?.as_bytes())?,
            // Adding zero makes -0.0 the same as 0.0, which tie.
            similarity: Similarity::new(Similarity::new(score).value() + 0.0),
            epoch: Epoch(payload.number(EPOCH)?),
            count: payload.number(PIECES)?,
            pieces: pieces(vectors),
        })
    }

    /// Returns the order of hits.
    pub(super) fn order(&self, other: &Self) -> Ordering {
        nearest_first((self.similarity, self.fields.at, &self.item), (other.similarity, other.fields.at, &other.item))
    }
}
