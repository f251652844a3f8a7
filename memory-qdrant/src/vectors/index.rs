//! An open collection.

use memory_core::vector::EmbeddingSpace;

use super::sizes::Sizes;
use crate::client::Qdrant;
use crate::collection::Collection;

/// What calls work on, and tasks that outlive them.
pub(super) struct Index {
    pub(super) server: Qdrant,
    pub(super) space: EmbeddingSpace,
    pub(super) collection: Collection,
    pub(super) sizes: Sizes,
}
