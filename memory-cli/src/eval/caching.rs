//! An embedder that remembers its vectors: the same sessions occur in many haystacks, and each text is embedded once.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;
use memory::model::EmbeddingSpace;
use memory::model::{Embedder, Purpose};
use memory::{Error, Result};

/// An embedder that keeps every vector it has made.
#[derive(Debug)]
pub(crate) struct CachingEmbedder {
    inner: Arc<dyn Embedder>,
    made: Mutex<HashMap<(Purpose, String), Vec<f32>>>,
}

impl CachingEmbedder {
    /// Asks `inner` for each text once.
    pub(crate) fn new(inner: Arc<dyn Embedder>) -> Self {
        Self { inner, made: Mutex::default() }
    }
}

#[async_trait]
impl Embedder for CachingEmbedder {
    fn space(&self) -> &EmbeddingSpace {
        self.inner.space()
    }

    async fn embed(&self, texts: &[&str], purpose: Purpose) -> Result<Vec<Vec<f32>>> {
        let key = |text: &str| (purpose, text.to_owned());
        let missing: Vec<&str> = {
            let made = self.made.lock().unwrap_or_else(PoisonError::into_inner);
            texts.iter().copied().filter(|text| !made.contains_key(&key(text))).collect()
        };
        let vectors = if missing.is_empty() { Vec::new() } else { self.inner.embed(&missing, purpose).await? };
        let mut made = self.made.lock().unwrap_or_else(PoisonError::into_inner);
        made.extend(missing.iter().map(|text| key(text)).zip(vectors));
        let vector = |text: &&str| made.get(&key(text)).cloned();
        let lost = || Error::invalid("the embedder gave another number of vectors than texts");
        texts.iter().map(|text| vector(text).ok_or_else(lost)).collect()
    }
}
