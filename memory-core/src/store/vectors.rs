//! The store that is searched by meaning.

use async_trait::async_trait;

use crate::error::Result;
use crate::fields::Fields;
use crate::filter::Filter;
use crate::id::{ItemId, Version};
use crate::scope::Scope;
use crate::store::Store;
use crate::store::text::{Deletion, Rejected, Visibility};
use crate::store::upkeep::Incarnation;
use crate::vector::{EmbeddingSpace, Similarity};

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

    /// Deletes items from the index that are no newer than the deletion says.
    async fn delete(&self, scope: &Scope, what: &Deletion) -> Result<()>;
}
