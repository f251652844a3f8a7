//! The settings of a conversation's buffer: what its window shows, when its oldest part leaves, and how it is searched.

#[cfg(test)]
mod tests;

use super::budget::Oversize;
use crate::error::{Error, Result};
use crate::rank::Ranking;

/// The limit of a window in tokens, if neither the settings nor a context says more.
const UNLIMITED: u64 = 30_000;
/// The lowest and the highest adaptive threshold.
const ADAPTIVE: (f64, f64) = (0.5, 0.9);

/// What becomes of the oldest messages of a window that is too full. They stay in the log, and searches of the owner find them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Folding {
    /// A summary takes their place, in one transaction.
    #[default]
    Summaries,
    /// They leave the window without a summary.
    Archive,
    /// They stay in the window.
    Off,
}

/// The settings of a conversation's buffer, of a whole memory ([`MemoryBuilder::buffer`](crate::engine::MemoryBuilder::buffer)) or of one
/// conversation ([`Session::with`](crate::engine::Session::with)).
///
/// What suits: newness counts 0.5 to 0.7 of the ranking in talk, and 0.1 to 0.3 where knowledge is asked for; 0.5 is how a person
/// remembers, 0.2 serves facts. A window holds 3 to 5 messages of short exchanges, 8 to 12 of complex ones, 10 to 15 of technical ones.
/// A capacity is 5 to 8 times that for short exchanges, 10 times as a rule, and 15 to 20 times for long work on one matter.
///
/// ```
/// use memory_core::rank::Ranking;
/// use memory_core::window::{BufferConfig, Folding};
///
/// let talk = BufferConfig::conversational();
/// let short = BufferConfig::balanced().with_window_messages(5);
/// let knowledge = BufferConfig::high_recall().with_ranking(Ranking::muxi(0.2));
/// // An agent whose provider caches prompts.
/// let agent = BufferConfig::default().with_adaptive_threshold().with_stable_prefix();
///
/// // Folds at 90 % of 8,000 tokens down to 60 %, and whenever there are more than 200 messages.
/// let buffer = BufferConfig::default()
///     .with_limit(8_000)
///     .with_shares(0.9, 0.6)
///     .with_capacity_messages(200)
///     .with_keep_turns(6)
///     .with_max_summaries(50, 5)
///     .with_summary_tokens(256);
/// assert_eq!(buffer.folding, Folding::Summaries);
/// assert!(BufferConfig::default().with_capacity_messages(0).check().is_err());
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct BufferConfig {
    /// The most messages that a context shows word for word, not counting instructions and summaries, and how many
    /// [`Session::recent`](crate::engine::Session::recent) returns. The last turn is shown whole in any case. With `None`, the default, the
    /// budget of the context decides, and `recent` returns 10.
    pub window_messages: Option<u64>,
    /// How many of the newest messages [`Session::search`](crate::engine::Session::search) looks at, and above how many the oldest leave
    /// the window where [`BufferConfig::summarize_after`] says nothing. Default `None`: the number does not matter.
    pub capacity_messages: Option<u64>,
    /// The number of messages, not counting summaries and instructions, above which the oldest leave the window. Default `None`: that
    /// of [`BufferConfig::capacity_messages`].
    pub summarize_after: Option<u64>,
    /// The tokens that the window should stay below. With `None`, the default, it is the larger of 30,000 and the largest budget
    /// that any context of the conversation has asked for. The next append tells every process of that budget. A turn that alone does
    /// not fit into a smaller budget is folded by that budget, where folds are summaries.
    pub limit: Option<u64>,
    /// What becomes of the oldest messages. Default [`Folding::Summaries`].
    pub folding: Folding,
    /// The share of the limit at which folding begins. Default 0.80.
    pub high: f64,
    /// The share of the limit at which folding ends, low enough not to begin again at once. Default 0.50.
    pub low: f64,
    /// Whether folding begins at a share that leaves room for a turn as large as the largest of the turns kept, from 0.5 to 0.9,
    /// instead of [`BufferConfig::high`]. Default false.
    pub is_adaptive: bool,
    /// How many of the newest turns stay word for word where a summary is made. Default 4.
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
    /// What happens if the last turn alone does not fit into a context that does not say so itself. Default an error.
    pub oversize: Oversize,
    /// Whether contexts of the conversation begin alike for many turns, so that a provider's prompt cache holds. The beginning of the
    /// history then moves in steps of half its room, and the history does not take the room that recalled items leave: contexts hold
    /// less of it. Default false.
    pub is_stable: bool,
    /// How the answers of the indexes are fused in a search that does not say so itself. Default z-scores.
    pub ranking: Ranking,
}

