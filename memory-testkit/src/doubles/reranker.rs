//! A reranker whose order is known.

use std::sync::{Mutex, PoisonError};

use async_trait::async_trait;
use memory_core::Result;
use memory_core::model::Reranker;

use super::models::fault;

/// How a [`FakeReranker`] answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RerankerMode {
    /// The shorter a text, the better.
    Well,
    /// It fails.
    Fails,
    /// It panics.
    Panics,
    /// It never answers.
    Hangs,
    /// One score is missing.
    TooFew,
    /// One score is no number.
    NotANumber,
}

/// A reranker that prefers short texts, or misbehaves.
#[derive(Debug)]
pub struct FakeReranker(Mutex<RerankerMode>);

impl FakeReranker {
    /// Makes one that answers in this way.
    pub fn new(mode: RerankerMode) -> Self {
        Self(Mutex::new(mode))
    }

    /// Sets how it answers from now on.
    pub fn set(&self, mode: RerankerMode) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = mode;
    }
}

#[async_trait]
impl Reranker for FakeReranker {
    async fn rerank(&self, _: &str, texts: &[&str]) -> Result<Vec<f32>> {
        let mode = *self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let mut scores: Vec<f32> = texts.iter().map(|text| -(text.len() as f32)).collect();
        match mode {
            RerankerMode::Well => {}
            RerankerMode::Fails => return Err(fault("fake", "rerank")),
            RerankerMode::Panics => break_down(),
            RerankerMode::Hangs => std::future::pending().await,
            RerankerMode::TooFew => drop(scores.pop()),
            RerankerMode::NotANumber => scores.iter_mut().take(1).for_each(|score| *score = f32::NAN),
        }
        Ok(scores)
    }
}

#[expect(clippy::panic, reason = "this is what is ordered")]
fn break_down() {
    panic!("the reranker broke down")
}
