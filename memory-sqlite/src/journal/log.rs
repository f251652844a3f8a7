//! The log of the journal: what stands in it, and when it is to be moved into the file; and what may have stayed in the file.

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
    /// Whether the file may hold copies of what was removed: where rows moved between pages, some stay behind.
    has_copies: bool,
}

impl Log {
    /// Returns the log of a journal that was opened, which may hold something, as its file may.
    pub(super) fn new() -> Self {
        Self { bytes: 1, bound: LONGEST, is_secret: false, is_asked: false, has_copies: true }
    }

    /// Notes that bytes were written.
    pub(super) fn add(&mut self, bytes: u64) {
        self.bytes += bytes;
    }

    /// Notes that entries were removed.
    pub(super) fn removed(&mut self) {
        self.has_copies = true;
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

    /// Returns whether it, or the file, may hold something of what was removed before.
    pub(super) fn holds_traces(&self) -> bool {
        self.is_filled() || self.has_copies
    }

    /// Returns whether it is to be moved.
    pub(super) fn is_due(&self) -> bool {
        self.is_secret || self.bytes > self.bound
    }

    /// Returns whether the file is to be rewritten once it is moved.
    pub(super) fn is_to_be_rewritten(&self) -> bool {
        self.is_secret && self.has_copies
    }

    /// Notes that the file was rewritten.
    pub(super) fn rewritten(&mut self) {
        self.has_copies = false;
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
