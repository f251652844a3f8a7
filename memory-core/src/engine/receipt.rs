//! Receipts: what was done, what was left out and why. Plain data that can be printed, stored and compared.

mod events;
mod fill;
mod words;

use std::collections::BTreeMap;

use serde::{Serialize, Serializer};

use crate::error::Error;
use crate::id::{ItemId, Seq};
use crate::scope::Scope;
use crate::store::Durability;
use crate::store::chat::Placement;

/// A stage of a call: a part of its work that can fail alone.
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
    /// Judging the best candidates by the reranker; they stand in the order of the ranking.
    Rerank,
    /// Reading the synopsis of the owner.
    Synopsis,
    /// Asking truth whether the notes of the working tier may still be shown.
    Working,
}

/// A stage that failed while the rest still answered.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Degraded {
    /// The stage.
    pub stage: Stage,
    /// Why: the error with its causes, on one line, without payload.
    pub why: String,
}

impl Degraded {
    pub(super) fn new(stage: Stage, error: &Error) -> Self {
        Self { stage, why: error.with_causes() }
    }
}

/// The result of an append.
#[derive(Clone, Debug, PartialEq)]
pub struct AppendReceipt {
    /// One per message, in order.
    pub placements: Vec<Placement>,
    /// The number of the newest message of the session.
    pub head: Seq,
    /// Tokens of the messages given.
    pub tokens: u64,
    /// How durably they are stored.
    pub durability: Durability,
    /// How full the window is, 1 at its limit. From [`BufferConfig::high`](crate::window::BufferConfig::high) on, by default 0.8,
    /// upkeep summarises its oldest part.
    pub pressure: f32,
}

/// Why an item ranks where it does in a result.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Signals {
    /// The fused score. It orders one result; scores of two results do not compare.
    pub score: f32,
    /// Its score by words, if it shares any with the query.
    pub text: Option<f32>,
    /// Its rank by words, from 1.
    pub text_rank: Option<usize>,
    /// Its cosine similarity, if the vector index found it.
    pub cosine: Option<f32>,
    /// Its rank by meaning, from 1.
    pub vector_rank: Option<usize>,
    /// The reranker's score, if there is a reranker and it judged this item. It decides the order, before the fused score.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reranked: Option<f32>,
}

/// Why a candidate is not in the result.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Reason {
    /// It does not fit into the recalled items' share of the budget.
    NoRoom,
    /// Enough better candidates filled the limit.
    BelowLimit,
    /// Nothing that was found is about what the turn says: see [`SearchReceipt::relevance`].
    Irrelevant,
    /// Truth does not hold it any more, and upkeep will delete it from the index; or it no longer matches, and upkeep will
    /// update the index.
    Gone,
    /// Its content could not be read; a degraded stage says why.
    Unread,
    /// Another message took its place in the conversation ([`Session::replace`](super::Session::replace)).
    Replaced,
    /// It was said in the conversation whose past the branch shares, after the branch left it ([`Session::fork`](super::Session::fork)).
    AfterFork,
}

/// The parts of a context, in their order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum PartKind {
    /// Instructions at the head of the session.
    Instruction,
    /// The synopsis of the owner.
    Synopsis,
    /// A summary of older messages.
    Summary,
    /// A message word for word.
    History,
    /// The block of recalled items.
    Recalled,
    /// The query: what the person says now.
    Query,
}

/// An item that went into a context.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Included {
    /// What it is; written as its [`ItemId::key`].
    #[serde(serialize_with = "as_key")]
    pub item: ItemId,
    /// The part of the context it stands in.
    pub part: PartKind,
    /// Its tokens; those of recalled items are counted with their block.
    pub tokens: u64,
    /// How the search found it, if it did. A message of the window may have been found too.
    pub signals: Option<Signals>,
    /// The owner who shares it; none if it is the own of whoever asked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub shared_by: Option<Scope>,
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
    /// The owner who shares it; none if it is the own of whoever asked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub shared_by: Option<Scope>,
}