impl Default for BufferConfig {
    fn default() -> Self {
        Self {
            window_messages: None,
            capacity_messages: None,
            summarize_after: None,
            limit: None,
            folding: Folding::default(),
            high: 0.80,
            low: 0.50,
            is_adaptive: false,
            keep_turns: 4,
            max_summaries: 500,
            summary_share: 0.25,
            merge: 10,
            summary_tokens: 512,
            oversize: Oversize::default(),
            is_stable: false,
            ranking: Ranking::default(),
        }
    }
}

impl BufferConfig {
    /// Shows 10 messages and keeps 100; newness counts 0.3 of the ranking. The middle way of MUXI's `BufferMemory`.
    #[doc(alias = "BufferMemory")]
    pub fn balanced() -> Self {
        Self::preset(10, 100, 0.3)
    }

    /// Shows 15 messages and keeps 300; newness counts 0.1 of the ranking. For knowledge, where old is as good as new.
    pub fn high_recall() -> Self {
        Self::preset(15, 300, 0.1)
    }

    /// Shows 10 messages and keeps 50; newness counts 0.6 of the ranking. For talk, where the last word counts.
    pub fn conversational() -> Self {
        Self::preset(10, 50, 0.6)
    }

    fn preset(window: u64, capacity: u64, recency_weight: f32) -> Self {
        let ranking = Ranking::muxi(recency_weight);
        Self { window_messages: Some(window), capacity_messages: Some(capacity), ranking, ..Self::default() }
    }

    /// Sets the most messages that a context shows word for word.
    #[doc(alias = "max_size")]
    #[must_use]
    pub fn with_window_messages(mut self, messages: u64) -> Self {
        self.window_messages = Some(messages);
        self
    }

    /// Sets how many of the newest messages a search of the conversation looks at, and above how many the oldest leave the window where
    /// [`BufferConfig::with_summarize_after`] says nothing: of MUXI's names, `max_size × buffer_multiplier`.
    #[doc(alias = "buffer_multiplier")]
    #[must_use]
    pub fn with_capacity_messages(mut self, messages: u64) -> Self {
        self.capacity_messages = Some(messages);
        self
    }

    /// Sets the number of messages above which the oldest leave the window, whatever a search of the conversation looks at.
    ///
    /// ```
    /// use memory_core::window::BufferConfig;
    ///
    /// // Searches look at the newest 100 messages; from the 51st on, the oldest are summarised.
    /// let buffer = BufferConfig::default().with_capacity_messages(100).with_summarize_after(50);
    /// assert_eq!((buffer.capacity_messages, buffer.summarize_after), (Some(100), Some(50)));
    /// ```
    #[must_use]
    pub fn with_summarize_after(mut self, messages: u64) -> Self {
        self.summarize_after = Some(messages);
        self
    }

    /// Sets the tokens that the window should stay below.
    #[must_use]
    pub fn with_limit(mut self, tokens: u64) -> Self {
        self.limit = Some(tokens);
        self
    }

    /// Sets what becomes of the oldest messages.
    #[must_use]
    pub fn with_folding(mut self, folding: Folding) -> Self {
        self.folding = folding;
        self
    }

    /// Sets the shares of the limit at which folding begins and ends, clamped to 0 to 1 and in order.
    #[doc(alias = "with_threshold")]
    #[must_use]
    pub fn with_shares(mut self, high: f64, low: f64) -> Self {
        self.high = high.clamp(0.0, 1.0);
        // No bound of `clamp` may be NaN, which `check` refuses.
        self.low = low.clamp(0.0, 1.0);
        if self.low > self.high {
            self.low = self.high;
        }
        self
    }

    /// Lets folding begin at a share that leaves room for a turn as large as the largest of the turns kept, from 0.5 to 0.9.
    #[must_use]
    pub fn with_adaptive_threshold(mut self) -> Self {
        self.is_adaptive = true;
        self
    }

    /// Sets how many of the newest turns stay word for word where a summary is made.
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

    /// Sets what happens if the last turn alone does not fit into a context.
    #[must_use]
    pub fn with_oversize(mut self, oversize: Oversize) -> Self {
        self.oversize = oversize;
        self
    }

    /// Lets contexts begin alike for many turns, so that a provider's prompt cache holds; their receipts tell how much does
    /// ([`ContextReceipt::prefix_reuse_ratio`](crate::engine::ContextReceipt::prefix_reuse_ratio)).
    #[doc(alias = "prompt_cache")]
    #[must_use]
    pub fn with_stable_prefix(mut self) -> Self {
        self.is_stable = true;
        self
    }

