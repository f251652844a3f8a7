//! What this process wrote and the index of words may not have yet. Searches read it from truth, so that what was stored is
//! found at once.

use std::collections::{HashMap, HashSet, VecDeque};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use crate::id::{ItemId, RecordId, SessionId, Unit};
use crate::scope::Scope;
use crate::sync::Lock;

/// How many items of an owner are held at most, the newest.
const ITEMS: usize = 128;

/// How many owners are held at most. For a further one another is let go, and finds its items when they are indexed.
const OWNERS: usize = 1_000;

/// An item that was written. Only its id is held, so nothing of its content outlives it here.
#[derive(Clone, Debug)]
pub(crate) struct Written {
    pub(crate) item: ItemId,
    /// Where a message stands.
    pub(crate) session: Option<SessionId>,
    /// The version of a record; 0 for a message.
    pub(crate) version: u64,
}

impl Written {
    /// Notes a version of a record.
    pub(crate) fn record(id: RecordId, version: u64) -> Self {
        Self { item: ItemId::Record(id), session: None, version }
    }
}

/// A moment between notes: what was noted before it is told from what was noted since.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Mark(u64);

/// The items that were written of late, by owner.
#[derive(Debug, Default)]
pub(crate) struct Unindexed {
    /// Each with the mark that was the next when it was noted.
    owners: Lock<HashMap<Scope, VecDeque<(u64, Written)>>>,
    marks: AtomicU64,
    /// Whether there are any, so that a search usually needs no lock.
    any: AtomicBool,
}

impl Unindexed {
    /// Notes items, oldest first.
    pub(crate) fn note(&self, scope: &Scope, written: impl DoubleEndedIterator<Item = Written>) {
        let mut newest: Vec<Written> = written.rev().take(ITEMS).collect();
        if newest.is_empty() {
            return;
        }
        newest.reverse();
        let mut owners = self.owners.lock();
        if owners.len() >= OWNERS && !owners.contains_key(scope) {
            let other = owners.keys().next().cloned();
            other.and_then(|other| owners.remove(&other));
        }
        let items = owners.entry(scope.clone()).or_default();
        let again: HashMap<&ItemId, u64> = newest.iter().map(|written| (&written.item, written.version)).collect();
        items.retain(|(_, written)| again.get(&written.item).is_none_or(|version| *version < written.version));
        let mark = self.marks.load(Ordering::Acquire);
        items.extend(newest.into_iter().map(|written| (mark, written)));
        items.drain(..items.len().saturating_sub(ITEMS));
        self.any.store(true, Ordering::Release);
    }

    /// Returns the owner's items, each once, except those of the session `but`.
    pub(crate) fn of(&self, scope: &Scope, but: Option<&SessionId>) -> Vec<ItemId> {
        if !self.any.load(Ordering::Acquire) {
            return Vec::new();
        }
        let owners = self.owners.lock();
        let items = owners.get(scope).into_iter().flatten();
        let elsewhere =
            items.map(|(_, written)| written).filter(|written| but.is_none() || written.session.as_ref() != but);
        let mut seen = HashSet::new();
        elsewhere.map(|written| &written.item).filter(|item| seen.insert(*item)).cloned().collect()
    }

    /// Takes out items that are indexed, each up to a version.
    pub(crate) fn remove(&self, scope: &Scope, indexed: impl Iterator<Item = (ItemId, u64)>) {
        if !self.any.load(Ordering::Acquire) {
            return;
        }
        let mut owners = self.owners.lock();
        if let Some(items) = owners.get_mut(scope) {
            let indexed: HashMap<ItemId, u64> = indexed.collect();
            items.retain(|(_, written)| indexed.get(&written.item).is_none_or(|version| *version < written.version));
            if items.is_empty() {
                owners.remove(scope);
            }
        }
        self.any.store(!owners.is_empty(), Ordering::Release);
    }

    /// Returns a mark between what was noted so far and what will be; none if there is nothing.
    pub(crate) fn mark(&self) -> Option<Mark> {
        let is_any = self.any.load(Ordering::Acquire);
        is_any.then(|| Mark(self.marks.fetch_add(1, Ordering::AcqRel)))
    }