/// What was found with an owner who shares ([`Search::sharing`](super::Search::sharing)). The counts and failures are among those
/// of the [`SearchReceipt`] too, which tells of all owners together.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Sharing {
    /// The owner; written as its [`Scope::key`].
    pub owner: Scope,
    /// How many items the text index returned.
    pub text_candidates: usize,
    /// How many items the vector index returned.
    pub vector_candidates: usize,
    /// How many of the candidates are notes of the working tier.
    #[serde(skip_serializing_if = "is_none")]
    pub notes: usize,
    /// How many ids an index returned whose content was gone or no longer matched.
    pub dropped_at_hydration: usize,
    /// The stages that failed.
    pub degraded: Vec<Degraded>,
}

fn is_none(count: &usize) -> bool {
    *count == 0
}

fn is_zero(tokens: &u64) -> bool {
    *tokens == 0
}

fn as_key<S: Serializer>(item: &ItemId, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(&item.key())
}

/// The receipt of a search.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct SearchReceipt {
    /// The terms that were searched for.
    pub terms: Vec<String>,
    /// The words of the question that gave these terms, as they were typed: `practice` where the term is `practic`.
    pub words: Vec<String>,
    /// How many terms of the query were left out, because it holds more than [`crate::Limits::query_terms`]. The rarest are kept.
    pub terms_left_out: usize,
    /// The participant whom the question names. What they said ranks higher.
    pub speaker: Option<String>,
    /// The times that the question is about, as [`crate::analysis::Period`] writes them. What was said then ranks higher.
    pub times: Vec<String>,
    /// The share of the question's informative words that the best candidate beside the window holds, 0 to 1, a rare word counting
    /// more. Told for a context, which recalls nothing below a floor; none for a search.
    pub relevance: Option<f32>,
    /// How many items the text index returned.
    pub text_candidates: usize,
    /// How many items the vector index returned.
    pub vector_candidates: usize,
    /// How many of the candidates are notes of the working tier ([`Scoped::note`](super::Scoped::note)).
    #[serde(skip_serializing_if = "is_none")]
    pub notes: usize,
    /// The next best candidates, up to as many as were asked for, and every candidate that was gone or could not be read. For a
    /// context, also those that found no room. Items that went in, the window's included, are not listed.
    pub left_out: Vec<LeftOut>,
    /// How many further candidates there were: each item that an index returned is a hit (or included with its signals), left out,
    /// or counted here.
    pub not_listed: usize,
    /// How many ids an index returned whose content was gone or no longer matched; 0 in a healthy system.
    pub dropped_at_hydration: usize,
    /// The stages that failed.
    pub degraded: Vec<Degraded>,
    /// The owners who share and were asked too, in the order in which the call named them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub sharing: Vec<Sharing>,
    /// How long each stage took, in microseconds; only those that were needed. Of several calls of one stage the longest counts, and
    /// stages run at the same time: so they do not add up to the whole.
    pub stages: BTreeMap<Stage, u64>,
    /// How long it took, in microseconds.
    pub took_micros: u64,
}