    /// Sets how the answers of the indexes are fused.
    #[doc(alias = "recency_weight")]
    #[must_use]
    pub fn with_ranking(mut self, ranking: Ranking) -> Self {
        self.ranking = ranking;
        self
    }

    /// Returns `Ok` if the settings can be kept.
    ///
    /// # Errors
    /// `Invalid` for a window, capacity, limit or number of summaries of 0, a window above its capacity or above the number from which the
    /// oldest leave it, a share that is not from 0 to 1, an end of folding above its beginning, and a number of window messages together
    /// with a stable beginning: such a window moves with each message.
    pub fn check(&self) -> Result<()> {
        let zero = |what: &str| Err(Error::invalid(format!("{what} of a buffer is at least 1")));
        match (self.window_messages, self.capacity_messages) {
            (Some(0), _) => zero("the window"),
            (_, Some(0)) => zero("the capacity"),
            _ if self.summarize_after == Some(0) => zero("the number of messages"),
            (Some(window), Some(capacity)) if window > capacity => {
                Err(Error::invalid(format!("a window of {window} messages is above the capacity of {capacity}")))
            }
            (Some(window), _) if self.summarize_after.is_some_and(|after| window > after) => Err(Error::invalid(
                format!("a window of {window} messages is above the number from which the oldest leave it"),
            )),
            (Some(window), _) if self.is_stable => {
                Err(Error::invalid(format!("a window of {window} messages moves with each message")))
            }
            _ if self.limit == Some(0) => zero("the limit"),
            _ if self.max_summaries == 0 => zero("the number of summaries"),
            _ => self.check_shares(),
        }
    }

    fn check_shares(&self) -> Result<()> {
        let shares = [self.high, self.low, self.summary_share];
        if !shares.iter().all(|share| (0.0..=1.0).contains(share)) {
            return Err(Error::invalid("a share of a buffer is a number from 0 to 1"));
        }
        if self.low > self.high {
            let (high, low) = (self.high, self.low);
            return Err(Error::invalid(format!(
                "folding that begins at {high} of the limit cannot end at {low} of it"
            )));
        }
        Ok(())
    }

    /// Returns the tokens that a window should stay below, if the largest budget asked for is `asked`.
    pub fn limit_beside(&self, asked: u64) -> u64 {
        self.limit.unwrap_or(UNLIMITED.max(asked))
    }

    /// Returns the number of messages above which the oldest leave the window; none if the number does not matter.
    pub fn folds_above(&self) -> Option<u64> {
        self.summarize_after.or(self.capacity_messages)
    }

    /// Returns the lowest share of the limit at which folding may begin.
    pub(crate) fn earliest(&self) -> f64 {
        if self.is_adaptive { ADAPTIVE.0 } else { self.high }
    }

    /// Returns the share of the limit at which folding begins, where the largest turn kept has `largest` tokens.
    pub(super) fn threshold(&self, largest: u64, limit: u64) -> f64 {
        if !self.is_adaptive {
            return self.high;
        }
        (1.0 - largest as f64 / limit.max(1) as f64).clamp(ADAPTIVE.0, ADAPTIVE.1)
    }

    /// Returns the share of the limit at which folding ends, far enough below the one at which it begins.
    pub(super) fn end(&self, largest: u64, limit: u64) -> f64 {
        if self.is_adaptive { self.low.min(self.threshold(largest, limit) - 0.2) } else { self.low }
    }

    /// Returns how many messages a fold takes if there are `over` too many: all of those or, where a summary is made, at least
    /// 20 % of those allowed and 10.
    pub(super) fn batch(&self, over: u64) -> u64 {
        match self.folding {
            Folding::Summaries => over.max(self.folds_above().unwrap_or(0) / 5).max(10),
            Folding::Archive | Folding::Off => over,
        }
    }

    /// Returns the most tokens of a summary of rows of `tokens`: a quarter, and always fewer than the rows have.
    pub(super) fn bound(&self, tokens: u64) -> u64 {
        if self.folding != Folding::Summaries {
            return 0;
        }
        (tokens / 4).clamp(32, self.summary_tokens.max(32)).min(tokens.saturating_sub(1))
    }

    /// Returns how many of the newest turns stay word for word.
    pub(super) fn kept(&self) -> usize {
        if self.folding == Folding::Summaries { self.keep_turns.max(1) } else { 1 }
    }
}
