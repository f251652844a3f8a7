//! Settings of a memory: when its windows are summarised.

use crate::store::chat::SessionState;

/// The tokens that a window keeps below, if nobody said anything.
pub(super) const UNLIMITED: u64 = 30_000;

/// When and how the oldest part of a window is summarised.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct WindowConfig {
    /// The tokens that a window should keep below; `None`, which is the default, for 30,000 or the largest budget that a
    /// context of the conversation was asked for, whichever is more.
    ///
    /// That budget is known to every process from the next append on.
    pub limit: Option<u64>,
    /// The messages that a window should keep below; `None` for no such bound, which is the default.
    pub summarize_after: Option<u64>,
    /// Whether upkeep summarises the oldest part at a pressure of 0.8. Default true.
    pub summaries: bool,
}

impl Default for WindowConfig {
    fn default() -> Self {
        Self { limit: None, summarize_after: None, summaries: true }
    }
}

impl WindowConfig {
    /// Sets the tokens that a window should keep below.
    #[must_use]
    pub fn with_limit(mut self, limit: u64) -> Self {
        self.limit = Some(limit);
        self
    }

    /// Sets the messages that a window should keep below.
    #[must_use]
    pub fn with_summarize_after(mut self, messages: u64) -> Self {
        self.summarize_after = Some(messages);
        self
    }

    /// Returns the tokens that the window of a session should keep below.
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
