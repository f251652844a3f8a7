//! Planning folds: when to fold a window, and which rows become a summary.

#[cfg(test)]
mod tests;

use std::ops::Range;

use super::pairing::Standing;
use crate::id::{MessageId, SeqRange};
use crate::message::StoredMessage;
use crate::model::{SummaryPurpose, SummaryRequest};
use crate::store::chat::{Compaction, NewMessage};

/// The fewest tokens worth a summary.
const LEAST_TOKENS: u64 = 48;

/// How full a window is, 1 at its limit: the larger of its share of tokens and its share of messages.
#[derive(Clone, Copy, Debug, Default, PartialEq, PartialOrd)]
pub struct Pressure(pub f64);

impl Pressure {
    /// Returns the pressure of a window of `tokens` and `messages`. A limit of `None` adds no pressure.
    pub fn of(tokens: u64, limit: Option<u64>, messages: u64, summarize_after: Option<u64>) -> Self {
        let share = |part: u64, whole: Option<u64>| match whole {
            None => 0.0,
            Some(0) if part > 0 => f64::INFINITY,
            Some(whole) => part as f64 / whole.max(1) as f64,
        };
        Self(share(tokens, limit).max(share(messages, summarize_after)))
    }
}

/// When to fold, and how much.
///
/// ```
/// use memory_core::window::FoldPolicy;
///
/// // Folds at 90 % of the limit down to 60 %, and whenever there are more than 200 messages.
/// let policy = FoldPolicy::default()
///     .with_shares(0.9, 0.6)
///     .with_summarize_after(Some(200))
///     .with_keep_turns(6)
///     .with_max_summaries(50, 5)
///     .with_summary_tokens(256);
/// assert_eq!(policy.keep_turns, 6);
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct FoldPolicy {
    /// The share of the limit at which folding begins. Default 0.80.
    pub high: f64,
    /// The share of the limit at which folding ends, low enough not to begin again at once. Default 0.50.
    pub low: f64,
    /// The number of messages, not counting summaries and instructions, above which the oldest are folded. Default `None`: the
    /// number does not matter.
    pub summarize_after: Option<u64>,
    /// How many of the newest turns stay word for word. Default 4.
    pub keep_turns: usize,
    /// The number of summaries above which the oldest are merged into one. Default 500.
    pub max_summaries: usize,
    /// The share of the limit that summaries may take. Above it a full window merges its oldest summaries before it folds further
    /// messages; else summaries would leave less and less room for messages. Default 0.25.
    pub summary_share: f64,
    /// How many summaries are merged into one. Default 10.
    pub merge: usize,
    /// The most tokens of one summary. Default 512.
    pub summary_tokens: u64,
}

impl Default for FoldPolicy {
    fn default() -> Self {
        Self {
            high: 0.80,
            low: 0.50,
            summarize_after: None,
            keep_turns: 4,
            max_summaries: 500,
            summary_share: 0.25,
            merge: 10,
            summary_tokens: 512,
        }
    }
}

impl FoldPolicy {
    /// Sets the shares of the limit at which folding begins and ends, clamped to 0 to 1 and in order.
    #[must_use]
    pub fn with_shares(mut self, high: f64, low: f64) -> Self {
        self.high = high.clamp(0.0, 1.0);
        self.low = low.clamp(0.0, self.high);
        self
    }

    /// Sets the number of messages above which the oldest are folded; `None` for never.
    #[doc(alias = "size")]
    #[must_use]
    pub fn with_summarize_after(mut self, messages: Option<u64>) -> Self {
        self.summarize_after = messages;
        self
    }

    /// Sets how many of the newest turns stay word for word.
    #[must_use]
    pub fn with_keep_turns(mut self, turns: usize) -> Self {
        self.keep_turns = turns;
        self
    }

    /// Sets the number of summaries above which the oldest `merge`, at least two, are merged into one.
    #[must_use]
    pub fn with_max_summaries(mut self, summaries: usize, merge: usize) -> Self {
        self.max_summaries = summaries;
        self.merge = merge.max(2);
        self
    }

    /// Sets the most tokens of one summary.
    #[must_use]
    pub fn with_summary_tokens(mut self, tokens: u64) -> Self {
        self.summary_tokens = tokens;
        self
    }

    /// Returns how many messages a fold takes if there are too many: 20 % of those allowed, at least 10.
    fn batch(&self) -> usize {
        let fifth = self.summarize_after.unwrap_or(0) / 5;
        usize::try_from(fifth).unwrap_or(usize::MAX).max(10)
    }

    /// Returns the most tokens of a summary of rows of `tokens`: a quarter, and always fewer than the rows have.
    fn bound(&self, tokens: u64) -> u64 {
        (tokens / 4).clamp(32, self.summary_tokens.max(32)).min(tokens.saturating_sub(1))
    }
}

