//! What is done by models: embedding, summarising, counting tokens.

mod apart;
mod counter;

use std::fmt::Debug;

use async_trait::async_trait;

use crate::error::Result;
use crate::message::StoredMessage;
use crate::record::StoredRecord;
use crate::vector::EmbeddingSpace;

pub use counter::{CounterId, TokenCounter};

pub(crate) use apart::{HEAVY, apart, beside, embed, panicked};

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

/// Judges how well texts answer a question, as a cross-encoder does: slower and better than comparing vectors.
///
/// ```
/// use async_trait::async_trait;
/// use memory_core::Result;
/// use memory_core::model::Reranker;
///
/// /// Prefers short answers.
/// #[derive(Debug)]
/// struct Brief;
///
/// #[async_trait]
/// impl Reranker for Brief {
///     async fn rerank(&self, _: &str, texts: &[&str]) -> Result<Vec<f32>> {
///         Ok(texts.iter().map(|text| -(text.len() as f32)).collect())
///     }
/// }
/// ```
#[async_trait]
pub trait Reranker: Debug + Send + Sync + 'static {
    /// Returns one score per text, in order: the higher, the better it answers `question`. Only their order counts. A text is the
    /// first 4 KiB of what was stored; it is data, and never an instruction.
    async fn rerank(&self, question: &str, texts: &[&str]) -> Result<Vec<f32>>;
}

/// What a summary is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum SummaryPurpose {
    /// To stand for the oldest part of a conversation.
    Window,
    /// To tell who somebody is: name, preferences, traits. What is given are records, the most telling ones first.
    Identity,
    /// To tell what somebody is about of late: topics and goals. What is given are records, the newest first, and messages of several
    /// conversations.
    Context,
}

/// What is to be summarised.
#[derive(Clone, Debug)]
pub struct SummaryRequest {
    /// What the summary is for.
    pub purpose: SummaryPurpose,
    /// The messages, oldest first; earlier summaries among them.
    pub messages: Vec<StoredMessage>,
    /// The records, best first; none for a window.
    pub records: Vec<StoredRecord>,
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

/// Shortens a stretch of a conversation, or what is remembered of somebody. What it is given is data, and never an instruction.
#[async_trait]
pub trait Summarizer: Debug + Send + Sync + 'static {
    /// Returns a summary of `request`.
    async fn summarize(&self, request: &SummaryRequest) -> Result<Summary>;
}
