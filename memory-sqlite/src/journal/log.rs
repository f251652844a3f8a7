//! The log of the journal: what stands in it, and when it is to be moved into the file.

/// How long it may grow, in bytes. SQLite's own checkpoints hide that they failed, so there are none.
const LONGEST: u64 = 4 << 20;

/// What stands in the log.
#[derive(Debug)]
pub(super) struct Log {
    /// How many bytes were written since it was last moved, about.
    bytes: u64,
    /// Above how many it is moved.
    bound: u64,
    /// Whether something was removed that must leave no trace.
    is_secret: bool,
    /// Whether somebody wanted that, found or not, since it was last asked.
    is_asked: bool,
}

impl Log {
    /// Returns the log of a journal that was opened, which may hold something.
    pub(super) fn new() -> Self {
        Self { bytes: 1, bound: LONGEST, is_secret: false, is_asked: false }
    }

    /// Notes that bytes were written.
    pub(super) fn add(&mut self, bytes: u64) {
        self.bytes += bytes;
    }

    /// Notes that somebody removes what must leave no trace; `is_any` tells whether there is something that could.
    pub(super) fn hide(&mut self, is_any: bool) {
        self.is_secret |= is_any;
        self.is_asked = true;
    }

    /// Returns whether somebody did so since this was last asked.
    pub(super) fn take_asked(&mut self) -> bool {
        std::mem::take(&mut self.is_asked)
    }

    /// Returns whether something stands in it.
    pub(super) fn is_filled(&self) -> bool {
        self.bytes > 0
    }

    /// Returns whether it is to be moved.
    pub(super) fn is_due(&self) -> bool {
        self.is_secret || self.bytes > self.bound
    }

    /// Notes that it was moved, and is empty.
    pub(super) fn moved(&mut self) {
        *self = Self { bytes: 0, is_secret: false, bound: LONGEST, ..*self };
    }

    /// Notes that it could not be moved: that is due again once it has grown as much again, or at once if it holds what must
    /// leave no trace. Returns whether it holds nothing such.
    pub(super) fn stay(&mut self) -> bool {
        self.bound = self.bytes + LONGEST;
        !self.is_secret
    }
}
