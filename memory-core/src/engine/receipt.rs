//! Receipts: what was done, what was left out and why. Plain data that can be printed, stored and compared.

mod words;

use serde::{Serialize, Serializer};

use crate::error::Error;
use crate::id::{ItemId, Seq};
use crate::store::Durability;
use crate::store::chat::Placement;

/// A part of the work.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Stage {
    /// Embedding the query or the documents.
    Embed,
    /// Search by words.
    Text,
    /// Search by meaning.
    Vector,
    /// Reading conversations.
    Chat,
    /// Reading records.
    Records,
    /// Summarising the oldest part of a window.
    Summary,
    /// Asking the cache; truth answered instead.
    Cache,
}

/// A stage that did not do its part; the rest still answered.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Degraded {
    /// The stage.
    pub stage: Stage,
    /// Why: the error with its causes as one line, without payload.
    pub why: String,
}

impl Degraded {
    pub(super) fn new(stage: Stage, error: &Error) -> Self {
        Self { stage, why: error.with_causes() }
    }
}

/// What became of an append.
#[derive(Clone, Debug, PartialEq)]
pub struct AppendReceipt {
    /// One per message, in order.
    pub placements: Vec<Placement>,
    /// The number of the newest message of the session.
    pub head: Seq,
    /// Tokens of the messages given.
    pub tokens: u64,
    /// How safe they are.
    pub durability: Durability,
    /// How full the window is: from [`FoldPolicy::high`](crate::window::FoldPolicy::high) on, which is 0.8, upkeep summarises
    /// its oldest part.
    pub pressure: f32,
}

/// How an item came to its place in a result.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Signals {
    /// The fused score, which orders one result and means nothing beyond it.
    pub score: f32,
    /// Its lexical score, if it shares words with the query.
    pub text: Option<f32>,
    /// Its place by words, from 1.
    pub text_rank: Option<usize>,
    /// Its cosine, if it is near in meaning.
    pub cosine: Option<f32>,
    /// Its place by meaning, from 1.
    pub vector_rank: Option<usize>,
}

/// Why a candidate is not in the result.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Reason {
    /// There was no room for it in the share of the budget that recalled items have.
    NoRoom,
    /// As many better candidates as were asked for came before it.
    BelowLimit,
    /// Its content is gone, and upkeep deletes its id from the index; or it no longer matches, and the index follows.
    Gone,
    /// Its content could not be read: a degraded stage says why.
    Unread,
}

/// The part of a context that a message stands in, in the order of the context.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum PartKind {
    /// Instructions at the head of the session.
    Instruction,
    /// A summary of older messages.
    Summary,
    /// A message word for word.
    History,
    /// The block of recalled items.
    Recalled,
    /// What the person says now.
    Query,
}

/// Something that went into a context.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Included {
    /// What it is; written as its [`ItemId::key`].
    #[serde(serialize_with = "as_key")]
    pub item: ItemId,
    /// The part of the context it stands in.
    pub part: PartKind,
    /// Its tokens; those of recalled items are counted with their block.
    pub tokens: u64,
    /// How the search found it, if it did; a message of the window may have been found too.
    pub signals: Option<Signals>,
}

/// A candidate that did not go in.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct LeftOut {
    /// What it is; written as its [`ItemId::key`].
    #[serde(serialize_with = "as_key")]
    pub item: ItemId,
    /// Why.
    pub reason: Reason,
    /// How it was found.
    pub signals: Signals,
}

impl LeftOut {
    pub(super) fn new(item: &ItemId, reason: Reason, signals: Signals) -> Self {
        Self { item: item.clone(), reason, signals }
    }
}

fn as_key<S: Serializer>(item: &ItemId, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(&item.key())
}

