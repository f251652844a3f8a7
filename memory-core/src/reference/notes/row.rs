//! A note as it is stored, and the changes of its target.

use crate::id::Seq;
use crate::scope::Epoch;
use crate::time::Timestamp;

/// A change of the target of a note.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Mark {
    /// Messages were appended.
    Appended { from: Seq, upto: Seq },
    /// Messages that an index may already hold were changed.
    Changed { from: Seq, upto: Seq },
    /// The session was deleted.
    Emptied,
    /// The record now has this version; `gone` if that is its deletion.
    Versioned { version: u64, gone: bool },
    /// The owner's erasure has begun.
    Buried,
}

impl Mark {
    pub(super) fn range(self) -> (Seq, Seq) {
        match self {
            Self::Appended { from, upto } | Self::Changed { from, upto } => (from, upto),
            Self::Emptied => (Seq(1), Seq(0)),
            Self::Versioned { version, .. } => (Seq(version), Seq(version)),
            Self::Buried => (Seq(0), Seq(0)),
        }
    }

    pub(super) fn is_gone(self) -> bool {
        matches!(self, Self::Emptied | Self::Versioned { gone: true, .. })
    }
}

/// A note as it is stored.
#[derive(Debug)]
pub(super) struct Row {
    pub(super) epoch: Epoch,
    pub(super) from: Seq,
    pub(super) upto: Seq,
    pub(super) stamp: u64,
    pub(super) attempts: u32,
    pub(super) gone: bool,
    /// Its place in the queue; none if it was given up.
    pub(super) place: Option<(Timestamp, u64)>,
}

impl Row {
    /// Takes in a change. `stamp` is a number never used before.
    pub(super) fn take(&mut self, epoch: Epoch, mark: Mark, stamp: u64) {
        let (from, upto) = mark.range();
        self.epoch = epoch;
        match mark {
            Mark::Appended { .. } => {
                (self.from, self.upto) = (self.from.min(from), self.upto.max(upto));
                return;
            }
            Mark::Changed { .. } => (self.from, self.upto) = (self.from.min(from), self.upto.max(upto)),
            Mark::Emptied | Mark::Versioned { .. } | Mark::Buried => {
                (self.from, self.upto) = (from, upto);
                self.gone = mark.is_gone();
            }
        }
        self.stamp = stamp;
    }
}
