//! The vector store: an index that is searched by meaning.

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

/// The entry of one item in a vector index. A put replaces all pieces of the item unless the stored version is newer.
#[derive(Clone, Debug, PartialEq)]
pub struct VectorEntry {
    /// The item.
    pub item: ItemId,
    /// Its version.
    pub version: Version,
    /// The vectors of its pieces, at least one; stores keep them at unit length.
    pub pieces: Vec<Vec<f32>>,
    /// The fields that filters look at.
    pub fields: Fields,
}

/// A query to a vector store.
#[derive(Clone, Debug)]
pub struct VectorQuery {
    /// The space of `vector`.
    pub space: EmbeddingSpace,
    /// The vector to search for.
    pub vector: Vec<f32>,
    /// Which items may be returned. Applied before the limit, so it never shortens the answer.
    pub filter: Filter,
    /// The most hits to return, at least 1.
    pub limit: usize,
    /// The least similarity of a hit.
    pub floor: Option<Similarity>,
    /// Whether hits carry the vectors of their pieces.
    pub with_vectors: bool,
}

/// A hit of a vector store: an item near the vector of the query.
#[derive(Clone, Debug, PartialEq)]
pub struct VectorHit {
    /// The item.
    pub item: ItemId,
    /// Its nearest piece, counted from 0.
    pub piece: u32,
    /// The similarity of that piece.
    pub similarity: Similarity,
    /// What filters see.
    pub fields: Fields,
    /// That piece's vector at unit length, if it was asked for.
    pub vector: Option<Vec<f32>>,
}

/// Finds items by meaning. Holds ids and vectors, never text. It can be thrown away and rebuilt.
///
/// Every method may be repeated after a lost answer. If its future is dropped, the write happens fully or not at all.
#[doc(alias = "MilvusClient")]
#[async_trait]
pub trait VectorStore: Store {
    /// Returns the embedding space of its vectors.
    fn space(&self) -> &EmbeddingSpace;

    /// Returns the incarnation of the index, and makes the index if it is gone.
    ///
    /// Every process gets the same one, even if several make the index at once. An index that was lost or emptied has another
    /// one. An index restored from a backup has that of the backup; so discard an index rather than restore it.
    async fn incarnation(&self) -> Result<Incarnation>;

    /// Puts entries, each in place of an older version of its item. An entry older than the stored one changes nothing.
    ///
    /// Returns the entries that were refused (wrong dimension, not finite, zero, no pieces); the others are stored.
    /// A put from before the owner's erasure stores nothing.
    async fn put(&self, scope: &Scope, entries: &[VectorEntry], visibility: Visibility) -> Result<Vec<Rejected>>;

    /// Makes everything that was put before findable.
    async fn flush(&self) -> Result<()>;

    /// Returns one hit per item, at its nearest piece; the nearest first, ties by newer `at`, then by item.
    ///
    /// Returns exactly `limit` hits if so many match the filter and the floor.
    ///
    /// # Errors
    /// `SpaceMismatch` if the query's space is not the store's; `Invalid` for a limit of 0, or a vector that is not finite, is
    /// zero, or has another dimension.
    async fn search(&self, scope: &Scope, query: &VectorQuery) -> Result<Vec<VectorHit>>;

    /// Returns the stored versions of these items, findable or not; absent ones are skipped.
    async fn versions(&self, scope: &Scope, items: &[ItemId]) -> Result<Vec<(ItemId, Version)>>;

    /// Returns up to `limit` of the owner's items after the item `after`, each once with its version. A shorter page is the last.
    ///
    /// The store chooses the order. It must be a fixed total order of all items, whether stored or not. Items that are not
    /// findable yet may be left out.
    async fn scan(&self, scope: &Scope, after: Option<&ItemId>, limit: usize) -> Result<Vec<(ItemId, Version)>>;

    /// Deletes items from the index, up to the versions given.
    async fn delete(&self, scope: &Scope, what: &Deletion) -> Result<()>;

    /// Deletes all entries of the owner, whatever state they are in: a damaged entry is no error. What was erased stays refused.
    ///
    /// After it, a put of any version that is not erased is stored, as if the item had never been here. If its future is dropped, a
    /// part may be deleted.
    async fn clear(&self, scope: &Scope) -> Result<()>;
}
