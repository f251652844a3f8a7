//! A cache of owners' indexes, bounded in bytes; the least recently used leaves first.

use std::collections::{BTreeMap, HashMap};
use std::fmt;
use std::hash::Hash;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The overhead of an owner in the cache, in bytes, counted so that many small owners do not exceed the bound.
const PLACE: usize = 1 << 10;

/// The cached part of one owner's index.
pub(crate) trait Held {
    /// Returns its approximate size in bytes.
    fn bytes(&self) -> usize;
}

/// A cache of the indexes of recently searched owners.
pub(crate) struct Cache<K, H> {
    bound: usize,
    kept: Mutex<Kept<K, H>>,
}

struct Kept<K, H> {
    owners: HashMap<K, Entry<H>>,
    /// The owners by their last use.
    uses: BTreeMap<u64, K>,
    clock: u64,
    bytes: usize,
}

struct Entry<H> {
    held: Arc<H>,
    used: u64,
    bytes: usize,
}

impl<K: Clone + Eq + Hash, H: Held> Cache<K, H> {
    /// Returns an empty cache of at most `bound` bytes.
    pub(crate) fn new(bound: usize) -> Self {
        Self { bound, kept: Mutex::new(Kept::new()) }
    }

    pub(crate) fn bound(&self) -> usize {
        self.bound
    }

    /// Returns an owner's entry.
    pub(crate) fn get(&self, key: &K) -> Option<Arc<H>> {
        self.lock().touch(key)
    }

    /// Returns an owner's entry, made by `begin` if there is none.
    pub(crate) fn get_or_begin(&self, key: &K, begin: impl FnOnce() -> H) -> Arc<H> {
        let mut kept = self.lock();
        if let Some(held) = kept.touch(key) {
            return held;
        }
        let held = Arc::new(begin());
        let used = kept.tick(key);
        kept.owners.insert(key.clone(), Entry { held: Arc::clone(&held), used, bytes: 0 });
        held
    }

    /// Returns whether the cache may hold this much of one owner.
    pub(crate) fn has_room(&self, held: &H) -> bool {
        held.bytes() + PLACE <= self.bound
    }

    /// Updates the size of `held`, and evicts entries beyond the bound.
    pub(crate) fn weigh(&self, key: &K, held: &Arc<H>) {
        let bytes = held.bytes() + PLACE;
        let mut kept = self.lock();
        let Some(place) = kept.owners.get_mut(key).filter(|place| Arc::ptr_eq(&place.held, held)) else { return };
        let before = std::mem::replace(&mut place.bytes, bytes);
        kept.bytes = kept.bytes - before + bytes;
        if bytes > self.bound {
            kept.remove(key);
        }
        while kept.bytes > self.bound {
            let Some((_, oldest)) = kept.uses.first_key_value().map(|(used, key)| (*used, key.clone())) else { return };
            kept.remove(&oldest);
        }
    }

    /// Drops an owner's entry.
    pub(crate) fn remove(&self, key: &K) {
        self.lock().remove(key);
    }

    /// Drops all entries.
    pub(crate) fn clear(&self) {
        *self.lock() = Kept::new();
    }

    #[cfg(test)]
    pub(crate) fn bytes(&self) -> usize {
        self.lock().bytes
    }

    fn lock(&self) -> MutexGuard<'_, Kept<K, H>> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<K: Clone + Eq + Hash, H> Kept<K, H> {
    fn new() -> Self {
        Self { owners: HashMap::new(), uses: BTreeMap::new(), clock: 0, bytes: 0 }
    }

    fn tick(&mut self, key: &K) -> u64 {
        self.clock += 1;
        self.uses.insert(self.clock, key.clone());
        self.clock
    }

    fn touch(&mut self, key: &K) -> Option<Arc<H>> {
        let used = self.owners.get(key)?.used;
        self.uses.remove(&used);
        let used = self.tick(key);
        let place = self.owners.get_mut(key)?;
        place.used = used;
        Some(Arc::clone(&place.held))
    }

    fn remove(&mut self, key: &K) {
        if let Some(Entry { held: _, used, bytes }) = self.owners.remove(key) {
            self.uses.remove(&used);
            self.bytes -= bytes;
        }
    }
}

/// Shows nothing of the content.
impl<K, H> fmt::Debug for Cache<K, H> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Cache").field("bound", &self.bound).finish_non_exhaustive()
    }
}