/// What a search did.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct SearchReceipt {
    /// The terms sought.
    pub terms: Vec<String>,
    /// Terms of the query that were not sought, because it holds more than [`crate::Limits::query_terms`]: the rarest were.
    pub terms_left_out: usize,
    /// The participant whom the question names: what they said counts more.
    pub speaker: Option<String>,
    /// The times that the question is about, as [`crate::analysis::Period`] writes them: what was said then counts more.
    pub times: Vec<String>,
    /// Items with words of the query among which the best were chosen.
    pub text_candidates: usize,
    /// Items near in meaning among which the best were chosen.
    pub vector_candidates: usize,
    /// The next best candidates, up to as many as were asked for, and every one that was gone or could not be read; of a
    /// context also those that found no room. What went in, with the window too, is not among them.
    pub left_out: Vec<LeftOut>,
    /// Ids found in an index whose content was gone or no longer matched; 0 in a healthy system.
    pub dropped_at_hydration: usize,
    /// Stages that did not do their part.
    pub degraded: Vec<Degraded>,
    /// How long it took, in microseconds.
    pub took_micros: u64,
}

/// Tokens of a context by part.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Tokens {
    /// The limit that the context keeps.
    pub limit: u64,
    /// Kept free for what the caller adds.
    pub reserved: u64,
    /// Instructions at the head.
    pub instructions: u64,
    /// Summaries.
    pub summaries: u64,
    /// Messages word for word.
    pub history: u64,
    /// The block of recalled items.
    pub recalled: u64,
    /// The query.
    pub query: u64,
    /// All parts together.
    pub total: u64,
}

/// How much of the window went in.
///
/// The window's messages are those kept that are not unfolded, those left out for one reason each, and the summaries whose
/// place their messages have ([`FoldShown::Messages`]).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct History {
    /// Messages and summaries in the window of the session.
    pub window_messages: u64,
    /// Their tokens.
    pub window_tokens: u64,
    /// Messages and summaries that went in, instructions included.
    pub kept_messages: u64,
    /// Their tokens.
    pub kept_tokens: u64,
    /// Those of them that a summary of the window stands for.
    pub unfolded: u64,
    /// Messages and summaries that are older than the budget has room for.
    pub no_room: u64,
    /// Messages that nobody can be sent, because no person speaks before them.
    pub no_start: u64,
    /// Calls without their results, and results without their call: no model accepts them. And what is meant as an
    /// instruction and has not the trust of one.
    pub unpaired: u64,
    /// Calls at the end whose results are missing yet, with those that are there.
    pub unfinished: u64,
    /// Instructions for which there is no room beside the last turn, the oldest of those that do not open the session.
    pub instructions_left_out: u64,
    /// Whether there are instructions that were not read: more than the newest 256 and those at the head of the session.
    pub instructions_unread: bool,
    /// The first number that went in, instructions apart.
    pub first: Option<Seq>,
    /// The last number that went in.
    pub last: Option<Seq>,
    /// Messages whose middle was cut to fit.
    pub truncated: u64,
}

/// What stands in a context for a stretch of the session that a summary covers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum FoldShown {
    /// The summary.
    Summary,
    /// Its messages, because there is room for all of them.
    Messages,
    /// The summary, and the newest of its messages.
    Both,
    /// Neither: there is no room.
    Nothing,
}

/// A stretch of the session that a summary of the window stands for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Fold {
    /// The summary; written as its [`ItemId::key`].
    #[serde(serialize_with = "as_key")]
    pub summary: ItemId,
    /// The first number that it covers.
    pub first: Seq,
    /// The last number that it covers.
    pub last: Seq,
    /// What the context shows.
    pub shown: FoldShown,
}

/// What went into a context, what was left out and why.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ContextReceipt {
    /// Tokens by part.
    pub tokens: Tokens,
    /// The counter that counted them.
    pub counter: String,
    /// How many messages of the window were counted again, because another counter had counted what is stored.
    pub recounted: u64,
    /// How much of the window went in.
    pub history: History,
    /// The summaries of the window that were read, oldest first, and whether they or their messages went in.
    pub folds: Vec<Fold>,
    /// What went in, in order.
    pub included: Vec<Included>,
    /// What happened to the rest of the candidates, and how the search went.
    pub search: SearchReceipt,
    /// False where the session was read without its primary.
    pub complete: bool,
    /// How long it took, in microseconds.
    pub took_micros: u64,
}
