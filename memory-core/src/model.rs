//! What is done by models: embedding, summarising, counting tokens.

mod apart;

use std::fmt::Debug;

use async_trait::async_trait;
use serde::{Deserialize, Serialize};

use crate::error::Result;
use crate::message::{Message, StoredMessage};
use crate::vector::EmbeddingSpace;

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
    /// other.
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

/// Counts tokens. Should not panic, whatever the text: a call that counts fails with it.
pub trait TokenCounter: Debug + Send + Sync + 'static {
    /// Returns the counter's name, whose [`CounterId`] is stored beside counts.
    ///
    /// Two counters have one name only if they count every message alike: by the name a stored count is known for one
    /// that need not be taken again. A counter whose rules change changes its name.
    fn name(&self) -> &str;

    /// Returns the tokens of a whole message: its words, calls, results, reasoning and media, and its overhead.
    fn count(&self, message: &Message) -> u64;

    /// Returns the tokens of bare text.
    fn count_text(&self, text: &str) -> u64;
}

/// Which counter took a count: a number made from the counter's name, small enough to stand in every row.
///
/// Counters of two names have the same number about once in four thousand million pairs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct CounterId(pub u32);

impl CounterId {
    /// Nobody knows who counted, as in rows of earlier versions: such a count is always taken again.
    pub const UNKNOWN: Self = Self(0);

    /// Returns the number of the counter.
    pub fn of(counter: &dyn TokenCounter) -> Self {
        // FNV-1a with 32 bits (http://www.isthe.com/chongo/tech/comp/fnv/). Stored, so it never changes.
        let hash = counter
            .name()
            .bytes()
            .fold(0x811c_9dc5_u32, |hash, byte| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193));
        Self(hash.max(1))
    }

    /// Returns whether this is a known counter.
    pub fn is_unknown(&self) -> bool {
        *self == Self::UNKNOWN
    }
}