/// Why rows are folded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum FoldReason {
    /// There are too many tokens.
    Tokens,
    /// There are too many messages.
    Messages,
    /// There are too many summaries, or nothing but summaries is left to fold.
    Summaries,
}

/// A planned fold: the rows to fold, for the compare-and-set of [`Compaction::Fold`] and for the summariser.
#[derive(Clone, Debug, PartialEq)]
pub struct FoldPlan {
    /// Why.
    pub reason: FoldReason,
    /// The numbers that the summary will cover.
    pub span: SeqRange,
    /// The rows to be folded, oldest first.
    pub rows: Vec<StoredMessage>,
    /// Their tokens.
    pub tokens: u64,
    /// The most tokens that the summary may have.
    pub max_tokens: u64,
}

impl FoldPlan {
    /// Returns the ids of the rows, as the store compares them.
    pub fn ids(&self) -> Vec<MessageId> {
        self.rows.iter().map(|row| row.id).collect()
    }

    /// Returns the request to a summariser, which must keep the texts `keep` word for word.
    pub fn request(&self, keep: Vec<String>) -> SummaryRequest {
        let messages = self.rows.clone();
        SummaryRequest { purpose: SummaryPurpose::Window, messages, max_tokens: self.max_tokens, keep }
    }

    /// Returns the change that replaces the rows by `summary`.
    pub fn fold(&self, summary: NewMessage) -> Compaction {
        Compaction::Fold { span: self.span, ids: self.ids(), summary }
    }
}

/// Plans the next fold of a window; none if the window is not too full.
///
/// `rows` are the active rows of a session, or the oldest of them, oldest first; `beyond` counts the tokens of the active rows
/// after them. The window has a `limit` of tokens, or none.
///
/// - Too many summaries: folds the oldest [`FoldPolicy::merge`] of them.
/// - Tokens at [`FoldPolicy::high`] of the limit: if summaries have more than their [`FoldPolicy::summary_share`], folds the
///   oldest summaries. Else folds the oldest messages, until the rest with the new summary is within [`FoldPolicy::low`]. If
///   no message may be folded, folds the oldest summaries.
/// - More messages than [`FoldPolicy::summarize_after`]: folds the oldest 20 % of that number, at least 10.
///
/// A fold takes whole turns, never the newest [`FoldPolicy::keep_turns`]. So the rest begins with a person's message, and no
/// call is separated from its results. A fold takes no instructions and ends before them. If whole turns allow less than
/// wanted, it takes what they allow; call it again after the fold.
pub fn plan_fold(rows: &[StoredMessage], policy: &FoldPolicy, limit: Option<u64>, beyond: u64) -> Option<FoldPlan> {
    let window = Window::of(rows);
    if window.summaries() > policy.max_summaries {
        return window.merge(policy);
    }
    let tokens = window.tokens.saturating_add(beyond);
    if let Some(limit) = limit.filter(|limit| tokens > 0 && tokens as f64 >= policy.high * *limit as f64) {
        let share = policy.summary_share * limit as f64;
        if window.summary_tokens() as f64 > share
            && let Some(plan) = window.merge(policy)
        {
            return Some(plan);
        }
        let goal = (policy.low * limit as f64).floor() as u64;
        let keeps_goal = |folded: u64, _: usize| {
            let left = tokens.saturating_sub(folded).saturating_add(policy.bound(folded));
            left <= goal
        };
        let plan = window.fold(policy, FoldReason::Tokens, keeps_goal);
        return plan.or_else(|| window.merge(policy));
    }
    if policy.summarize_after.is_some_and(|most| window.messages() as u64 > most) {
        return window.fold(policy, FoldReason::Messages, |_, count| count >= policy.batch());
    }
    None
}

/// The kind of a row, for folding.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Instruction,
    Summary,
    Start,
    Other,
}

/// The active rows with their kinds.
struct Window<'a> {
    rows: Vec<(&'a StoredMessage, Kind)>,
    tokens: u64,
}

