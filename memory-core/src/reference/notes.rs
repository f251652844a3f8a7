//! The notes of what is still to be indexed, for both truth stores.

mod queue;
mod row;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use crate::id::SessionId;
use crate::scope::{Epoch, Scope};
use crate::store::upkeep::{Backlog, Enlisted, Incarnation, IndexName, Note, Outcome, Target};
use crate::time::Timestamp;

use queue::Queue;

pub(super) use row::Mark;

/// Implements the upkeep of a store: its tables answer the five calls that are about what they hold, their notes the others.
macro_rules! noted {
    ({ $store:ident } Upkeep {} calls {
        $($kind:ident $doing:literal $method:ident($($argument:ident: $type:ty),*) -> $answer:ty;)*
    }) => {
        #[async_trait]
        impl Upkeep for $store {
            $(async fn $method(&self, $($argument: $type),*) -> Result<$answer> {
                noted!(@ self $method $($argument)*)
            })*
        }
    };
    (@ $self:ident enlist $($argument:ident)*) => { $self.state.lock().enlist($($argument),*) };
    (@ $self:ident sweep $($argument:ident)*) => { $self.state.lock().sweep($($argument),*) };
    (@ $self:ident owners $($argument:ident)*) => { $self.state.lock().owners($($argument),*) };
    (@ $self:ident bury $($argument:ident)*) => { $self.state.lock().bury($($argument),*) };
    (@ $self:ident epoch $($argument:ident)*) => { $self.state.lock().epoch($($argument),*) };
    (@ $self:ident $method:ident $($argument:ident)*) => { Ok($self.state.lock().notes.$method($($argument),*)) };
}
pub(super) use noted;

/// How far the items that were stored before an index was enlisted are noted for it.
#[derive(Debug)]
enum Stock {
    /// Up to and including this item; `None` if none is noted yet.
    Through(Option<(Scope, Target)>),
    Whole,
}

#[derive(Debug)]
struct Index {
    queue: Queue,
    incarnation: Option<Incarnation>,
    stock: Stock,
}

/// The notes of one truth store. A new note is due at once. Notes due at the same time keep their order.
#[derive(Debug, Default)]
pub(super) struct Notes {
    indexes: BTreeMap<IndexName, Index>,
    /// The last number of a stamp or place. Numbers are never reused, so that no late settlement fits a later note.
    last: u64,
}

impl Notes {
    /// Begins to keep notes for `index`. If it has another incarnation, begins anew to note what is stored.
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

    /// Notes up to `limit` stored items, which `after` returns from an item on, in order. Returns whether all are noted.
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

    /// Notes a change of a session's messages for every index.
    pub(super) fn mark_session(&mut self, scope: &Scope, session: &SessionId, epoch: Epoch, mark: Mark) {
        if !self.indexes.is_empty() {
            self.mark(scope, &Target::Messages(session.clone()), epoch, mark);
        }
    }

    /// Notes a change of `target` for every index.
    pub(super) fn mark(&mut self, scope: &Scope, target: &Target, epoch: Epoch, mark: Mark) {
        for (name, index) in &mut self.indexes {
            // Nothing of what was changed lies with those who find facts.
            if matches!(mark, Mark::Changed { .. }) && name.finds_facts() {
                continue;
            }
            self.last += 1;
            index.queue.mark(scope, target, epoch, mark, self.last);
        }
    }

    /// Replaces all notes of an owner by one of its erasure.
    pub(super) fn bury(&mut self, scope: &Scope, epoch: Epoch) {
        self.forget(scope, epoch);
        self.mark(scope, &Target::Owner, epoch, Mark::Buried);
    }

    /// Drops the notes of an owner from before `below`, except the one of its erasure.
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
