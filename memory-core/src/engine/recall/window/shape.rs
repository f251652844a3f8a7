//! What a context wants of its window, by its request and the settings of the conversation.

use crate::window::{BufferConfig, FitOptions, Oversize, Steps};

/// What a context wants of its window.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Shape {
    /// What happens if the last turn alone does not fit.
    pub(crate) oversize: Oversize,
    /// The most messages, not counting instructions and summaries.
    pub(crate) most_messages: Option<u64>,
    /// The room of the window, if its beginning moves in steps: the same in each context, whatever is asked and recalled.
    steady: Option<u64>,
}

impl Shape {
    /// Returns what `config` says of a context of `limit` tokens, of which `share` are for recalled items.
    pub(crate) fn of(config: &BufferConfig, oversize: Option<Oversize>, limit: u64, share: u64) -> Self {
        // A sixteenth is for the query.
        let steady = limit.saturating_sub(share).saturating_sub(limit / 16);
        Self {
            oversize: oversize.unwrap_or(config.oversize),
            most_messages: config.window_messages,
            steady: config.is_stable.then_some(steady),
        }
    }

    /// Returns whether the window shows the messages under a summary where there is room. Else its beginning would move with each
    /// message, or it would show more messages than it may.
    pub(super) fn unfolds(&self) -> bool {
        self.most_messages.is_none() && self.steady.is_none()
    }

    /// Returns whether the window takes the tokens that recalled items leave.
    pub(super) fn grows(&self) -> bool {
        self.steady.is_none()
    }

    /// Returns the part of `room` tokens that the window may take.
    pub(super) fn within(&self, room: u64) -> u64 {
        self.steady.map_or(room, |steady| steady.min(room))
    }

    /// Returns how rows fit. `before` tells, for the tokens of a step, how many tokens there are before the rows that were read, and
    /// `is_all` whether all of the window fits.
    pub(super) fn options(&self, oversize: Oversize, before: impl Fn(u64) -> u64, is_all: bool) -> FitOptions {
        let tokens = self.steady.filter(|_| !is_all).map(|steady| steady / 2);
        let steps = tokens.map(|tokens| Steps { tokens, before: before(tokens) });
        FitOptions::default().with_oversize(oversize).with_most_messages(self.most_messages).with_steps(steps)
    }
}
