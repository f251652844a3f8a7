//! The documents of one owner and unit, with a posting list for each term.
//!
//! A document knows its place in each of its lists, so that it is removed without a search: the last posting takes its place.

use std::collections::HashMap;

use crate::fields::Fields;
use crate::id::{ItemId, Version};
use crate::store::text::{Term, TextEntry};

#[derive(Debug)]
pub(super) struct Document {
    pub(super) item: ItemId,
    pub(super) version: Version,
    pub(super) fields: Fields,
    /// Its lists in ascending order, each with its place there.
    terms: Vec<(usize, usize)>,
}

/// A slot for a document. Lengths are stored apart, because scoring reads those of every candidate.
#[derive(Debug, Default)]
pub(super) struct Slot {
    pub(super) length: u32,
    pub(super) document: Option<Box<Document>>,
}

/// A document's entry in the list of a term.
#[derive(Clone, Copy, Debug)]
pub(super) struct Posting {
    pub(super) slot: u32,
    /// The place of this list among the document's terms.
    back: u32,
    pub(super) own: u32,
    pub(super) near: f32,
}

#[derive(Debug)]
pub(super) struct List {
    term: Term,
    /// How many documents hold the term themselves.
    pub(super) containing: u64,
    pub(super) postings: Vec<Posting>,
}

#[derive(Debug, Default)]
pub(super) struct Postings {
    pub(super) slots: Vec<Slot>,
    free_slots: Vec<usize>,
    items: HashMap<ItemId, usize>,
    lists: Vec<Option<List>>,
    free_lists: Vec<usize>,
    terms: HashMap<Term, usize>,
    /// The sum of all lengths.
    length: u64,
}

impl Postings {
    pub(super) fn documents(&self) -> impl Iterator<Item = &Document> {
        self.slots.iter().filter_map(|slot| slot.document.as_deref())
    }

    /// Returns whether documents that were removed have left nothing behind.
    #[cfg(test)]
    pub(super) fn is_bare(&self) -> bool {
        let is_empty = self.items.is_empty() && self.terms.is_empty() && self.length == 0;
        is_empty && self.lists.iter().all(Option::is_none) && self.documents().next().is_none()
    }

    /// Returns the version of an item.
    pub(super) fn version(&self, item: &ItemId) -> Option<Version> {
        Some(self.slots.get(*self.items.get(item)?)?.document.as_ref()?.version)
    }

    pub(super) fn count(&self) -> u64 {
        self.items.len() as u64
    }

    /// Returns the mean length of the documents; 0 without any.
    pub(super) fn mean_length(&self) -> f32 {
        if self.items.is_empty() { 0.0 } else { (self.length as f64 / self.items.len() as f64) as f32 }
    }

    /// Returns the list of a term.
    pub(super) fn list(&self, term: &Term) -> Option<&List> {
        self.lists.get(*self.terms.get(term)?)?.as_ref()
    }

    /// Puts an entry, unless its item has a newer one.
    pub(super) fn put(&mut self, entry: &TextEntry) {
        let TextEntry { item, version, own: _, near: _, fields } = entry;
        if self.version(item).is_some_and(|stored| stored > *version) {
            return;
        }
        self.delete(item);
        let slot = self.free_slots.pop().unwrap_or(self.slots.len());
        let counts = self.counts(entry);
        let mut terms = Vec::with_capacity(counts.len());
        for (back, (number, own, near)) in (0..).zip(counts) {
            let Some(list) = self.lists.get_mut(number).and_then(Option::as_mut) else { continue };
            terms.push((number, list.postings.len()));
            list.containing += u64::from(own > 0);
            list.postings.push(Posting { slot: slot as u32, back, own, near });
        }
        let length = entry.length();
        let document = Document { item: item.clone(), version: *version, fields: fields.clone(), terms };
        if slot == self.slots.len() {
            self.slots.push(Slot::default());
        }
        if let Some(free) = self.slots.get_mut(slot) {
            *free = Slot { length, document: Some(Box::new(document)) };
        }
        self.length += u64::from(length);
        self.items.insert(item.clone(), slot);
    }

    /// Returns the lists of the entry's terms in ascending order, each once, with its own and its neighbours' counts.
    fn counts(&mut self, entry: &TextEntry) -> Vec<(usize, u32, f32)> {
        let mut counts: Vec<(usize, u32, f32)> = Vec::with_capacity(entry.own.len() + entry.near.len());
        for (term, own) in entry.own.iter().filter(|(_, own)| *own > 0) {
            counts.push((self.number_of(term), *own, 0.0));
        }
        for (term, near) in entry.near.iter().filter(|(_, near)| *near > 0.0) {
            counts.push((self.number_of(term), 0, *near));
        }
        counts.sort_by_key(|(number, ..)| *number);
        counts.dedup_by(|next, kept| {
            let is_same = next.0 == kept.0;
            if is_same {
                *kept = (kept.0, kept.1.saturating_add(next.1), kept.2 + next.2);
            }
            is_same
        });
        counts
    }

    fn number_of(&mut self, term: &Term) -> usize {
        if let Some(number) = self.terms.get(term) {
            return *number;
        }
        let list = Some(List { term: term.clone(), containing: 0, postings: Vec::new() });
        let number = self.free_lists.pop().unwrap_or(self.lists.len());
        match self.lists.get_mut(number) {
            Some(free) => *free = list,
            None => self.lists.push(list),
        }
        self.terms.insert(term.clone(), number);
        number
    }

    pub(super) fn delete(&mut self, item: &ItemId) {
        let Some(slot) = self.items.remove(item) else { return };
        let Some(Slot { length, document: Some(document) }) = self.slots.get_mut(slot).map(std::mem::take) else {
            return;
        };
        self.free_slots.push(slot);
        self.length -= u64::from(length);
        for (number, place) in document.terms {
            self.leave(number, place);
        }
    }

    /// Removes the posting at `place` from a list. The last one takes its place; an empty list is dropped.
    fn leave(&mut self, number: usize, place: usize) {
        let Some(free) = self.lists.get_mut(number) else { return };
        let Some(list) = free.as_mut().filter(|list| place < list.postings.len()) else { return };
        let gone = list.postings.swap_remove(place);
        list.containing -= u64::from(gone.own > 0);
        if let Some(moved) = list.postings.get(place) {
            let document = self.slots.get_mut(moved.slot as usize).and_then(|slot| slot.document.as_mut());
            if let Some((_, there)) = document.and_then(|document| document.terms.get_mut(moved.back as usize)) {
                *there = place;
            }
        }
        if list.postings.is_empty() {
            self.terms.remove(&list.term);
            *free = None;
            self.free_lists.push(number);
        }
    }
}
