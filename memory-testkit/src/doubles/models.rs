//! Fake models: their answers are known beforehand, and they fail on demand.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use async_trait::async_trait;
use memory_core::model::{Embedder, Purpose, Summarizer, Summary, SummaryRequest};
use memory_core::vector::EmbeddingSpace;
use memory_core::{Cause, Digest, Error, Result, Transience};

pub(super) fn fault(backend: &'static str, doing: &'static str) -> Error {
    let transience = Transience::Transient { after: None };
    Error::Backend { backend, doing, transience, source: Cause::new("a fault was ordered") }
}

/// How a [`FakeEmbedder`] answers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum EmbedderMode {
    /// Correctly.
    #[default]
    Well,
    /// With a transient error.
    Fails,
    /// With a NaN in every vector.
    NotANumber,
    /// With vectors of one dimension too many.
    WrongDimension,
    /// With vectors of zeros.
    Zero,
    /// With one vector too few.
    TooFew,
    /// With a permanent error, if a text of the batch holds this word.
    Refuses(&'static str),
    /// With a transient error, if a text of the batch holds this word.
    FailsOn(&'static str),
    /// With a panic, if a text of the batch holds this word.
    PanicsOn(&'static str),
    /// Never, if a text of the batch holds this word.
    HangsOn(&'static str),
    /// With a vector without numbers for each text that holds this word.
    KnowsNothingOf(&'static str),
}

/// An embedder without a model: the vector of a text is the sum of one random direction per word. Texts that share
/// words are near each other, and a text has the same vector on every machine.
#[derive(Debug)]
pub struct FakeEmbedder {
    space: EmbeddingSpace,
    mode: Mutex<EmbedderMode>,
    asked: AtomicU64,
}

impl FakeEmbedder {
    /// Returns an embedder of this dimension.
    pub fn new(dimension: usize) -> Self {
        let (model, recipe) = ("fake".to_owned(), "words-1".to_owned());
        let space = EmbeddingSpace { model, dimension, normalised: false, recipe };
        Self { space, mode: Mutex::default(), asked: AtomicU64::new(0) }
    }

    /// Returns how often `embed` was called.
    pub fn asked(&self) -> u64 {
        self.asked.load(Ordering::SeqCst)
    }

    /// Sets how it answers from now on.
    pub fn set(&self, mode: EmbedderMode) {
        *self.mode.lock().unwrap_or_else(PoisonError::into_inner) = mode;
    }

    fn vector(&self, text: &str) -> Vec<f32> {
        let mut vector = vec![0.0_f32; self.space.dimension];
        // The empty text has a direction too.
        for word in std::iter::once("").chain(text.split_whitespace()) {
            let word = word.to_lowercase();
            for (place, sum) in vector.iter_mut().enumerate() {
                let digest = Digest::of(&[word.as_bytes(), &place.to_le_bytes()]);
                let [first, second, ..] = digest.0;
                *sum += f32::from(i16::from_le_bytes([first, second])) / 32_768.0;
            }
        }
        vector
    }
}

#[async_trait]
impl Embedder for FakeEmbedder {
    fn space(&self) -> &EmbeddingSpace {
        &self.space
    }

    async fn embed(&self, texts: &[&str], _: Purpose) -> Result<Vec<Vec<f32>>> {
        self.asked.fetch_add(1, Ordering::SeqCst);
        let mode = *self.mode.lock().unwrap_or_else(PoisonError::into_inner);
        let is_given = |word: &str| texts.iter().any(|text| text.contains(word));
        let mut vectors: Vec<_> = texts.iter().map(|text| self.vector(text)).collect();
        match mode {
            EmbedderMode::Well => {}
            EmbedderMode::Fails => return Err(fault("fake", "embed")),
            EmbedderMode::NotANumber => vectors.iter_mut().flat_map(|v| v.first_mut()).for_each(|x| *x = f32::NAN),
            EmbedderMode::WrongDimension => vectors.iter_mut().for_each(|vector| vector.push(1.0)),
            EmbedderMode::Zero => vectors.iter_mut().for_each(|vector| vector.fill(0.0)),
            EmbedderMode::TooFew => drop(vectors.pop()),
            EmbedderMode::Refuses(word) if is_given(word) => return Err(Error::invalid("a text is refused")),
            EmbedderMode::FailsOn(word) if is_given(word) => return Err(fault("fake", "embed")),
            EmbedderMode::PanicsOn(word) if is_given(word) => break_down(word),
            EmbedderMode::HangsOn(word) if is_given(word) => std::future::pending().await,
            EmbedderMode::KnowsNothingOf(word) => {
                let of = vectors.iter_mut().zip(texts).filter(|(_, text)| text.contains(word));
                of.for_each(|(vector, _)| vector.clear());
            }
            EmbedderMode::Refuses(_)
            | EmbedderMode::FailsOn(_)
            | EmbedderMode::PanicsOn(_)
            | EmbedderMode::HangsOn(_) => {}
        }
        Ok(vectors)
    }
}

/// Panics with what a panic may give away.
#[expect(clippy::panic, reason = "this is what is ordered")]
fn break_down(payload: &str) {
    panic!("the model broke down on {payload:?}")
}

/// A summariser that always gives the same answer, or fails.
#[derive(Debug)]
pub enum StillSummarizer {
    /// Answers these words, whatever it is given. They may be too long, or empty.
    Saying(String),
    /// Fails.
    Failing,
    /// Panics.
    Panicking,
    /// Never answers.
    Hanging,
}

impl StillSummarizer {
    /// Returns a summariser that says `words`.
    pub fn saying(words: impl Into<String>) -> Self {
        Self::Saying(words.into())
    }
}

#[async_trait]
impl Summarizer for StillSummarizer {
    async fn summarize(&self, request: &SummaryRequest) -> Result<Summary> {
        match self {
            Self::Saying(text) => Ok(Summary { text: text.clone(), by: "still".to_owned() }),
            Self::Failing => Err(fault("still", "summarise")),
            Self::Panicking => {
                break_down(&format!("{request:?}"));
                std::future::pending().await
            }
            Self::Hanging => std::future::pending().await,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn embeds_alike_what_is_alike_and_fails_as_told() {
        let embedder = FakeEmbedder::new(16);
        let texts = ["green tea", "green tea pot", "winter night"];
        let vectors = embedder.embed(&texts, Purpose::Document).await.unwrap();
        assert_eq!(vectors, embedder.embed(&texts, Purpose::Query).await.unwrap());
        assert!(vectors.iter().all(|vector| embedder.space().check_vector(vector).is_ok()));
        let dot = |a: &[f32], b: &[f32]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f32>();
        assert!(dot(&vectors[0], &vectors[1]) > dot(&vectors[0], &vectors[2]));
        embedder.set(EmbedderMode::Fails);
        assert!(embedder.embed(&texts, Purpose::Document).await.is_err_and(|error| error.is_retryable()));
        for mode in [EmbedderMode::NotANumber, EmbedderMode::WrongDimension, EmbedderMode::Zero] {
            embedder.set(mode);
            let vectors = embedder.embed(&texts, Purpose::Document).await.unwrap();
            assert!(vectors.iter().all(|vector| embedder.space().check_vector(vector).is_err()), "{mode:?}");
        }
        embedder.set(EmbedderMode::TooFew);
        assert_eq!(embedder.embed(&texts, Purpose::Document).await.unwrap().len(), 2);
    }
}