/// Tokens of a context by part.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Tokens {
    /// The most tokens that the context may have.
    pub limit: u64,
    /// Tokens kept free for what the caller adds.
    pub reserved: u64,
    /// Instructions at the head.
    pub instructions: u64,
    /// The synopsis.
    #[serde(skip_serializing_if = "is_zero")]
    pub synopsis: u64,
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
/// Every message of the window is counted once: as kept (but not unfolded), under one reason for leaving it out, or as a
/// summary that its messages replace ([`FoldShown::Messages`]).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct History {
    /// Messages and summaries in the window of the session. Where messages left it without a summary, the rows that stand for them
    /// and were not read count too, here and in [`History::no_room`].
    pub window_messages: u64,
    /// Their tokens.
    pub window_tokens: u64,
    /// Messages and summaries that went in, instructions included.
    pub kept_messages: u64,
    /// Their tokens.
    pub kept_tokens: u64,
    /// How many of the kept messages are of the past that a branch shares ([`Session::fork`](super::Session::fork)).
    pub inherited: u64,
    /// How many of the kept messages are archived ones, shown in place of a summary of the window.
    pub unfolded: u64,
    /// Messages and summaries left out because the budget has no room for more.
    pub no_room: u64,
    /// Messages that cannot be sent, because no person speaks before them.
    pub no_start: u64,
    /// Calls without their results, and results without their call, which no model accepts.
    pub unpaired: u64,
    /// Messages in an instruction's role that lack the trust for it, such as those of an import.
    pub untrusted: u64,
    /// Older messages that would fit, but are more than [`BufferConfig::window_messages`](crate::window::BufferConfig::window_messages).
    pub outside: u64,
    /// Calls at the end that still wait for results, with the results that are there.
    pub unfinished: u64,
    /// Instructions without room beside the last turn: the oldest ones, except those that open the session.
    pub instructions_left_out: u64,
    /// Whether some instructions were not read. At most the newest 256 and those at the head of the session are.
    pub instructions_unread: bool,
    /// The first number that went in, not counting instructions and what is inherited.
    pub first: Option<Seq>,
    /// The last number that went in, not counting instructions and what is inherited.
    pub last: Option<Seq>,
    /// Messages whose middle was cut to fit.
    pub truncated: u64,
    /// Kept messages that are shown without their asides, because the request did not ask for these, or because their calls
    /// and results do not match.
    pub folded_asides: u64,
}

/// What a context shows for the part of the session that a summary covers.
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

/// A part of the session that a summary of the window covers.
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

/// What a context shows of the owner's synopsis ([`Scoped::synopsis`](super::Scoped::synopsis)).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct SynopsisShown {
    /// Its tokens; 0 if it found no room.
    pub tokens: u64,
    /// Whether it tells who the owner is.
    pub identity: bool,
    /// Whether it tells what the owner is about.
    pub context: bool,
    /// Whether a half that is shown is no longer good: upkeep builds another.
    pub is_stale: bool,
    /// The tokens of all the owner's conversations when it was built. It stands for them.
    pub history_tokens: u64,
    /// Why a half, or all of it, is left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub left_out: Option<Reason>,
}

impl SynopsisShown {
    /// Returns the share of the tokens of all conversations that it saves, 0 to 1; none if it is not shown or saves nothing.
    ///
    /// ```
    /// use memory_core::engine::SynopsisShown;
    ///
    /// let shown = SynopsisShown { tokens: 500, history_tokens: 10_000, ..SynopsisShown::default() };
    /// assert_eq!(shown.saved(), Some(0.95));
    /// ```
    pub fn saved(&self) -> Option<f64> {
        let saved =
            self.history_tokens.checked_sub(self.tokens).filter(|_| self.tokens > 0 && self.history_tokens > 0)?;
        Some(saved as f64 / self.history_tokens as f64)
    }
}

/// The receipt of a context: what went in, what was left out and why.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ContextReceipt {
    /// Tokens by part.
    pub tokens: Tokens,
    /// The counter that counted them.
    pub counter: String,
    /// How many messages of the window were recounted, because another counter had counted them.
    pub recounted: u64,
    /// How much of the window went in.
    pub history: History,
    /// The summaries of the window that were read, oldest first, and whether they or their messages went in.
    pub folds: Vec<Fold>,
    /// The owner's synopsis, if there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub synopsis: Option<SynopsisShown>,
    /// What went in, in order.
    pub included: Vec<Included>,
    /// The receipt of the search, with what happened to the other candidates.
    pub search: SearchReceipt,
    /// The share of the conversation's previous context in this process, in tokens and without recalled items and query, that this one
    /// repeats at its beginning: what a provider's prompt cache holds. None if there was no such context, or it is too long ago.
    pub prefix_reuse_ratio: Option<f64>,
    /// Whether the session was read completely: [`Slice::complete`](crate::store::chat::Slice::complete).
    pub complete: bool,
    /// How long it took, in microseconds.
    pub took_micros: u64,
}
