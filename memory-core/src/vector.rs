//! Search by meaning: embedding spaces, the store that holds vectors, and the exact search in one owner's vectors.

mod direction;
mod dot;
mod nearest;
mod partition;
mod products;
mod quantised;
mod registers;
mod rows;
mod scan;

use std::cmp::{Ordering, Reverse};
use std::fmt;

use async_trait::async_trait;
use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};
use crate::fields::Fields;
use crate::filter::Filter;
use crate::id::{Digest, ItemId, Version};
use crate::scope::Scope;
use crate::store::Store;
use crate::text::{Deletion, Rejected, Visibility};
use crate::time::Timestamp;
use crate::upkeep::Incarnation;

pub use direction::Direction;
pub use partition::Partition;

/// What makes vectors comparable. Vectors of different spaces are never mixed.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct EmbeddingSpace {
    /// The model's name.
    pub model: String,
    /// Numbers in a vector, at least 1.
    pub dimension: usize,
    /// Whether the model gives unit vectors.
    pub normalised: bool,
    /// How text becomes a vector: prefixes, piece size, smoothing. Another recipe is another space.
    pub recipe: String,
}

impl EmbeddingSpace {
    /// Returns 16 hex digits that stand for this space in names of tables, collections and indexes.
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

    /// Returns `Ok` if `vector` can be stored in or sought in this space.
    ///
    /// # Errors
    /// [`Error::Invalid`] if its dimension is another, a number is not finite, or its length is 0.
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

/// Returns the unit vector in the direction of `vector`; none for a zero vector. Lengths are taken in `f64`.
pub fn normalise(vector: &[f32]) -> Option<Vec<f32>> {
    let length = vector.iter().map(|x| f64::from(*x) * f64::from(*x)).sum::<f64>().sqrt();
    (length.is_finite() && length > 0.0).then(|| vector.iter().map(|x| (f64::from(*x) / length) as f32).collect())
}

/// The cosine of the angle between two vectors: -1 to 1, larger is closer, on every backend.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd)]
pub struct Similarity(f32);

impl Similarity {
    /// Returns `cosine`, cut to -1..=1 against rounding; a number that is none counts as -1.
    pub fn new(cosine: f32) -> Self {
        Self(if cosine.is_nan() { -1.0 } else { cosine.clamp(-1.0, 1.0) })
    }

    /// Returns the cosine.
    pub fn value(self) -> f32 {
        self.0
    }
}

/// Returns the order of two hits, each of its similarity, its `at` and its item: the nearest first, ties by newer `at`, then
/// by item.
pub fn nearest_first(a: (Similarity, Timestamp, &ItemId), b: (Similarity, Timestamp, &ItemId)) -> Ordering {
    let nearer = b.0.value().total_cmp(&a.0.value());
    nearer.then_with(|| (Reverse(a.1), a.2).cmp(&(Reverse(b.1), b.2)))
}

/// One item of a vector index. A put replaces all pieces of the item unless the stored version is newer.
#[derive(Clone, Debug, PartialEq)]
pub struct VectorEntry {
    /// The item.
    pub item: ItemId,
    /// Its version.
    pub version: Version,
    /// The vectors of its pieces, at least one; stores keep them at unit length.
    pub pieces: Vec<Vec<f32>>,
    /// What filters see.
    pub fields: Fields,
}

/// A question to a vector store.
#[derive(Clone, Debug)]
pub struct VectorQuery {
    /// The space of `vector`.
    pub space: EmbeddingSpace,
    /// What is sought.
    pub vector: Vec<f32>,
    /// Which items may be returned. Pushed down: it never starves the answer.
    pub filter: Filter,
    /// How many hits at the most, at least 1.
    pub limit: usize,
    /// Hits further away than this are left out.
    pub floor: Option<Similarity>,
    /// Whether hits carry their vectors.
    pub with_vectors: bool,
}

/// An item near the vector sought.
#[derive(Clone, Debug, PartialEq)]
pub struct VectorHit {
    /// The item.
    pub item: ItemId,
    /// Its nearest piece, counted from 0.
    pub piece: u32,
    /// How near that piece is.
    pub similarity: Similarity,
    /// What filters see.
    pub fields: Fields,
    /// That piece's vector at unit length, if it was asked for.
    pub vector: Option<Vec<f32>>,
}

/// Finds items by meaning. Holds ids and vectors, never text; it can be thrown away and rebuilt.
///
/// Every method may be repeated after a lost answer, and may be dropped: the write then happens fully or not at all.
#[async_trait]
pub trait VectorStore: Store {
    /// Returns the space whose vectors it holds.
    fn space(&self) -> &EmbeddingSpace;

    /// Returns the incarnation of the place that holds the index, and makes the place if it is gone.
    ///
    /// Every process is told the same, those that make the place at once too. A place that was lost or emptied tells another
    /// one; one that was restored from a backup tells that of the backup, so an index is discarded rather than restored.
    async fn incarnation(&self) -> Result<Incarnation>;

    /// Puts entries, replacing older versions of their items; an entry older than the stored one changes nothing.
    ///
    /// Returns the entries that were refused (wrong dimension, not finite, zero, no pieces); the others are stored.
    /// A put from before the owner's erasure changes nothing.
    async fn put(&self, scope: &Scope, entries: &[VectorEntry], visibility: Visibility) -> Result<Vec<Rejected>>;

    /// Makes everything put before findable.
    async fn flush(&self) -> Result<()>;

    /// Returns distinct items by their nearest piece, nearest first, ties by newer `at`, then by item.
    ///
    /// Exactly `limit` hits where so many match the filter and the floor.
    ///
    /// # Errors
    /// `SpaceMismatch` if the query's space is not the store's; `Invalid` for a vector that cannot be sought or a
    /// limit of 0.
    async fn search(&self, scope: &Scope, query: &VectorQuery) -> Result<Vec<VectorHit>>;

    /// Returns the versions of what is stored of these items, findable or not; absent ones are skipped.
    async fn versions(&self, scope: &Scope, items: &[ItemId]) -> Result<Vec<(ItemId, Version)>>;

    /// Returns up to `limit` of the owner's items after the item `after`, each once with its version. A page that is shorter
    /// is the last one.
    ///
    /// They come in an order of the store's own, in which every item has its place for ever, whether it is stored or not. What
    /// is not findable yet may be left out.
    async fn scan(&self, scope: &Scope, after: Option<&ItemId>, limit: usize) -> Result<Vec<(ItemId, Version)>>;

    /// Deletes items from the index, as far as they are not newer than the deletion says.
    async fn delete(&self, scope: &Scope, what: &Deletion) -> Result<()>;
}
