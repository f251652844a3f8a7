//! The notes of each owner, oldest first, and who makes room when there are too many.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet, VecDeque};
use std::sync::Arc;

use crate::id::{ItemId, RecordId};
use crate::scope::{Epoch, Scope};
use crate::time::Timestamp;

use super::kept::Kept;

/// The notes of one owner, oldest first. A search holds on to them while others change them.
pub(super) type Row = Arc<VecDeque<Arc<Kept>>>;

#[derive(Default)]
pub(super) struct Shelves {
    owners: HashMap<Scope, Shelf>,
    /// The owners by the bytes that they take.
    by_size: BTreeSet<(u64, Scope)>,
    bytes: u64,
    /// How often something was forgotten.
    pub(super) forgotten: u64,
}

struct Shelf {
    row: Row,
    ids: HashSet<RecordId>,
    bytes: u64,
    /// The latest epoch that was seen.
    epoch: Epoch,
    /// Nothing expires before.
    expiry: Timestamp,
}

impl Shelf {
    fn new(scope: &Scope, epoch: Epoch) -> Self {
        let bytes = Shelves::bytes_of_owner(scope);
        Self { row: Row::default(), ids: HashSet::new(), bytes, epoch, expiry: Timestamp(i64::MAX) }
    }

    fn push(&mut self, kept: Kept) {
        self.bytes += kept.bytes;
        self.expiry = self.expiry.min(kept.fields.expires_at.unwrap_or(self.expiry));
        self.ids.insert(kept.stored.record.id);
        Arc::make_mut(&mut self.row).push_back(Arc::new(kept));
    }

    /// Takes out the oldest note.
    fn pop(&mut self) {
        if let Some(oldest) = Arc::make_mut(&mut self.row).pop_front() {
            self.bytes -= oldest.bytes;
            self.ids.remove(&oldest.stored.record.id);
        }
    }

    /// Keeps the notes that are to stay.
    fn retain(&mut self, stays: impl Fn(&Kept) -> bool) {
        let Self { row, ids, bytes, .. } = self;
        Arc::make_mut(row).retain(|kept| {
            let stays = stays(kept);
            if !stays {
                *bytes -= kept.bytes;
                ids.remove(&kept.stored.record.id);
            }
            stays
        });
        self.expiry = self.row.iter().filter_map(|kept| kept.fields.expires_at).min().unwrap_or(Timestamp(i64::MAX));
    }
}

/// What became of a note.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Placed {
    /// Whether there was no such note.
    pub(crate) is_new: bool,
    /// How many notes of each owner made room for it.
    pub(crate) evicted: BTreeMap<Scope, usize>,
}

impl Shelves {
    /// Returns the bytes that an owner takes besides the notes.
    pub(super) fn bytes_of_owner(scope: &Scope) -> u64 {
        (2 * size_of::<(u64, Scope)>() + size_of::<Shelf>() + scope.key().len()) as u64
    }

    pub(super) fn has(&self, scope: &Scope) -> bool {
        self.owners.contains_key(scope)
    }

    fn holds(&self, scope: &Scope, id: RecordId) -> bool {
        self.owners.get(scope).is_some_and(|shelf| shelf.ids.contains(&id))
    }

    /// Returns the notes of an owner in `epoch`, and drops those of earlier epochs.
    pub(super) fn of(&mut self, scope: &Scope, epoch: Epoch) -> Row {
        self.advance(scope, epoch);
        let shelf = self.owners.get(scope).filter(|shelf| shelf.epoch <= epoch);
        shelf.map(|shelf| Arc::clone(&shelf.row)).unwrap_or_default()
    }

    /// Puts a note behind the others, in place of the one with its id, and makes room until no more than `most` bytes are taken.
    /// None if notes of a later epoch are there: then the owner was erased after this one was checked.
    pub(super) fn put(&mut self, scope: &Scope, kept: Kept, most: u64, now: Timestamp) -> Option<Placed> {
        let (id, epoch) = (kept.stored.record.id, kept.epoch);
        self.advance(scope, epoch);
        if self.owners.get(scope).is_some_and(|shelf| shelf.epoch > epoch) {
            return None;
        }
        let is_new = !self.holds(scope, id);
        if !is_new {
            self.retain(scope, |old| old.stored.record.id != id);
        }
        if !self.has(scope) {
            let shelf = Shelf::new(scope, epoch);
            self.bytes += shelf.bytes;
            self.by_size.insert((shelf.bytes, scope.clone()));
            self.owners.insert(scope.clone(), shelf);
        }
        self.change(scope, |shelf| shelf.push(kept));
        let mut placed = Placed { is_new, evicted: BTreeMap::new() };
        while self.bytes > most {
            let Some((owner, count)) = self.make_room((scope, id), now) else { break };
            *placed.evicted.entry(owner).or_default() += count;
        }
        placed.evicted.retain(|_, count| *count > 0);
        Some(placed)
    }

