//! Embedding documents, and isolating the texts for which that fails, so that they hold up no others.

use std::time::Duration;

use tokio::time::timeout;

use crate::engine::inner::Vectors;
use crate::error::{Error, Result};
use crate::model::{self, Purpose};
use crate::scope::Scope;
use crate::store::text::{Rejected, TextEntry};
use crate::store::vectors::VectorEntry;

use super::document::Document;

/// How long an embedder may take for documents, besides [`EACH`] for every text. Some take that long to load their model.
const PATIENCE: Duration = Duration::from_secs(30);
/// How much longer it may take for every text.
const EACH: Duration = Duration::from_secs(1);
/// A text that every embedder can embed, to see whether it answers.
const PROBE: &str = "memory";

/// Why documents were not put.
#[derive(Debug)]
pub(crate) struct Setback {
    pub(crate) error: Error,
    /// Whether the embedder fails for every text, so that asking for others now is useless.
    pub(crate) is_down: bool,
}

impl From<Error> for Setback {
    fn from(error: Error) -> Self {
        Self { error, is_down: false }
    }
}

impl Vectors {
    /// Embeds all documents in one batch. If that fails although the embedder answers, the documents that it fails for are
    /// found by halving the batch, and returned apart.
    ///
    /// # Errors
    /// A setback with the first failure, if the embedder does not answer at all.
    pub(crate) async fn embed_all(
        &self,
        scope: &Scope,
        documents: &[Document],
    ) -> std::result::Result<(Vec<VectorEntry>, Vec<Rejected>), Setback> {
        let (mut entries, mut apart) = (Vec::new(), Vec::new());
        let (mut parts, mut is_asked) = (vec![documents], false);
        while let Some(part) = parts.pop() {
            let error = match self.embed_documents(scope, part).await {
                Ok(mut some) => {
                    entries.append(&mut some);
                    continue;
                }
                Err(error) => error,
            };
            if !is_asked && !self.answers().await {
                return Err(Setback { error, is_down: true });
            }
            is_asked = true;
            if let [document] = part {
                apart.push(Rejected { item: document.entry.item.clone(), error });
                continue;
            }
            let (first, second) = part.split_at(part.len() / 2);
            parts.extend([second, first]);
        }
        Ok((entries, apart))
    }

    async fn answers(&self) -> bool {
        self.embed_in_time(&[PROBE]).await.is_ok_and(|vectors| vectors.len() == 1)
    }

    /// Embeds the pieces of the documents in one batch. A document without pieces, or without one that has a vector, gets no
    /// entry.
    async fn embed_documents(&self, scope: &Scope, documents: &[Document]) -> Result<Vec<VectorEntry>> {
        let pieces = documents.iter().flat_map(|document| &document.pieces);
        let texts: Vec<&str> = pieces.map(String::as_str).collect();
        let mut vectors = self.embed_texts(scope, &texts).await?.into_iter();
        let entries = documents.iter().filter_map(|document| {
            let of_document = vectors.by_ref().take(document.pieces.len()).collect();
            entry_of(document, of_document)
        });
        Ok(entries.collect())
    }

    /// Returns the entries of those documents whose vectors are all in this process. Asks no embedder.
    pub(crate) fn embed_kept(&self, scope: &Scope, documents: &[Document]) -> Result<Vec<VectorEntry>> {
        let mut entries = Vec::new();
        for document in documents {
            let texts: Vec<&str> = document.pieces.iter().map(String::as_str).collect();
            let look_up = self.kept.look_up(scope, &texts, Purpose::Document);
            if look_up.missing().is_empty() {
                let vectors = self.kept.complete(self.embedder.as_ref(), look_up, Vec::new())?;
                entries.extend(entry_of(document, vectors));
            }
        }
        Ok(entries)
    }

    /// Returns the vectors of texts that are to be found, from this process where it has them.
    pub(crate) async fn embed_texts(&self, scope: &Scope, texts: &[&str]) -> Result<Vec<Vec<f32>>> {
        let look_up = self.kept.look_up(scope, texts, Purpose::Document);
        let missing = look_up.missing();
        let made = if missing.is_empty() { Vec::new() } else { self.embed_in_time(&missing).await? };
        self.kept.complete(self.embedder.as_ref(), look_up, made)
    }

    async fn embed_in_time(&self, texts: &[&str]) -> Result<Vec<Vec<f32>>> {
        let count = u32::try_from(texts.len()).unwrap_or(u32::MAX);
        let limit = PATIENCE.saturating_add(EACH.saturating_mul(count));
        let late = |_| Error::timed_out("embedder", "answer in time");
        timeout(limit, model::embed(&self.embedder, texts, Purpose::Document)).await.map_err(late)?
    }
}

/// Returns the entry of a document with the vectors of its pieces; none if no piece has a vector.
fn entry_of(document: &Document, vectors: Vec<Vec<f32>>) -> Option<VectorEntry> {
    let pieces: Vec<Vec<f32>> = vectors.into_iter().filter(|vector| !vector.is_empty()).collect();
    let TextEntry { item, version, fields, .. } = document.entry.clone();
    (!pieces.is_empty()).then_some(VectorEntry { item, version, pieces, fields })
}
