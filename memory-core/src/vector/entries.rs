//! The items of a partition, and the rows that belong to each.

use std::collections::HashMap;

use crate::fields::Fields;
use crate::id::{ItemId, Version};

/// The items of a partition, and the rows of each.
#[derive(Debug, Default)]
pub(super) struct Entries {
    /// The holder of each row.
    pub(super) holders: Vec<Holder>,
    /// The entries, contiguous because a selective filter reads all of them.
    pub(super) slots: Vec<Option<Entry>>,
    pub(super) free: Vec<usize>,
    pub(super) items: HashMap<ItemId, usize>,
}

#[derive(Debug)]
pub(super) struct Entry {
    pub(super) item: ItemId,
    pub(super) version: Version,
    pub(super) fields: Fields,
    /// The row of each piece.
    pub(super) rows: Vec<usize>,
}

/// The slot and piece of a row.
#[derive(Clone, Copy, Debug)]
pub(super) struct Holder {
    pub(super) slot: usize,
    pub(super) piece: u32,
}

impl Entries {
    pub(super) fn entry(&self, slot: usize) -> Option<&Entry> {
        self.slots.get(slot)?.as_ref()
    }

    /// Returns the slot, the piece and the entry that a row belongs to.
    pub(super) fn holder(&self, row: usize) -> Option<(usize, u32, &Entry)> {
        let Holder { slot, piece } = *self.holders.get(row)?;
        Some((slot, piece, self.entry(slot)?))
    }

    /// Returns whether an item has several pieces.
    pub(super) fn has_pieces(&self) -> bool {
        self.holders.len() > self.items.len()
    }
}