    /// Takes out the messages, or the records, that were noted before a mark: the index has all of them.
    pub(crate) fn remove_until(&self, mark: Mark, unit: Unit) {
        let mut owners = self.owners.lock();
        owners.retain(|_, items| {
            items.retain(|(noted, written)| *noted > mark.0 || written.item.unit() != unit);
            !items.is_empty()
        });
        self.any.store(!owners.is_empty(), Ordering::Release);
    }

    /// Takes out everything of an owner.
    pub(crate) fn forget(&self, scope: &Scope) {
        let mut owners = self.owners.lock();
        owners.remove(scope);
        self.any.store(!owners.is_empty(), Ordering::Release);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::id::MessageId;

    fn message(text: &str, session: &str) -> Written {
        let item = ItemId::Message(MessageId::of_content(text.as_bytes()));
        Written { item, session: Some(SessionId::new(session).unwrap()), version: 0 }
    }

    fn record(text: &str, version: u64) -> Written {
        Written::record(RecordId::of_content(text.as_bytes()), version)
    }

    fn ada() -> Scope {
        Scope::new("acme", "ada").unwrap()
    }

    #[test]
    fn an_item_stays_until_its_last_version_is_indexed() {
        let unindexed = Unindexed::default();
        let [one, first, second] = [message("one", "s"), record("two", 1), record("two", 2)];
        unindexed.note(&ada(), [one.clone(), first.clone(), second].into_iter());
        assert_eq!(unindexed.of(&ada(), None), [one.item.clone(), first.item.clone()]);
        let told = vec![first.item.clone()];
        assert_eq!(unindexed.of(&ada(), Some(&SessionId::new("s").unwrap())), told);
        assert_eq!(unindexed.of(&Scope::new("acme", "bob").unwrap(), None), []);

        unindexed.remove(&ada(), [(one.item, 7), (first.item.clone(), 1)].into_iter());
        assert_eq!(unindexed.of(&ada(), None), told);
        unindexed.remove(&ada(), [(first.item, 2)].into_iter());
        assert_eq!(unindexed.of(&ada(), None), []);
        assert!(unindexed.owners.lock().is_empty() && !unindexed.any.load(Ordering::Acquire));
    }

    #[test]
    fn an_item_is_held_once_with_its_last_version() {
        let unindexed = Unindexed::default();
        for written in [record("one", 1), message("two", "s"), record("one", 2), message("two", "s")] {
            unindexed.note(&ada(), [written].into_iter());
        }
        assert_eq!(unindexed.owners.lock().values().map(VecDeque::len).sum::<usize>(), 2);
        unindexed.remove(&ada(), [(record("one", 1).item, 1)].into_iter());
        assert_eq!(unindexed.of(&ada(), None).len(), 2);
    }

    #[test]
    fn what_was_noted_before_a_mark_is_taken_out_and_nothing_else() {
        let unindexed = Unindexed::default();
        assert!(unindexed.mark().is_none());
        unindexed.note(&ada(), [message("one", "s"), record("two", 1)].into_iter());
        let mark = unindexed.mark().unwrap();
        unindexed.note(&ada(), [message("three", "s")].into_iter());
        unindexed.remove_until(mark, Unit::Message);
        assert_eq!(unindexed.of(&ada(), None), [record("two", 1).item, message("three", "s").item]);
        let mark = unindexed.mark().unwrap();
        [Unit::Message, Unit::Record].iter().for_each(|unit| unindexed.remove_until(mark, *unit));
        assert!(unindexed.mark().is_none() && unindexed.owners.lock().is_empty());
    }

    #[test]
    fn it_is_bounded_and_forgets() {
        let unindexed = Unindexed::default();
        unindexed.note(&ada(), (0..3 * ITEMS).map(|number| message(&number.to_string(), "s")));
        unindexed.note(&ada(), [message("last", "s")].into_iter());
        let held = unindexed.of(&ada(), None);
        assert_eq!((held.len(), held.last()), (ITEMS, Some(&message("last", "s").item)));
        unindexed.forget(&ada());
        assert_eq!(unindexed.of(&ada(), None), []);
        for number in 0..2 * OWNERS {
            let owner = Scope::new("acme", &number.to_string()).unwrap();
            unindexed.note(&owner, [message("one", "s")].into_iter());
            assert_eq!(unindexed.of(&owner, None).len(), 1);
        }
        assert_eq!(unindexed.owners.lock().len(), OWNERS);
    }
}
