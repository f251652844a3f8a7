//! The budget of a context, and what to do if the last turn exceeds it.

use crate::error::{Error, Result};

/// The token budget of a context.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Budget {
    /// All tokens.
    pub limit: u64,
    /// Tokens reserved for what stands in the context besides the conversation.
    pub reserve: u64,
}

impl Budget {
    /// Returns a budget of `limit` tokens, none of them reserved.
    pub fn new(limit: u64) -> Self {
        Self { limit, reserve: 0 }
    }

    /// Reserves `tokens` for what stands in the context besides the conversation.
    #[doc(alias = "initial_token_count")]
    #[must_use]
    pub fn reserve(mut self, tokens: u64) -> Self {
        self.reserve = tokens;
        self
    }

    /// Returns the tokens left for the conversation.
    ///
    /// # Errors
    /// [`Error::OverBudget`] if the reserve exceeds the limit.
    pub fn room(&self) -> Result<u64> {
        let over = Error::OverBudget { need: self.reserve, budget: self.limit };
        self.limit.checked_sub(self.reserve).ok_or(over)
    }
}

/// What happens if not even the last turn fits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Oversize {
    /// The call fails with [`Error::OverBudget`].
    #[default]
    Error,
    /// The middle of texts is cut out, the largest message first, until the turn fits.
    TruncateMiddle,
    /// The turn is kept whole, above the budget.
    Keep,
}

/// How rows are fitted into a budget.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct FitOptions {
    /// What happens if not even the last turn fits. Default [`Oversize::Error`].
    pub oversize: Oversize,
    /// The most messages of the tail. The last turn stays whole in any case. Default none: the budget decides.
    pub most_messages: Option<u64>,
    /// How the tail's beginning moves as the conversation grows. Default message by message.
    pub steps: Option<Steps>,
    /// Whether a call at the very end stays although it lacks results. Default false: no model accepts it.
    pub keep_unfinished: bool,
}

/// Lets the beginning of a tail move in steps, so that the contexts of a growing conversation begin alike for many turns, and a
/// provider's prompt cache holds. The tail is shorter than the budget allows, by a step at most.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Steps {
    /// The tokens of a step.
    pub tokens: u64,
    /// The tokens of the conversation before the rows that are given.
    pub before: u64,
}

impl FitOptions {
    /// Sets the most messages of the tail.
    #[must_use]
    pub fn with_most_messages(mut self, most: Option<u64>) -> Self {
        self.most_messages = most;
        self
    }

    /// Sets that the tail's beginning moves in steps.
    #[must_use]
    pub fn with_steps(mut self, steps: Option<Steps>) -> Self {
        self.steps = steps;
        self
    }

    /// Sets what happens if not even the last turn fits.
    #[must_use]
    pub fn with_oversize(mut self, oversize: Oversize) -> Self {
        self.oversize = oversize;
        self
    }

    /// Keeps a call at the very end although it lacks results, for a caller who is about to add them.
    ///
    /// ```
    /// use memory_core::window::{FitOptions, Oversize};
    ///
    /// let options = FitOptions::default().with_oversize(Oversize::TruncateMiddle).keeping_unfinished();
    /// assert!(options.keep_unfinished);
    /// ```
    #[must_use]
    pub fn keeping_unfinished(mut self) -> Self {
        self.keep_unfinished = true;
        self
    }
}

impl From<u64> for Budget {
    fn from(limit: u64) -> Self {
        Self::new(limit)
    }
}
