//! What is done by models: embedding, summarising, counting tokens.

mod apart;
mod counter;

use std::fmt::Debug;

use async_trait::async_trait;

use crate::error::Result;
use crate::message::StoredMessage;
use crate::vector::EmbeddingSpace;

pub use counter::{CounterId, TokenCounter};

pub(crate) use apart::{apart, embed, panicked};

/// What a text is embedded for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Purpose {
    /// To be sought with.
    Query,
    /// To be found.
    Document,
}

/// Turns texts into vectors.
///
/// The same text has the same vector, alone and in a batch, in every instance and for however many tasks at once. A query
/// of up to 64 KiB has one. A call that is dropped disturbs no other.
#[async_trait]
pub trait Embedder: Debug + Send + Sync + 'static {
    /// Returns the space of its vectors.
    fn space(&self) -> &EmbeddingSpace;

    /// Returns one vector per text, in order, in one batch. Each fits the space; texts of like meaning lie near each
    /// other. A vector without numbers says that the model knows nothing of a text, such as one in a language that it was
    /// not made for: such a text is neither indexed nor searched for by meaning.
    ///
    /// # Errors
    /// `Invalid` for a text that cannot be embedded, such as a blank or a huge one; the error does not repeat it.
    async fn embed(&self, texts: &[&str], purpose: Purpose) -> Result<Vec<Vec<f32>>>;
}

/// What a summary is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum SummaryPurpose {
    /// To stand for the oldest part of a conversation.
    Window,
}

/// What is to be summarised.
#[derive(Clone, Debug)]
pub struct SummaryRequest {
    /// What the summary is for.
    pub purpose: SummaryPurpose,
    /// The messages, oldest first; earlier summaries among them.
    pub messages: Vec<StoredMessage>,
    /// The most tokens that the summary may have.
    pub max_tokens: u64,
    /// Texts that must survive word for word, such as numbers, ids and names.
    pub keep: Vec<String>,
}

/// A summary.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Summary {
    /// Its words.
    pub text: String,
    /// Who made it: `extractive`, or a model's name.
    pub by: String,
}

/// Shortens a stretch of a conversation.
#[async_trait]
pub trait Summarizer: Debug + Send + Sync + 'static {
    /// Returns a summary of `request`.
    async fn summarize(&self, request: &SummaryRequest) -> Result<Summary>;
}
