//! The documents to be put into an index, and those that it did not take.

use crate::id::{ItemId, Seq, Version};
use crate::store::text::{Deletion, Rejected, TextEntry};
use crate::store::upkeep::Note;

use super::sight::Sight;

/// How many terms, own and near, a document has at most, unless its message or its neighbours are long.
const USUAL_TERMS: usize = 256;
/// The work that carries out a note, or a part of it.
#[derive(Debug)]
pub(crate) struct Work {
    pub(crate) note: Note,
    /// When the work is done, the note is done up to here.
    pub(crate) through: Seq,
    pub(crate) deletions: Vec<Deletion>,
    pub(crate) documents: Vec<Document>,
    /// The state of truth that the documents were made from; none for an erasure, or if nothing is put.
    pub(crate) sight: Option<Sight>,
}

/// An item to be indexed: its terms and fields, and the texts that are embedded for it.
#[derive(Debug)]
pub(crate) struct Document {
    pub(crate) entry: TextEntry,
    pub(crate) pieces: Vec<String>,
}

/// The documents that an index or its embedder did not take.
#[derive(Debug, Default)]
pub(crate) struct Untaken {
    /// Refused by the index, for good.
    pub(crate) refused: Vec<Rejected>,
    /// Refused by the index for now.
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
    /// Returns the size of the documents, in usual documents.
    pub(crate) fn weight(&self) -> usize {
        let terms = |document: &Document| document.entry.own.len() + document.entry.near.len();
        self.documents.iter().map(|document| 1 + terms(document) / USUAL_TERMS).sum()
    }

    pub(crate) fn items(&self) -> Vec<ItemId> {
        self.documents.iter().map(|document| document.entry.item.clone()).collect()
    }
}

/// Returns the items of the documents, with their versions.
pub(crate) fn versions(documents: &[Document]) -> Vec<(ItemId, Version)> {
    documents.iter().map(|document| (document.entry.item.clone(), document.entry.version)).collect()
}
