//! A query vector, for stores that compare vectors one by one.

use super::dot::dot;
use super::lanes::Lanes;
use super::{Similarity, normalise};

/// A query vector at unit length. It gives exactly the similarities of [`super::Partition::search`].
#[derive(Clone, Debug)]
pub struct Direction(Vec<Lanes>);

impl Direction {
    /// Returns the direction of `vector`; none for a zero vector.
    pub fn of(vector: &[f32]) -> Option<Self> {
        normalise(vector).map(|unit| Self(Lanes::row(&unit)))
    }

    /// Returns the similarity of a vector of unit length.
    pub fn similarity(&self, unit: &[f32]) -> Similarity {
        // Adding zero makes -0.0 the same as 0.0, which tie.
        Similarity::new(dot(&self.0, &Lanes::row(unit)) + 0.0)
    }

    /// Returns the similarity of two directions.
    pub(crate) fn cosine(&self, other: &Self) -> Similarity {
        Similarity::new(dot(&self.0, &other.0) + 0.0)
    }

    /// Returns the bytes of its numbers.
    pub(crate) fn bytes(&self) -> usize {
        size_of_val(self.0.as_slice())
    }
}
