//! What a search has seen: for each document with a term of the query, how often it holds which.

use memory_core::rank::TermWeights;
use memory_core::text::Term;

use super::posting::{Counts, Damaged, Document, Posting, visit_terms};
use super::select::Candidate;
use super::tail::TailDocument;

/// The terms of a query.
pub(super) struct Query<'q> {
    /// Terms in byte order, with their places in the query.
    sorted: Vec<(&'q str, u32)>,
}

impl<'q> Query<'q> {
    pub(super) fn new(terms: &'q [Term]) -> Self {
        let mut sorted: Vec<_> = terms.iter().map(Term::as_str).zip(0..).collect();
        sorted.sort_unstable();
        Self { sorted }
    }
}

/// A term of the query in a document.
#[derive(Clone, Copy, Debug)]
struct Match {
    term: u32,
    counts: Counts,
}

/// A document with a term of the query.
#[derive(Clone, Copy, Debug)]
struct Seen {
    document: Document,
    /// Where its matches begin and end.
    from: usize,
    to: usize,
}

/// What a search has seen. It grows with what is found, not with the product of documents and terms.
pub(super) struct Evidence {
    containing: Vec<u64>,
    matches: Vec<Match>,
    seen: Vec<Seen>,
    /// What was noted of the segment at hand: the slot and the match.
    noted: Vec<(u32, Match)>,
}

impl Evidence {
    pub(super) fn new(terms: usize) -> Self {
        Self { containing: vec![0; terms], matches: Vec::new(), seen: Vec::new(), noted: Vec::new() }
    }

    /// Returns how many documents hold each term themselves.
    pub(super) fn containing(&self) -> &[u64] {
        &self.containing
    }

    /// Notes a posting of the segment at hand.
    pub(super) fn note(&mut self, term: u32, posting: Posting) {
        let Posting { slot, counts } = posting;
        self.count(term, counts);
        self.noted.push((slot, Match { term, counts }));
    }

    /// Ends a segment that holds `documents`.
    pub(super) fn end_segment(&mut self, documents: &[Document]) -> Result<(), Damaged> {
        self.noted.sort_by_key(|(slot, noted)| (*slot, noted.term));
        let mut documents = documents.iter();
        for group in self.noted.chunk_by(|(a, _), (b, _)| a == b) {
            let slot = group.first().map(|(slot, _)| *slot);
            let document = documents.find(|document| Some(document.slot) >= slot).ok_or(Damaged)?;
            if Some(document.slot) != slot {
                return Err(Damaged);
            }
            let from = self.matches.len();
            self.matches.extend(group.iter().map(|(_, noted)| *noted));
            self.seen.push(Seen { document: *document, from, to: self.matches.len() });
        }
        self.noted.clear();
        Ok(())
    }

    /// Takes in a document of the tail.
    pub(super) fn read_tail(&mut self, query: &Query<'_>, document: &TailDocument) -> Result<(), Damaged> {
        let from = self.matches.len();
        let mut wanted = query.sorted.as_slice();
        visit_terms(&document.terms, |term, counts| {
            while let Some(((next, place), rest)) = wanted.split_first() {
                if next.as_bytes() > term {
                    break;
                }
                wanted = rest;
                if next.as_bytes() == term {
                    self.count(*place, counts);
                    self.matches.push(Match { term: *place, counts });
                }
            }
            Ok(())
        })?;
        let to = self.matches.len();
        if to > from {
            let TailDocument { item, length, at, .. } = document;
            let document = Document { slot: 0, item: *item, length: *length, at: *at };
            self.seen.push(Seen { document, from, to });
        }
        Ok(())
    }

    fn count(&mut self, term: u32, counts: Counts) {
        if let (Some(containing), true) = (self.containing.get_mut(term as usize), counts.own > 0) {
            *containing += 1;
        }
    }

    /// Returns every document seen, with its score.
    pub(super) fn candidates(&self, weights: &TermWeights) -> Vec<Candidate> {
        let (mut own, mut near) = (vec![0; self.containing.len()], vec![0.0; self.containing.len()]);
        let score = |(place, seen): (usize, &Seen)| {
            self.spread(seen, &mut own, &mut near);
            let score = weights.score(seen.document.length, &own, &near);
            self.clear(seen, &mut own, &mut near);
            Candidate { score, at: seen.document.at, item: seen.document.item, place }
        };
        self.seen.iter().enumerate().map(score).collect()
    }

    /// Returns the counts of each term, own and near, and the length of the document at `place`.
    pub(super) fn counts(&self, place: usize) -> (Vec<u32>, Vec<f32>, u32) {
        let (mut own, mut near) = (vec![0; self.containing.len()], vec![0.0; self.containing.len()]);
        let Some(seen) = self.seen.get(place) else { return (own, near, 0) };
        self.spread(seen, &mut own, &mut near);
        (own, near, seen.document.length)
    }

    fn spread(&self, seen: &Seen, own: &mut [u32], near: &mut [f32]) {
        for Match { term, counts } in self.matches_of(seen) {
            let term = *term as usize;
            if let (Some(own), Some(near)) = (own.get_mut(term), near.get_mut(term)) {
                (*own, *near) = (counts.own, counts.near);
            }
        }
    }

    fn clear(&self, seen: &Seen, own: &mut [u32], near: &mut [f32]) {
        for Match { term, .. } in self.matches_of(seen) {
            let term = *term as usize;
            if let (Some(own), Some(near)) = (own.get_mut(term), near.get_mut(term)) {
                (*own, *near) = (0, 0.0);
            }
        }
    }

    fn matches_of(&self, seen: &Seen) -> &[Match] {
        self.matches.get(seen.from..seen.to).unwrap_or_default()
    }
}
