//! Notes of what is still to be indexed, as both truth stores keep them.

mod queue;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use crate::id::{Seq, SessionId};
use crate::scope::{Epoch, Scope};
use crate::time::Timestamp;
use crate::upkeep::{Backlog, Enlisted, Incarnation, IndexName, Note, Outcome, Target};

use queue::Queue;

/// What happened to the target of a note.
#[derive(Clone, Copy, Debug)]
pub(super) enum Mark {
    /// Messages were added behind all others.
    Appended { from: Seq, upto: Seq },
    /// Messages that an index may hold already have changed.
    Changed { from: Seq, upto: Seq },
    /// The session was deleted.
    Emptied,
    /// The record has this version now; `gone` if that is its deletion.
    Versioned { version: u64, gone: bool },
    /// The owner's erasure has begun.
    Buried,
}

impl Mark {
    fn range(self) -> (Seq, Seq) {
        match self {
            Self::Appended { from, upto } | Self::Changed { from, upto } => (from, upto),
            Self::Emptied => (Seq(1), Seq(0)),
            Self::Versioned { version, .. } => (Seq(version), Seq(version)),
            Self::Buried => (Seq(0), Seq(0)),
        }
    }

    fn is_gone(self) -> bool {
        matches!(self, Self::Emptied | Self::Versioned { gone: true, .. })
    }
}

#[derive(Debug)]
struct Row {
    epoch: Epoch,
    from: Seq,
    upto: Seq,
    stamp: u64,
    attempts: u32,
    gone: bool,
    /// Its place in the queue; none once it was given up.
    place: Option<(Timestamp, u64)>,
}

impl Row {
    /// Takes in what happened; `stamp` is a number never used before.
    fn take(&mut self, epoch: Epoch, mark: Mark, stamp: u64) {
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

/// How far what was stored before an index was enlisted is noted for it.
#[derive(Debug)]
enum Stock {
    /// Through this item; none yet without one.
    Through(Option<(Scope, Target)>),
    Whole,
}

#[derive(Debug)]
struct Index {
    queue: Queue,
    incarnation: Option<Incarnation>,
    stock: Stock,
}

/// The notes of one truth store. A new note is due at once; notes that are due alike keep the order they came in.
#[derive(Debug, Default)]
pub(super) struct Notes {
    indexes: BTreeMap<IndexName, Index>,
    /// Numbers stamps and places: never one twice, so that no late settlement fits a later note.
    last: u64,
}

impl Notes {
    /// Begins to keep notes for `index`, and begins anew to note what is stored if it is of another incarnation.
    pub(super) fn enlist(&mut self, index: &IndexName, incarnation: Option<Incarnation>) {
        let known = self.indexes.entry(index.clone()).or_insert_with(|| Index {
            queue: Queue::default(),
            incarnation,
            stock: Stock::Through(None),
        });
        if incarnation.is_some() && incarnation != known.incarnation {
            (known.incarnation, known.stock) = (incarnation, Stock::Through(None));
        }
    }

    /// Notes up to `limit` items of what is stored, which `after` returns behind an item, in order. Returns whether all are
    /// noted.
    pub(super) fn stock<'a, I>(
        &mut self,
        index: &IndexName,
        limit: usize,
        after: impl FnOnce(Option<(Scope, Target)>) -> I,
    ) -> bool
    where
        I: Iterator<Item = (&'a Scope, Target, Epoch, Mark)>,
    {
        let Some(Index { queue, stock, .. }) = self.indexes.get_mut(index) else { return true };
        let Stock::Through(through) = stock else { return true };
        let mut items = after(through.clone()).peekable();
        for (scope, target, epoch, mark) in items.by_ref().take(limit) {
            self.last += 1;
            queue.mark(scope, &target, epoch, mark, self.last);
            *through = Some((scope.clone(), target));
        }
        let is_noted = items.peek().is_none();
        if is_noted {
            *stock = Stock::Whole;
        }
        is_noted
    }

    pub(super) fn doubt(&mut self, index: &IndexName) {
        if let Some(index) = self.indexes.get_mut(index) {
            index.incarnation = None;
        }
    }

    pub(super) fn indexes(&self) -> Vec<Enlisted> {
        let enlisted = self.indexes.iter().map(|(name, index)| Enlisted {
            name: name.clone(),
            incarnation: index.incarnation,
            is_noted: matches!(index.stock, Stock::Whole),
        });
        enlisted.collect()
    }

    pub(super) fn retire(&mut self, index: &IndexName) {
        self.indexes.remove(index);
    }

    /// Notes for every index what happened to messages of a session.
    pub(super) fn mark_session(&mut self, scope: &Scope, session: &SessionId, epoch: Epoch, mark: Mark) {
        if !self.indexes.is_empty() {
            self.mark(scope, &Target::Messages(session.clone()), epoch, mark);
        }
    }

    /// Notes for every index what happened to `target`.
    pub(super) fn mark(&mut self, scope: &Scope, target: &Target, epoch: Epoch, mark: Mark) {
        for index in self.indexes.values_mut() {
            self.last += 1;
            index.queue.mark(scope, target, epoch, mark, self.last);
        }
    }

    /// Replaces all notes of an owner by that of its erasure.
    pub(super) fn bury(&mut self, scope: &Scope, epoch: Epoch) {
        self.forget(scope, epoch);
        self.mark(scope, &Target::Owner, epoch, Mark::Buried);
    }

    /// Drops the notes of an owner from before `below`, except that of its erasure.
    pub(super) fn forget(&mut self, scope: &Scope, below: Epoch) {
        for index in self.indexes.values_mut() {
            index.queue.forget(scope, below);
        }
    }

    pub(super) fn pending(&self, index: &IndexName, now: Timestamp, limit: usize) -> Vec<Note> {
        self.indexes.get(index).map(|index| index.queue.pending(now, limit)).unwrap_or_default()
    }

    pub(super) fn settle(&mut self, index: &IndexName, notes: &[(Note, Outcome)]) {
        let Some(Index { queue, .. }) = self.indexes.get_mut(index) else { return };
        for (note, outcome) in notes {
            self.last += 1;
            queue.settle(note, outcome, self.last);
        }
    }

    pub(super) fn revive(&mut self, index: &IndexName) -> u64 {
        let Some(Index { queue, .. }) = self.indexes.get_mut(index) else { return 0 };
        let revived = queue.revive(self.last);
        self.last += revived;
        revived
    }

    pub(super) fn backlog(&self, index: &IndexName) -> Backlog {
        self.indexes.get(index).map(|index| index.queue.backlog()).unwrap_or_default()
    }

    pub(super) fn backlog_of(&self, scope: &Scope, index: &IndexName) -> Backlog {
        self.indexes.get(index).map(|index| index.queue.backlog_of(scope)).unwrap_or_default()
    }
}
