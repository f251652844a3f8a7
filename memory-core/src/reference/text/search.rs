//! Search in the documents of one owner and unit.

use super::postings::{List, Postings};
use crate::rank::{Bm25, TermWeights};
use crate::reference::best::{Best, Candidate};
use crate::text::{Term, TextHit, TextHits, TextQuery};

/// Less than any score: the document holds no term of the query.
const UNSCORED: f32 = -1.0;

impl Postings {
    /// Returns the evidence for `query`: the owner's statistics, and the best hits that match its filter.
    pub(super) fn search(&self, query: &TextQuery) -> TextHits {
        let TextQuery { terms, unit: _, filter, limit } = query;
        let lists: Vec<Option<&List>> = terms.iter().map(|term| self.list(term)).collect();
        let containing: Vec<u64> = lists.iter().map(|list| list.map_or(0, |list| list.containing)).collect();
        let (documents, mean_length) = (self.count(), self.mean_length());

        let mut best = Best::new(*limit, filter);
        for (place, score) in self.scores(&lists, mean_length) {
            let Some(document) = self.slots.get(place).and_then(|slot| slot.document.as_ref()) else { continue };
            best.offer(Candidate { score, item: &document.item, fields: &document.fields, place });
        }
        let hits = best.into_sorted().map(|candidate| self.hit(candidate, terms)).collect();
        TextHits { documents, mean_length, containing, hits }
    }

    /// Returns the slots of the documents that hold a term of the query, with their scores.
    ///
    /// Term after term, so that only what a list holds is looked at. The sums are those of [`crate::rank::bm25f`],
    /// number for number: it adds in the order of the terms too, and a term that is missing adds nothing.
    fn scores(&self, lists: &[Option<&List>], mean_length: f32) -> Vec<(usize, f32)> {
        let mut scores = vec![UNSCORED; self.slots.len()];
        let mut found = Vec::new();
        for list in lists.iter().flatten() {
            let weights = TermWeights::new(&Bm25::default(), self.count(), mean_length, &[list.containing]);
            for posting in &list.postings {
                let (Some(slot), Some(sum)) = (self.slots.get(posting.slot), scores.get_mut(posting.slot)) else {
                    continue;
                };
                let score = weights.score(slot.length, &[posting.own], &[posting.near]);
                if *sum == UNSCORED {
                    *sum = score;
                    found.push(posting.slot);
                } else {
                    *sum += score;
                }
            }
        }
        found.into_iter().filter_map(|slot| Some((slot, *scores.get(slot)?))).collect()
    }

    fn hit(&self, candidate: Candidate<'_>, terms: &[Term]) -> TextHit {
        let Candidate { score: _, item, fields, place } = candidate;
        let (own, near) = terms.iter().map(|term| self.counts_in(place, term)).unzip();
        let length = self.slots.get(place).map_or(0, |slot| slot.length);
        TextHit { item: item.clone(), own, near, length, fields: fields.clone() }
    }
}
