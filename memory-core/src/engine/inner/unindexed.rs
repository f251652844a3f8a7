//! What this process wrote and the index of words may not have yet. Searches read it from truth, so that what was stored is
//! found at once.

use std::collections::{HashMap, HashSet, VecDeque};
use std::sync::PoisonError;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::id::{ItemId, RecordId, SessionId};
use crate::scope::Scope;
use crate::sync::{Mutex, MutexGuard};

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

/// The items that were written of late, by owner.
#[derive(Debug, Default)]
pub(crate) struct Unindexed {
    owners: Mutex<HashMap<Scope, VecDeque<Written>>>,
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
        let mut owners = self.owners();
        if owners.len() >= OWNERS && !owners.contains_key(scope) {
            let other = owners.keys().next().cloned();
            other.and_then(|other| owners.remove(&other));
        }
        let items = owners.entry(scope.clone()).or_default();
        items.extend(newest);
        items.drain(..items.len().saturating_sub(ITEMS));
        self.any.store(true, Ordering::Release);
    }

    /// Returns the owner's items, each once, except those of the session `but`.
    pub(crate) fn of(&self, scope: &Scope, but: Option<&SessionId>) -> Vec<ItemId> {
        if !self.any.load(Ordering::Acquire) {
            return Vec::new();
        }
        let owners = self.owners();
        let items = owners.get(scope).into_iter().flatten();
        let elsewhere = items.filter(|written| but.is_none() || written.session.as_ref() != but);
        let mut seen = HashSet::new();
        elsewhere.map(|written| &written.item).filter(|item| seen.insert(*item)).cloned().collect()
    }

    /// Takes out items that are indexed, each up to a version.
    pub(crate) fn remove(&self, scope: &Scope, indexed: impl Iterator<Item = (ItemId, u64)>) {
        if !self.any.load(Ordering::Acquire) {
            return;
        }
        let mut owners = self.owners();
        if let Some(items) = owners.get_mut(scope) {
            let indexed: HashMap<ItemId, u64> = indexed.collect();
            items.retain(|written| indexed.get(&written.item).is_none_or(|version| *version < written.version));
            if items.is_empty() {
                owners.remove(scope);
            }
        }
        self.any.store(!owners.is_empty(), Ordering::Release);
    }

    /// Takes out everything of an owner.
    pub(crate) fn forget(&self, scope: &Scope) {
        let mut owners = self.owners();
        owners.remove(scope);
        self.any.store(!owners.is_empty(), Ordering::Release);
    }

    fn owners(&self) -> MutexGuard<'_, HashMap<Scope, VecDeque<Written>>> {
        self.owners.lock().unwrap_or_else(PoisonError::into_inner)
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
        assert!(unindexed.owners().is_empty() && !unindexed.any.load(Ordering::Acquire));
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
        assert_eq!(unindexed.owners().len(), OWNERS);
    }
}
