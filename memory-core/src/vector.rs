//! Vectors: embedding spaces, similarity, and the exact search among one owner's vectors.

mod coded;
mod codes;
mod direction;
mod dot;
mod entries;
mod lanes;
mod nearest;
mod partition;
mod products;
mod quantised;
mod registers;
mod rows;
mod scan;

use std::cmp::{Ordering, Reverse};
use std::fmt;

use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};
use crate::id::{Digest, ItemId};
use crate::time::Timestamp;

pub use coded::{CodedQuery, CodedRows};
pub use direction::Direction;
pub use partition::Partition;

/// An embedding space. Vectors are comparable only within one space, and are never mixed.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct EmbeddingSpace {
    /// The model's name.
    pub model: String,
    /// Numbers in a vector, at least 1.
    pub dimension: usize,
    /// Whether the model gives unit vectors.
    pub normalised: bool,
    /// How text becomes a vector: prefixes, piece size, smoothing. Another recipe makes another space.
    pub recipe: String,
}

impl EmbeddingSpace {
    /// Returns 16 hex digits that identify this space in names of tables, collections and indexes.
    pub fn fingerprint(&self) -> String {
        let Self { model, dimension, normalised, recipe } = self;
        let parts = [model.as_bytes(), &dimension.to_le_bytes(), &[u8::from(*normalised)], recipe.as_bytes()];
        Digest::of(&parts).0.iter().take(8).map(|byte| format!("{byte:02x}")).collect()
    }

    /// Returns `Ok` if `other` is this space.
    ///
    /// # Errors
    /// [`Error::SpaceMismatch`] if it is not.
    pub fn check(&self, other: &Self) -> Result<()> {
        if self == other {
            return Ok(());
        }
        Err(Error::SpaceMismatch { expected: self.to_string(), found: other.to_string() })
    }

    /// Returns `Ok` if `vector` can be stored or searched for in this space.
    ///
    /// # Errors
    /// [`Error::Invalid`] if it has another dimension, a number is not finite, or its length is 0.
    pub fn check_vector(&self, vector: &[f32]) -> Result<()> {
        if vector.len() != self.dimension {
            let what = format!("the vector has {} numbers where {} has {}", vector.len(), self.model, self.dimension);
            return Err(Error::invalid(what));
        }
        if vector.iter().any(|x| !x.is_finite()) {
            return Err(Error::invalid("a vector holds a number that is not finite"));
        }
        if normalise(vector).is_none() {
            return Err(Error::invalid("a vector without length has no direction"));
        }
        Ok(())
    }
}

impl fmt::Display for EmbeddingSpace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}/{}", self.model, self.dimension, self.recipe)
    }
}

/// Returns the unit vector in the direction of `vector`; none for a zero vector. Lengths are computed in `f64`.
pub fn normalise(vector: &[f32]) -> Option<Vec<f32>> {
    let length = vector.iter().map(|x| f64::from(*x) * f64::from(*x)).sum::<f64>().sqrt();
    (length.is_finite() && length > 0.0).then(|| vector.iter().map(|x| (f64::from(*x) / length) as f32).collect())
}

/// The cosine of the angle between two vectors: -1 to 1, larger is closer, on every backend.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd)]
pub struct Similarity(f32);

impl Similarity {
    /// Returns `cosine`, clamped to -1..=1 against rounding; NaN counts as -1.
    pub fn new(cosine: f32) -> Self {
        Self(if cosine.is_nan() { -1.0 } else { cosine.clamp(-1.0, 1.0) })
    }

    /// Returns the cosine.
    pub fn value(self) -> f32 {
        self.0
    }
}

/// Compares two hits by similarity, `at` and item: the nearest first, ties by newer `at`, then by item.
pub fn nearest_first(a: (Similarity, Timestamp, &ItemId), b: (Similarity, Timestamp, &ItemId)) -> Ordering {
    let nearer = b.0.value().total_cmp(&a.0.value());
    nearer.then_with(|| (Reverse(a.1), a.2).cmp(&(Reverse(b.1), b.2)))
}
