//! The past of a branch, as far as it was read into the window.

use std::collections::VecDeque;

use crate::id::{Seq, SessionId};
use crate::message::{Point, StoredMessage};

/// The past of a branch, as far as it was read.
#[derive(Debug)]
pub(super) struct Past {
    /// What is left to read, the nearest first.
    pub(super) rest: VecDeque<Part>,
    /// All conversations that it comes from, gone ones too.
    pub(super) points: Vec<Point>,
    /// The conversation that begins it.
    pub(super) root: SessionId,
    /// How many of its conversations are gone.
    pub(super) gone: usize,
    /// How many rows were read that a context may hold, without instructions that stand before what was read.
    pub(super) read: u64,
    /// The tokens of these and of such instructions.
    pub(super) tokens: u64,
    pub(super) lacks_instructions: bool,
}

/// A conversation whose part of the past is not read to its beginning.
#[derive(Debug)]
pub(super) struct Part {
    pub(super) point: Point,
    /// The number before which it is read on.
    pub(super) before: Seq,
    /// Its newest summary, if that covers nothing that was said after the branch left.
    pub(super) summary: Option<StoredMessage>,
    /// Before this number an older summary may be found.
    pub(super) lost: Option<Seq>,
}

impl Part {
    /// Returns whether its summary covers some of what was not read.
    pub(super) fn is_summarised(&self) -> bool {
        self.summary.as_ref().is_some_and(|row| self.covers_unread(row))
    }

    /// Returns whether a row is a summary that covers some of what was not read.
    pub(super) fn covers_unread(&self, row: &StoredMessage) -> bool {
        row.covers.is_some_and(|span| span.first < self.before) && !row.is_archive()
    }
}

impl Past {
    pub(super) fn is_whole(&self) -> bool {
        self.rest.is_empty()
    }

    /// Returns how many rows were not read: forgotten ones are among them.
    pub(super) fn unread(&self) -> u64 {
        // Each but the first begins with a row that is no message.
        let rows = |part: &Part| part.before.0.saturating_sub(1 + u64::from(part.point.session != self.root));
        self.rest.iter().map(rows).fold(0, u64::saturating_add)
    }
}