impl<'a> Window<'a> {
    fn of(rows: &'a [StoredMessage]) -> Self {
        let kind = |row: &'a StoredMessage| match Standing::of(row) {
            Standing::Absent => None,
            Standing::Instruction => Some((row, Kind::Instruction)),
            Standing::Summary => Some((row, Kind::Summary)),
            Standing::Start => Some((row, Kind::Start)),
            Standing::Reply | Standing::Call(_) | Standing::Result(_) | Standing::Tangled => Some((row, Kind::Other)),
        };
        let rows: Vec<_> = rows.iter().filter_map(kind).collect();
        let tokens = rows.iter().map(|(row, _)| row.tokens).fold(0, u64::saturating_add);
        Self { rows, tokens }
    }

    fn count(&self, kinds: &[Kind]) -> usize {
        self.rows.iter().filter(|(_, kind)| kinds.contains(kind)).count()
    }

    fn summaries(&self) -> usize {
        self.count(&[Kind::Summary])
    }

    fn summary_tokens(&self) -> u64 {
        let summaries = self.rows.iter().filter(|(_, kind)| *kind == Kind::Summary);
        summaries.map(|(row, _)| row.tokens).fold(0, u64::saturating_add)
    }

    fn messages(&self) -> usize {
        self.count(&[Kind::Start, Kind::Other])
    }

    /// Returns the smallest fold of the oldest messages that is `enough`, or else the largest fold that is allowed.
    fn fold(&self, policy: &FoldPolicy, reason: FoldReason, enough: impl Fn(u64, usize) -> bool) -> Option<FoldPlan> {
        let segments = self.segments(&[Kind::Start, Kind::Other]);
        let keep_from = self.keep_from(policy.keep_turns)?;
        segments.into_iter().find_map(|segment| {
            let first = self.beginning(&segment)?;
            let ends = self.ends(first, segment.end, keep_from);
            let is_enough = |end: &usize| {
                let tokens = self.cost(first..*end);
                tokens >= LEAST_TOKENS && enough(tokens, end - first)
            };
            let end = ends.iter().find(|end| is_enough(end)).or(ends.last())?;
            self.plan(policy, reason, first..*end)
        })
    }

    /// Returns the fold of the oldest adjacent summaries.
    fn merge(&self, policy: &FoldPolicy) -> Option<FoldPlan> {
        let segments = self.segments(&[Kind::Summary]);
        let pairs = segments.into_iter().filter(|segment| segment.len() > 1);
        let mut folds = pairs.map(|segment| segment.start..segment.end.min(segment.start + policy.merge.max(2)));
        folds.find_map(|fold| self.plan(policy, FoldReason::Summaries, fold))
    }

    /// Returns the runs of adjacent rows of these kinds.
    fn segments(&self, kinds: &[Kind]) -> Vec<Range<usize>> {
        let mut segments: Vec<Range<usize>> = Vec::new();
        for (index, (_, kind)) in self.rows.iter().enumerate() {
            if !kinds.contains(kind) {
                continue;
            }
            match segments.last_mut() {
                Some(segment) if segment.end == index => segment.end += 1,
                _ => segments.push(index..index + 1),
            }
        }
        segments
    }

    /// Returns where the newest `turns` turns, at least one, begin; none if there are fewer.
    fn keep_from(&self, turns: usize) -> Option<usize> {
        let starts = self.rows.iter().enumerate().filter(|(_, (_, kind))| *kind == Kind::Start);
        starts.map(|(index, _)| index).nth_back(turns.max(1) - 1)
    }

    /// Returns where a fold of the segment may begin: at its first row, or at its first turn if the first row belongs to a
    /// turn that begins before the segment, on the other side of instructions.
    fn beginning(&self, segment: &Range<usize>) -> Option<usize> {
        let is_message = |(_, kind): &(_, Kind)| matches!(kind, Kind::Start | Kind::Other);
        let goes_on = self.rows.iter().take(segment.start).any(is_message);
        segment.clone().find(|index| !goes_on || self.is_start(*index))
    }

    /// Returns where a fold from `first` may end, in order: at each start of a turn in the segment or right after it.
    fn ends(&self, first: usize, segment_end: usize, keep_from: usize) -> Vec<usize> {
        let inside = (first + 1..segment_end).filter(|index| self.is_start(*index) && *index <= keep_from);
        let behind = self.rows.iter().enumerate().skip(segment_end);
        let next = behind.map(|(index, (_, kind))| (index, *kind)).find(|(_, kind)| *kind != Kind::Instruction);
        let at_end = next.is_some_and(|(index, kind)| kind == Kind::Start && index <= keep_from);
        inside.chain(at_end.then_some(segment_end)).collect()
    }

    fn is_start(&self, index: usize) -> bool {
        self.rows.get(index).is_some_and(|(_, kind)| *kind == Kind::Start)
    }

    fn cost(&self, range: Range<usize>) -> u64 {
        let rows = self.rows.get(range).unwrap_or_default();
        rows.iter().map(|(row, _)| row.tokens).fold(0, u64::saturating_add)
    }

    /// Returns the plan for these rows; none if they are so short that a summary saves little.
    fn plan(&self, policy: &FoldPolicy, reason: FoldReason, range: Range<usize>) -> Option<FoldPlan> {
        let tokens = self.cost(range.clone());
        let rows: Vec<_> = self.rows.get(range)?.iter().map(|(row, _)| (*row).clone()).collect();
        let (oldest, newest) = (rows.first()?, rows.last()?);
        let span = SeqRange { first: oldest.covers.map_or(oldest.seq, |covers| covers.first), last: newest.seq };
        let plan = FoldPlan { reason, span, rows, tokens, max_tokens: policy.bound(tokens) };
        (tokens >= LEAST_TOKENS).then_some(plan)
    }
}
