//! An embedder whose model is part of the program.

mod error;
mod lane;
#[cfg(test)]
mod tests;
mod windows;

use std::fmt;

use async_trait::async_trait;
use futures_util::future::try_join_all;
use memory_core::Result;
use memory_core::model::{Embedder, Purpose};
use memory_core::vector::{EmbeddingSpace, normalise};
use pocket_encoder::{Encoder, ModelInfo, model_info};

use crate::text::check;
use lane::Lane;
use windows::{Window, windows};

/// Texts that one thread embeds before it looks for other work: a fifth of a second.
const BATCH: usize = 8;
/// Calls that wait at the most, for each purpose.
const QUEUE: usize = 256;

/// Turns texts into vectors of 384 numbers by a small model (MiniLM with three layers) that is built into the program: no
/// network, no files, no keys.
///
/// English is what the model was trained for; of other languages it knows letters and some words. Same text, same
/// vector, alone or in a batch, as long as the processor is the same. The model reads 126 tokens at once, about a
/// hundred words. A longer text is read in windows, and its vector is their mean by length; a message embedded in pieces
/// is found by its best piece. How many words fill a window is estimated for English: where most words are unknown to
/// the model, such as codes or those of another language, the end of each window is not read.
///
/// Cheap to clone and to make: the model is read at the first call, which takes half a second once per process. Works in
/// threads of its own, so that no async thread waits; queries have one for themselves and do not wait for documents. A
/// call that is dropped stops after the texts under way. Needs a tokio runtime.
///
/// A blank text, and one of more than 64 KiB, is `Invalid`; with 256 calls waiting a further one is `Overloaded`.
#[derive(Clone)]
pub struct LocalEmbedder {
    space: EmbeddingSpace,
    queries: Lane,
    documents: Lane,
}

impl LocalEmbedder {
    /// Returns the embedder. Reads nothing yet.
    pub fn new() -> Self {
        let threads = std::thread::available_parallelism().map_or(1, usize::from);
        Self::with_lanes(Lane::new(1, QUEUE), Lane::new(threads, QUEUE))
    }

    fn with_lanes(queries: Lane, documents: Lane) -> Self {
        Self { space: space(&model_info()), queries, documents }
    }

    async fn run(&self, texts: &[&str], purpose: Purpose) -> Result<Vec<Vec<f32>>> {
        let lane = match purpose {
            Purpose::Query => &self.queries,
            Purpose::Document => &self.documents,
        };
        let _place = lane.place()?;
        let batches = texts.chunks(BATCH).map(|batch| {
            let batch: Vec<String> = batch.iter().map(|text| (*text).to_owned()).collect();
            lane.run(move || embed(&batch))
        });
        Ok(try_join_all(batches).await?.into_iter().flatten().collect())
    }
}

impl Default for LocalEmbedder {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Debug for LocalEmbedder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LocalEmbedder").field("space", &self.space).finish_non_exhaustive()
    }
}

#[async_trait]
impl Embedder for LocalEmbedder {
    fn space(&self) -> &EmbeddingSpace {
        &self.space
    }

    async fn embed(&self, texts: &[&str], purpose: Purpose) -> Result<Vec<Vec<f32>>> {
        check(texts)?;
        self.run(texts, purpose).await
    }
}

/// Returns the space of the model: its weights, its tokenizer and how windows are put together are part of the recipe.
fn space(model: &ModelInfo) -> EmbeddingSpace {
    let short = |digest: &str| digest.trim_start_matches("sha256:").chars().take(12).collect::<String>();
    let (weights, tokenizer) = (short(&model.revision), short(&model.tokenizer_sha256));
    EmbeddingSpace {
        model: model.id.clone(),
        dimension: model.dimensions,
        normalised: true,
        recipe: format!("weights-{weights}-tokenizer-{tokenizer}-windows-1"),
    }
}

/// Embeds texts in this thread.
fn embed(texts: &[String]) -> Result<Vec<Vec<f32>>> {
    let encoder = Encoder::new().map_err(|source| error::classify(source, "load the model"))?;
    texts.iter().map(|text| one(&encoder, text)).collect()
}

fn one(encoder: &Encoder, text: &str) -> Result<Vec<f32>> {
    let windows: Vec<Window> = windows(text).collect();
    let read: Vec<&str> = windows.iter().map(|window| window.text).collect();
    let mut vectors = encoder.embed(&read).map_err(|source| error::classify(source, "embed"))?;
    if vectors.len() == 1 {
        return vectors.pop().ok_or_else(error::no_vector);
    }
    mean(&windows, &vectors).ok_or_else(error::no_vector)
}

/// Returns the mean of the windows' vectors by their lengths, as a unit vector.
fn mean(windows: &[Window], vectors: &[Vec<f32>]) -> Option<Vec<f32>> {
    let mut sum = vec![0f32; vectors.first()?.len()];
    for (window, vector) in windows.iter().zip(vectors) {
        let weight = window.tokens as f32;
        sum.iter_mut().zip(vector).for_each(|(sum, number)| *sum += weight * number);
    }
    normalise(&sum)
}
