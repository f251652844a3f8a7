//! The changes that make an index follow truth.

use crate::id::{ItemId, Version};
use crate::store::text::TextEntry;

/// The changes that make an index follow truth.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Changes {
    /// Entries to be put.
    pub puts: Vec<TextEntry>,
    /// Items to be deleted because nothing is left of them, each with the version that its entry would have.
    pub deletions: Vec<(ItemId, Version)>,
}
