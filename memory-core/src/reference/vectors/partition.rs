//! The vectors of one owner, in one block without gaps.

use std::collections::HashMap;

use crate::fields::Fields;
use crate::id::{ItemId, SessionId, Unit, Version};
use crate::scope::Epoch;
use crate::vector::{VectorEntry, normalise};

#[derive(Debug)]
pub(super) struct Entry {
    pub(super) item: ItemId,
    version: Version,
    pub(super) fields: Fields,
    /// The row of each piece.
    pub(super) rows: Vec<usize>,
}

/// Whose vector a row is.
#[derive(Clone, Copy, Debug)]
pub(super) struct Holder {
    pub(super) slot: usize,
    pub(super) piece: u32,
}

#[derive(Debug, Default)]
pub(super) struct Partition {
    /// What was written in an earlier epoch is erased.
    below: Epoch,
    /// Unit vectors, row after row.
    pub(super) numbers: Vec<f32>,
    /// One per row.
    pub(super) holders: Vec<Holder>,
    /// Boxed, so that a scan that only asks which slots are taken reads little.
    pub(super) slots: Vec<Option<Box<Entry>>>,
    free: Vec<usize>,
    items: HashMap<ItemId, usize>,
}

impl Partition {
    /// Puts an entry that was checked, unless it was erased or a newer one of its item is there.
    pub(super) fn put(&mut self, entry: &VectorEntry) {
        let VectorEntry { item, version, pieces, fields } = entry;
        let stored = self.items.get(item).and_then(|slot| self.slots.get(*slot)?.as_deref());
        if version.epoch < self.below || stored.is_some_and(|stored| stored.version > *version) {
            return;
        }
        self.delete(item);
        let slot = self.free.pop().unwrap_or(self.slots.len());
        let mut rows = Vec::with_capacity(pieces.len());
        for (piece, vector) in (0..).zip(pieces.iter().filter_map(|piece| normalise(piece))) {
            rows.push(self.holders.len());
            self.holders.push(Holder { slot, piece });
            self.numbers.extend_from_slice(&vector);
        }
        let entry = Some(Box::new(Entry { item: item.clone(), version: *version, fields: fields.clone(), rows }));
        match self.slots.get_mut(slot) {
            Some(free) => *free = entry,
            None => self.slots.push(entry),
        }
        self.items.insert(item.clone(), slot);
    }

    pub(super) fn delete(&mut self, item: &ItemId) {
        let Some(slot) = self.items.remove(item) else { return };
        while let Some(row) = self.slots.get_mut(slot).and_then(|entry| entry.as_mut()?.rows.pop()) {
            self.remove_row(row);
        }
        if let Some(entry) = self.slots.get_mut(slot) {
            *entry = None;
            self.free.push(slot);
        }
    }

    /// Removes a row that its entry has forgotten already; the last row takes its place.
    fn remove_row(&mut self, row: usize) {
        let Some(last) = self.holders.len().checked_sub(1) else { return };
        let dimension = self.numbers.len() / self.holders.len();
        self.numbers.copy_within(last * dimension.., row * dimension);
        self.numbers.truncate(last * dimension);
        self.holders.swap_remove(row);
        let Some(Holder { slot, piece }) = self.holders.get(row).copied() else { return };
        let moved = self.slots.get_mut(slot).and_then(|entry| entry.as_mut()?.rows.get_mut(piece as usize));
        if let Some(moved) = moved {
            *moved = row;
        }
    }

    pub(super) fn delete_session(&mut self, session: &SessionId) {
        self.delete_where(|entry| entry.item.unit() != Unit::Record && entry.fields.session.as_ref() == Some(session));
    }

    /// Removes everything from before `below`, now and from now on; returns how many items there were.
    pub(super) fn erase(&mut self, below: Epoch) -> usize {
        self.below = self.below.max(below);
        self.delete_where(|entry| entry.version.epoch < below)
    }

    fn delete_where(&mut self, is_meant: impl Fn(&Entry) -> bool) -> usize {
        let entries = self.slots.iter().flatten();
        let meant: Vec<ItemId> = entries.filter(|entry| is_meant(entry)).map(|entry| entry.item.clone()).collect();
        meant.iter().for_each(|item| self.delete(item));
        if self.items.is_empty() {
            *self = Self { below: self.below, ..Self::default() };
        }
        meant.len()
    }
}
