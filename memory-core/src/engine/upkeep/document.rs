//! What is to be put into an index, and what of it was not taken.

use crate::id::{ItemId, Seq, Version};
use crate::store::text::{Deletion, Rejected, TextEntry};
use crate::store::upkeep::Note;

use super::sight::Sight;

/// Terms that a document holds at the most, own and near, unless its message or those beside it are long.
const USUAL_TERMS: usize = 256;
/// What carrying out (a part of) a note takes.
#[derive(Debug)]
pub(crate) struct Work {
    pub(crate) note: Note,
    /// The note is done up to here once the work is.
    pub(crate) through: Seq,
    pub(crate) deletions: Vec<Deletion>,
    pub(crate) documents: Vec<Document>,
    /// What truth was like; none of an erasure, nor where nothing is put.
    pub(crate) sight: Option<Sight>,
}

/// An item to be indexed: its terms and fields, and the texts that are embedded for it.
#[derive(Debug)]
pub(crate) struct Document {
    pub(crate) entry: TextEntry,
    pub(crate) pieces: Vec<String>,
}

/// What an index or its model did not take of what was to be put.
#[derive(Debug, Default)]
pub(crate) struct Untaken {
    /// Refused by the index, for good.
    pub(crate) refused: Vec<Rejected>,
    /// Refused by the index this time.
    pub(crate) delayed: Vec<Rejected>,
    /// Not embedded, though the embedder answers.
    pub(crate) unmade: Vec<Rejected>,
}

impl Untaken {
    pub(crate) fn all(&self) -> impl Iterator<Item = &Rejected> {
        self.refused.iter().chain(&self.delayed).chain(&self.unmade)
    }
}

impl Work {
    /// Returns how many usual documents weigh as much as these.
    pub(crate) fn weight(&self) -> usize {
        let terms = |document: &Document| document.entry.own.len() + document.entry.near.len();
        self.documents.iter().map(|document| 1 + terms(document) / USUAL_TERMS).sum()
    }

    pub(crate) fn items(&self) -> Vec<ItemId> {
        self.documents.iter().map(|document| document.entry.item.clone()).collect()
    }
}

/// Returns which items the documents are for, and of which versions.
pub(crate) fn versions(documents: &[Document]) -> Vec<(ItemId, Version)> {
    documents.iter().map(|document| (document.entry.item.clone(), document.entry.version)).collect()
}
