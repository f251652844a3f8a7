//! What this process wrote and an index may not have yet. Searches and gates read it from truth, so that what was stored is found at
//! once.

use std::collections::{HashMap, HashSet, VecDeque};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use crate::id::{ItemId, RecordId, SessionId, Unit};
use crate::scope::Scope;
use crate::sync::Lock;

/// How many items of an owner are held at most, the newest.
const ITEMS: usize = 128;

/// How many bytes of them a search reads at most. What is left out is found when it is indexed.
const BYTES: u64 = 4 << 20;

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
    /// How many bytes it has.
    pub(crate) bytes: u64,
}

impl Written {
    /// Notes a version of a record of so many bytes.
    pub(crate) fn record(id: RecordId, version: u64, bytes: u64) -> Self {
        Self { item: ItemId::Record(id), session: None, version, bytes }
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

    /// Returns the owner's items, each once, except those of the session `but`; the shortest, if all have more bytes than a search
    /// reads.
    pub(crate) fn of(&self, scope: &Scope, but: Option<&SessionId>) -> Vec<ItemId> {
        if !self.any.load(Ordering::Acquire) {
            return Vec::new();
        }
        let owners = self.owners.lock();
        let newest = owners.get(scope).into_iter().flatten().rev().map(|(_, written)| written);
        let elsewhere = newest.filter(|written| but.is_none() || written.session.as_ref() != but);
        let mut seen = HashSet::new();
        let once = elsewhere.filter(|written| seen.insert(&written.item));
        let mut items = shortest(once.map(|written| (written.item.clone(), written.bytes)).collect());
        items.reverse();
        items
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

/// Returns the shortest of `items`, each given with its bytes, that a search reads: one long text hides no short ones. Of equally
/// long ones the first.
pub(super) fn shortest<T>(mut items: Vec<(T, u64)>) -> Vec<T> {
    items.sort_by_key(|(_, bytes)| *bytes);
    let mut sum = 0_u64;
    let within = items.into_iter().take_while(|(_, bytes)| {
        sum = sum.saturating_add(*bytes);
        sum <= BYTES
    });
    within.map(|(item, _)| item).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::id::MessageId;

    fn message(text: &str, session: &str) -> Written {
        let item = ItemId::Message(MessageId::of_content(text.as_bytes()));
        Written { item, session: Some(SessionId::new(session).unwrap()), version: 0, bytes: 100 }
    }

    fn record(text: &str, version: u64) -> Written {
        Written::record(RecordId::of_content(text.as_bytes()), version, 100)
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
    fn of_long_items_those_are_read_that_have_few_bytes_together() {
        let unindexed = Unindexed::default();
        let sized = |text: &str, bytes| Written { bytes, ..message(text, "s") };
        let long = ["a", "b", "c"].map(|text| sized(text, BYTES / 2 - 100));
        let short = ["d", "e"].map(|text| sized(text, 100));
        let all = [short[0].clone(), long[0].clone(), long[1].clone(), long[2].clone(), short[1].clone()];
        unindexed.note(&ada(), all.into_iter());
        let mut read = unindexed.of(&ada(), None);
        read.sort();
        // The newest of the long ones.
        let mut expected = [&short[0], &short[1], &long[1], &long[2]].map(|written| written.item.clone());
        expected.sort();
        assert_eq!(read, expected);
        unindexed.note(&ada(), [sized("f", BYTES + 1)].into_iter());
        assert_eq!(unindexed.of(&ada(), None).len(), 4);
        // A later version counts, however long the first was.
        let [brief, long] = [record("g", 1), Written { bytes: BYTES, ..record("g", 2) }];
        unindexed.note(&ada(), [brief.clone(), long].into_iter());
        assert!(!unindexed.of(&ada(), None).contains(&brief.item));
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
