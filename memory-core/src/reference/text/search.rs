//! Search in the documents of one owner and unit.

use super::postings::{List, Postings};
use crate::rank::{Bm25, TermWeights};
use crate::reference::best::{Best, Candidate};
use crate::text::{TextHit, TextHits, TextQuery};

/// The documents that hold a term of a query, with their counts of each.
struct Found {
    width: usize,
    slots: Vec<usize>,
    own: Vec<u32>,
    near: Vec<f32>,
}

impl Found {
    fn of(lists: &[Option<&List>], slots: usize) -> Self {
        let width = lists.len();
        let mut found = Self { width, slots: Vec::new(), own: Vec::new(), near: Vec::new() };
        let mut places: Vec<Option<u32>> = vec![None; slots];
        for (column, list) in lists.iter().enumerate() {
            for posting in list.iter().flat_map(|list| &list.postings) {
                let Some(place) = places.get_mut(posting.slot) else { continue };
                let place = *place.get_or_insert_with(|| found.add(posting.slot)) as usize * width + column;
                if let (Some(own), Some(near)) = (found.own.get_mut(place), found.near.get_mut(place)) {
                    (*own, *near) = (posting.own, posting.near);
                }
            }
        }
        found
    }

    fn add(&mut self, slot: usize) -> u32 {
        let place = self.slots.len() as u32;
        self.slots.push(slot);
        self.own.resize(self.own.len() + self.width, 0);
        self.near.resize(self.near.len() + self.width, 0.0);
        place
    }

    fn counts(&self, place: usize) -> (&[u32], &[f32]) {
        let columns = place * self.width..(place + 1) * self.width;
        (self.own.get(columns.clone()).unwrap_or_default(), self.near.get(columns).unwrap_or_default())
    }
}

impl Postings {
    /// Returns the evidence for `query`: the owner's statistics, and the best hits that match its filter.
    pub(super) fn search(&self, query: &TextQuery) -> TextHits {
        let TextQuery { terms, unit: _, filter, limit } = query;
        let lists: Vec<Option<&List>> = terms.iter().map(|term| self.list(term)).collect();
        let containing: Vec<u64> = lists.iter().map(|list| list.map_or(0, |list| list.containing)).collect();
        let (documents, mean_length) = (self.count(), self.mean_length());
        let weights = TermWeights::new(&Bm25::default(), documents, mean_length, &containing);

        let found = Found::of(&lists, self.slots.len());
        let mut best = Best::new(*limit, filter);
        for (place, slot) in found.slots.iter().enumerate() {
            let Some(slot) = self.slots.get(*slot) else { continue };
            let Some(document) = &slot.document else { continue };
            let (own, near) = found.counts(place);
            let score = weights.score(slot.length, own, near);
            best.offer(Candidate { score, item: &document.item, fields: &document.fields, place });
        }
        let hit = |candidate: Candidate<'_>| {
            let Candidate { score: _, item, fields, place } = candidate;
            let (own, near) = found.counts(place);
            let length = found.slots.get(place).and_then(|slot| self.slots.get(*slot)).map_or(0, |slot| slot.length);
            TextHit { item: item.clone(), own: own.to_vec(), near: near.to_vec(), length, fields: fields.clone() }
        };
        let hits = best.into_sorted().map(hit).collect();
        TextHits { documents, mean_length, containing, hits }
    }
}
