//! Search in the documents of one owner and unit.

use super::postings::{List, Postings};
use crate::rank::{Bm25, TermWeights};
use crate::reference::best::{Known, best};
use crate::store::text::{TextHit, TextHits, TextQuery};

/// Less than any score: marks a document without a term of the query.
const UNSCORED: f32 = -1.0;

impl Postings {
    /// Returns the evidence for `query`: the owner's statistics, and the best hits that match its filter.
    pub(super) fn search(&self, query: &TextQuery) -> TextHits {
        let TextQuery { terms, unit: _, filter, limit } = query;
        let lists: Vec<Option<&List>> = terms.iter().map(|term| self.list(term)).collect();
        let containing: Vec<u64> = lists.iter().map(|list| list.map_or(0, |list| list.containing)).collect();
        let (documents, mean_length) = (self.count(), self.mean_length());

        let best = best(self.scores(&lists, &containing), *limit, filter, |place| self.known(place));
        TextHits { documents, mean_length, containing, hits: self.hits(&best, &lists) }
    }

    fn known(&self, place: usize) -> Known<'_> {
        let document = self.slots.get(place)?.document.as_ref()?;
        Some((&document.item, &document.fields))
    }

    /// Returns the scores of the documents that hold a term of the query, with their slots.
    ///
    /// Term by term, so that only the postings of each list are read. The sums are exactly those of [`crate::rank::bm25f`], which
    /// also adds in the order of the terms; a missing term adds nothing.
    fn scores(&self, lists: &[Option<&List>], containing: &[u64]) -> Vec<(f32, usize)> {
        let mut scores = vec![UNSCORED; self.slots.len()];
        let mut found = Vec::new();
        let weights = TermWeights::new(&Bm25::default(), self.count(), self.mean_length(), containing);
        for (list, weight) in lists.iter().zip(weights.each()) {
            for posting in list.iter().flat_map(|list| &list.postings) {
                let place = posting.slot as usize;
                let (Some(slot), Some(sum)) = (self.slots.get(place), scores.get_mut(place)) else { continue };
                let score = weight.score(slot.length, posting.own, posting.near);
                if *sum == UNSCORED {
                    *sum = score;
                    found.push(place);
                } else {
                    *sum += score;
                }
            }
        }
        found.into_iter().filter_map(|slot| Some((*scores.get(slot)?, slot))).collect()
    }

    /// Returns the hits with their counts. Reads list by list again, which is faster than looking up each term of each document.
    fn hits(&self, best: &[usize], lists: &[Option<&List>]) -> Vec<TextHit> {
        let mut hits = Vec::with_capacity(best.len());
        let mut numbers = vec![u32::MAX; self.slots.len()];
        for place in best {
            let Some((slot, (item, fields))) = self.slots.get(*place).zip(self.known(*place)) else { continue };
            if let Some(number) = numbers.get_mut(*place) {
                *number = u32::try_from(hits.len()).unwrap_or(u32::MAX);
            }
            let (own, near) = (vec![0; lists.len()], vec![0.0; lists.len()]);
            hits.push(TextHit { item: item.clone(), own, near, length: slot.length, fields: fields.clone() });
        }
        for (term, list) in lists.iter().enumerate() {
            for posting in list.iter().flat_map(|list| &list.postings) {
                let number = numbers.get(posting.slot as usize).copied().unwrap_or(u32::MAX);
                let Some(hit) = hits.get_mut(number as usize) else { continue };
                if let (Some(own), Some(near)) = (hit.own.get_mut(term), hit.near.get_mut(term)) {
                    (*own, *near) = (posting.own, posting.near);
                }
            }
        }
        hits
    }
}
