//! How far the files of an import have been read.

use std::sync::atomic::{AtomicU64, Ordering};

/// How far the files of an import have been read.
#[derive(Debug, Default)]
pub(super) struct Meter {
    bytes: AtomicU64,
    lines: AtomicU64,
    /// Conversations without a name.
    nameless: AtomicU64,
}

impl Meter {
    /// Returns the bytes read so far.
    pub(super) fn bytes(&self) -> u64 {
        self.bytes.load(Ordering::Relaxed)
    }

    /// Returns the ends of lines read so far.
    pub(super) fn lines(&self) -> u64 {
        self.lines.load(Ordering::Relaxed)
    }

    /// Returns one more than the ends of lines read so far, and begins to count them anew: another file follows.
    pub(super) fn end_file(&self) -> u64 {
        self.lines.swap(0, Ordering::Relaxed) + 1
    }

    /// Counts a conversation without a name, and returns how many there are with it in all files so far.
    pub(super) fn count_nameless(&self) -> u64 {
        self.nameless.fetch_add(1, Ordering::Relaxed) + 1
    }

    /// Adds what was read.
    pub(super) fn add(&self, bytes: u64, lines: u64) {
        self.bytes.fetch_add(bytes, Ordering::Relaxed);
        self.lines.fetch_add(lines, Ordering::Relaxed);
    }
}
