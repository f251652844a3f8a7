//! Settings of a memory's windows: how large they grow, and when they are summarised.

use crate::store::chat::SessionState;
use crate::window::FoldPolicy;

/// The default limit of a window, in tokens.
pub(super) const UNLIMITED: u64 = 30_000;

/// When and how the oldest part of a window is summarised.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct WindowConfig {
    /// The tokens that a window should stay below. With `None`, the default, it is the larger of 30,000 and the largest budget
    /// that any context of the conversation has asked for.
    ///
    /// The next append tells every process of that budget.
    pub limit: Option<u64>,
    /// When the oldest part of a window is summarised, and how much of it.
    pub folding: FoldPolicy,
    /// Whether upkeep summarises at all. Default true.
    pub summaries: bool,
}

impl Default for WindowConfig {
    fn default() -> Self {
        Self { limit: None, folding: FoldPolicy::default(), summaries: true }
    }
}

impl WindowConfig {
    /// Sets the tokens that a window should stay below.
    #[must_use]
    pub fn with_limit(mut self, limit: u64) -> Self {
        self.limit = Some(limit);
        self
    }

    /// Sets when the oldest part is summarised, and how much of it.
    #[must_use]
    pub fn with_folding(mut self, folding: FoldPolicy) -> Self {
        self.folding = folding;
        self
    }

    /// Returns the tokens that the window of a session should stay below.
    pub(super) fn limit_of(&self, session: &SessionState) -> u64 {
        self.limit.unwrap_or(UNLIMITED.max(session.asked))
    }

    /// Sets whether upkeep summarises.
    #[must_use]
    pub fn with_summaries(mut self, summaries: bool) -> Self {
        self.summaries = summaries;
        self
    }
}