    /// Takes out the expired notes of the owner who takes the most or, if none has expired, the oldest one; but not what was just
    /// put. Returns the owner and how many live notes went; none if nothing is left to take.
    fn make_room(&mut self, put: (&Scope, RecordId), now: Timestamp) -> Option<(Scope, usize)> {
        let is_put = |scope: &Scope, kept: &Kept| put == (scope, kept.stored.record.id);
        let has_other = |scope: &&Scope| {
            let oldest = self.owners.get(*scope).and_then(|shelf| shelf.row.front());
            oldest.is_some_and(|oldest| !is_put(scope, oldest))
        };
        let owner = self.by_size.iter().rev().map(|(_, scope)| scope).find(has_other)?.clone();
        let expires = self.owners.get(&owner).is_some_and(|shelf| shelf.expiry <= now);
        if expires && self.retain(&owner, |kept| is_put(&owner, kept) || !kept.is_expired(now)) > 0 {
            return Some((owner, 0));
        }
        self.change(&owner, Shelf::pop);
        Some((owner, 1))
    }

    /// Drops notes that are among `items`, or derived from one of them. Returns how many of each there were.
    pub(super) fn forget(&mut self, scope: &Scope, items: &HashSet<&ItemId>) -> (u64, u64) {
        self.forgotten += 1;
        let named = self.retain(scope, |kept| !items.contains(&kept.item()));
        (named, self.retain(scope, |kept| !kept.fields.sources.iter().any(|source| items.contains(source))))
    }

    /// Drops what an owner noted before the epoch `below`, and returns how many notes that were.
    pub(super) fn erase(&mut self, scope: &Scope, below: Epoch) -> u64 {
        self.forgotten += 1;
        self.advance(scope, below)
    }

    /// Drops what has expired, and returns how many notes that were.
    pub(super) fn sweep(&mut self, now: Timestamp) -> u64 {
        let due = self.owners.iter().filter(|(_, shelf)| shelf.expiry <= now);
        let due: Vec<Scope> = due.map(|(scope, _)| scope.clone()).collect();
        due.iter().map(|scope| self.retain(scope, |kept| !kept.is_expired(now))).sum()
    }

    pub(super) fn clear(&mut self) {
        *self = Self { forgotten: self.forgotten + 1, ..Self::default() };
    }

    /// Takes note that an owner has come to an epoch: earlier notes are dropped. Returns how many.
    fn advance(&mut self, scope: &Scope, epoch: Epoch) -> u64 {
        let Some(shelf) = self.owners.get_mut(scope).filter(|shelf| shelf.epoch < epoch) else { return 0 };
        shelf.epoch = epoch;
        self.retain(scope, |kept| kept.epoch >= epoch)
    }

    /// Drops the notes of an owner that are not to stay, and returns how many.
    fn retain(&mut self, scope: &Scope, stays: impl Fn(&Kept) -> bool) -> u64 {
        let count = |shelves: &Self| shelves.owners.get(scope).map_or(0, |shelf| shelf.row.len() as u64);
        let before = count(self);
        self.change(scope, |shelf| shelf.retain(stays));
        before - count(self)
    }

    /// Changes the shelf of an owner, and what is known of its size. One without notes is taken down.
    fn change(&mut self, scope: &Scope, change: impl FnOnce(&mut Shelf)) {
        let Some(shelf) = self.owners.get_mut(scope) else { return };
        let before = shelf.bytes;
        change(shelf);
        let after = if shelf.row.is_empty() { 0 } else { shelf.bytes };
        self.by_size.remove(&(before, scope.clone()));
        self.bytes = self.bytes - before + after;
        if after == 0 {
            self.owners.remove(scope);
        } else {
            self.by_size.insert((after, scope.clone()));
        }
    }

    #[cfg(test)]
    pub(super) fn bytes(&self) -> u64 {
        let held: u64 = self.owners.values().map(|shelf| shelf.bytes).sum();
        let kept = |(scope, shelf): (&Scope, &Shelf)| {
            Self::bytes_of_owner(scope) + shelf.row.iter().map(|kept| kept.bytes).sum::<u64>()
        };
        assert_eq!((held, self.by_size.len()), (self.owners.iter().map(kept).sum(), self.owners.len()));
        assert_eq!(self.bytes, held);
        held
    }
}
