//! The cache of query vectors: per owner, by embedding space, purpose and digest of the text.

use std::fmt::Write as _;
use std::sync::Arc;

use futures_util::future::join_all;

use crate::error::{Error, Result};
use crate::id::Digest;
use crate::model::{Embedder, Purpose, embed};
use crate::scope::Scope;
use crate::vector::EmbeddingSpace;

use super::CacheLayer;
use super::notes::note;

impl CacheLayer {
    /// Returns the vectors of queries: from the owner's cache, else from the embedder, which makes those that are missing in one batch.
    ///
    /// The epoch is a guess. That is safe, because a vector depends on the caller's words alone, so it cannot be stale.
    pub(crate) async fn embed_queries(
        &self,
        scope: &Scope,
        embedder: &Arc<dyn Embedder>,
        words: &[&str],
    ) -> Result<Vec<Vec<f32>>> {
        let (epoch, space) = (self.guess(scope), embedder.space());
        let keys: Vec<String> = words.iter().map(|words| key(space, words)).collect();
        let cached = join_all(keys.iter().map(|key| self.cache.get(scope, epoch, key))).await;
        let of = |cached: &Result<Option<Vec<u8>>>| decode(space, cached.as_ref().ok()?.as_deref()?);
        let found: Vec<Option<Vec<f32>>> = cached.iter().map(of).collect();
        let missing = words.iter().zip(&found).filter(|(_, found)| found.is_none());
        let missing: Vec<&str> = missing.map(|(words, _)| *words).collect();
        let made = if missing.is_empty() { Vec::new() } else { embed(embedder, &missing, Purpose::Query).await? };
        let (mut made, mut vectors, mut new) = (made.into_iter(), Vec::with_capacity(words.len()), Vec::new());
        for ((key, cached), found) in keys.iter().zip(cached).zip(found) {
            if let Some(vector) = found {
                vectors.push(vector);
                continue;
            }
            let vector = made.next().ok_or_else(|| Error::invalid("the embedder gave no vector"))?;
            match cached {
                Ok(_) if space.check_vector(&vector).is_ok() => new.push((key, encode(&vector))),
                Ok(_) => {}
                Err(error) => note(error),
            }
            vectors.push(vector);
        }
        let ttl = self.policy.vectors_ttl;
        let puts = new.iter().map(|(key, vector)| self.cache.put(scope, epoch, key, vector, ttl));
        join_all(puts).await.into_iter().for_each(|put| put.unwrap_or_else(note));
        Ok(vectors)
    }
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
