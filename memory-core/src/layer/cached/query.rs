//! The cache of query vectors: per owner, by embedding space, purpose and digest of the text.

use std::fmt::Write as _;
use std::sync::Arc;

use crate::error::{Error, Result};
use crate::id::Digest;
use crate::model::{self, Embedder, Purpose};
use crate::scope::Scope;
use crate::vector::EmbeddingSpace;

use super::CacheLayer;
use super::notes::note;

impl CacheLayer {
    /// Returns the vector of a query: from the owner's cache, else from the embedder.
    ///
    /// The epoch is a guess. That is safe, because a vector depends on the caller's words alone, so it cannot be stale.
    pub(crate) async fn embed_query(
        &self,
        scope: &Scope,
        embedder: &Arc<dyn Embedder>,
        words: &str,
    ) -> Result<Vec<f32>> {
        let (key, epoch, space) = (key(embedder.space(), words), self.guess(scope), embedder.space());
        let cached = self.cache.get(scope, epoch, &key).await;
        if let Some(vector) = cached.as_ref().ok().and_then(|value| decode(space, value.as_deref()?)) {
            return Ok(vector);
        }
        let vector = embed(embedder, words).await?;
        match cached {
            Ok(_) if space.check_vector(&vector).is_ok() => {
                let put = self.cache.put(scope, epoch, &key, &encode(&vector), self.policy.vectors_ttl).await;
                put.unwrap_or_else(note);
            }
            Ok(_) => {}
            Err(error) => note(error),
        }
        Ok(vector)
    }
}

/// Returns the vector of a query from the embedder.
pub(crate) async fn embed(embedder: &Arc<dyn Embedder>, words: &str) -> Result<Vec<f32>> {
    let mut vectors = model::embed(embedder, &[words], Purpose::Query).await?;
    vectors.pop().ok_or_else(|| Error::invalid("the embedder gave no vector"))
}

fn key(space: &EmbeddingSpace, words: &str) -> String {
    let mut key = format!("query/{}/", space.fingerprint());
    for byte in Digest::of(&[words.as_bytes()]).0 {
        let _ = write!(key, "{byte:02x}");
    }
    key
}

fn encode(vector: &[f32]) -> Vec<u8> {
    vector.iter().flat_map(|number| number.to_le_bytes()).collect()
}

fn decode(space: &EmbeddingSpace, bytes: &[u8]) -> Option<Vec<f32>> {
    let (numbers, rest) = bytes.as_chunks::<4>();
    let vector: Vec<f32> = numbers.iter().map(|number| f32::from_le_bytes(*number)).collect();
    (rest.is_empty() && space.check_vector(&vector).is_ok()).then_some(vector)
}
