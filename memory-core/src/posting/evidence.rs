//! The evidence of a search: how often each document holds each term of the query.

use crate::rank::{Bm25, TermWeights};
use crate::store::text::Term;

use super::{Candidate, Counts, Damaged, Document, Posting, visit_terms};

/// The terms of a query.
#[derive(Debug)]
pub struct Query<'q> {
    terms: &'q [Term],
    /// Terms in byte order, with their places in the query.
    sorted: Vec<(&'q str, u32)>,
}

impl<'q> Query<'q> {
    /// Returns the query of `terms`, each once.
    pub fn new(terms: &'q [Term]) -> Self {
        let mut sorted: Vec<_> = terms.iter().map(Term::as_str).zip(0..).collect();
        sorted.sort_unstable();
        Self { terms, sorted }
    }

    /// Returns the terms in the order of the query.
    pub fn terms(&self) -> impl Iterator<Item = &'q str> {
        self.terms.iter().map(Term::as_str)
    }

    /// Gives each term of the query that a document holds to `visit`, by its place in the query. `terms` are the document's, as
    /// [`super::encode_terms`] writes them.
    ///
    /// # Errors
    /// `Damaged` for invalid bytes. Discard what was visited before.
    pub fn visit(&self, terms: &[u8], mut visit: impl FnMut(u32, Counts)) -> Result<(), Damaged> {
        let mut wanted = self.sorted.as_slice();
        visit_terms(terms, |term, counts| {
            while let Some(((next, place), rest)) = wanted.split_first() {
                if next.as_bytes() > term {
                    break;
                }
                wanted = rest;
                if next.as_bytes() == term {
                    visit(*place, counts);
                }
            }
            Ok(())
        })
    }
}

/// Marks a slot without a match so far.
const UNSEEN: u32 = u32::MAX;

/// A match of a term of the query in a document.
#[derive(Clone, Copy, Debug)]
struct Match {
    /// The document's slot; once its segment has ended, its place among the documents seen.
    document: u32,
    term: u32,
    counts: Counts,
}

/// The evidence that a search has read. It grows with the matches, not with the product of documents and terms.
///
/// The matches of a document are in the order of the query's terms, in which scores are summed.
#[derive(Debug)]
pub struct Evidence {
    containing: Vec<u64>,
    /// The matches, segment by segment, and within a segment term by term.
    matches: Vec<Match>,
    seen: Vec<Document>,
    /// Where the matches of the current segment begin.
    segment: usize,
    /// For each slot of the current segment, its place among the documents seen.
    places: Vec<u32>,
}

impl Evidence {
    /// Begins the evidence for a query of this many terms.
    pub fn new(terms: usize) -> Self {
        let (containing, matches) = (vec![0; terms], Vec::new());
        Self { containing, matches, seen: Vec::new(), segment: 0, places: Vec::new() }
    }

    /// Returns how many documents hold each term themselves.
    pub fn containing(&self) -> &[u64] {
        &self.containing
    }

    /// Notes a posting of the current segment, for the term at this place in the query. Call it term by term.
    pub fn note(&mut self, term: u32, posting: Posting) {
        let Posting { slot, counts } = posting;
        self.count(term, counts);
        self.matches.push(Match { document: slot, term, counts });
    }

    /// Ends the current segment, which holds `documents` in ascending order of slots.
    ///
    /// # Errors
    /// `Damaged` if it lacks a document that was noted.
    pub fn end_segment(&mut self, documents: &[Document]) -> Result<(), Damaged> {
        let slots = documents.last().map_or(0, |last| last.slot as usize + 1);
        self.places.clear();
        self.places.resize(slots, UNSEEN);
        for found in self.matches.get_mut(self.segment..).unwrap_or_default() {
            let slot = found.document;
            let place = self.places.get_mut(slot as usize).ok_or(Damaged)?;
            if *place == UNSEEN {
                *place = u32::try_from(self.seen.len()).map_err(|_| Damaged)?;
                self.seen.push(*at_slot(documents, slot).ok_or(Damaged)?);
            }
            found.document = *place;
        }
        self.segment = self.matches.len();
        Ok(())
    }

    /// Takes in a document of the tail, with its terms as [`super::encode_terms`] writes them. Do not call it within a segment.
    ///
    /// # Errors
    /// `Damaged` for invalid bytes.
    pub fn read_tail(&mut self, query: &Query<'_>, document: Document, terms: &[u8]) -> Result<(), Damaged> {
        let (from, place) = (self.matches.len(), u32::try_from(self.seen.len()).map_err(|_| Damaged)?);
        query.visit(terms, |term, counts| {
            self.count(term, counts);
            self.matches.push(Match { document: place, term, counts });
        })?;
        let found = self.matches.get_mut(from..).unwrap_or_default();
        found.sort_unstable_by_key(|found| found.term);
        if !found.is_empty() {
            self.seen.push(document);
        }
        self.segment = self.matches.len();
        Ok(())
    }

    fn count(&mut self, term: u32, counts: Counts) {
        if let (Some(containing), true) = (self.containing.get_mut(term as usize), counts.own > 0) {
            *containing += 1;
        }
    }

    /// Returns every document seen, with its score among all `documents` of the owner.
    pub fn candidates(&self, bm25: &Bm25, documents: u64, mean_length: f32) -> Vec<Candidate> {
        self.best(bm25, documents, mean_length, usize::MAX).0
    }

    /// Returns the documents with the `most` best scores, at least 1, and all that tie with the last of them; and whether these
    /// are all. The scores are among all `documents` of the owner.
    ///
    /// The sums are those of [`TermWeights::score`] over all terms: a term that is missing adds nothing.
    pub fn best(&self, bm25: &Bm25, documents: u64, mean_length: f32, most: usize) -> (Vec<Candidate>, bool) {
        let weights = TermWeights::new(bm25, documents, mean_length, &self.containing);
        let mut scores = vec![0.0; self.seen.len()];
        for Match { document, term, counts } in &self.matches {
            let place = *document as usize;
            let (weight, length) = (weights.each().get(*term as usize), self.seen.get(place).map(|seen| seen.length));
            if let (Some(weight), Some(length), Some(score)) = (weight, length, scores.get_mut(place)) {
                *score += weight.score(length, counts.own, counts.near);
            }
        }
        let least = if scores.len() > most {
            let mut sorted = scores.clone();
            let (_, least, _) = sorted.select_nth_unstable_by(most.saturating_sub(1), |a, b| b.total_cmp(a));
            *least
        } else {
            f32::NEG_INFINITY
        };
        let likely = scores.iter().zip(&self.seen).enumerate().filter(|(_, (score, _))| **score >= least);
        let candidate = |(place, (score, document)): (usize, (&f32, &Document))| Candidate {
            score: *score,
            at: document.at,
            item: document.item,
            place,
        };
        let candidates: Vec<Candidate> = likely.map(candidate).collect();
        let is_all = candidates.len() == scores.len();
        (candidates, is_all)
    }

    /// Returns the evidence for the documents at `places`: the counts of each term, own and near, and the length.
    pub fn counts(&self, places: impl IntoIterator<Item = usize>) -> Vec<(Vec<u32>, Vec<f32>, u32)> {
        let terms = self.containing.len();
        let mut numbers = vec![usize::MAX; self.seen.len()];
        let mut counted = Vec::new();
        for place in places {
            let length = self.seen.get(place).map_or(0, |document| document.length);
            if let Some(number) = numbers.get_mut(place) {
                *number = counted.len();
            }
            counted.push((vec![0; terms], vec![0.0; terms], length));
        }
        // One pass over all matches, which are in the order of reading.
        for Match { document, term, counts } in &self.matches {
            let number = numbers.get(*document as usize).copied().unwrap_or(usize::MAX);
            let Some((own, near, _)) = counted.get_mut(number) else { continue };
            if let (Some(own), Some(near)) = (own.get_mut(*term as usize), near.get_mut(*term as usize)) {
                (*own, *near) = (counts.own, counts.near);
            }
        }
        counted
    }
}

/// Returns the document at a slot; most segments have no gaps.
fn at_slot(documents: &[Document], slot: u32) -> Option<&Document> {
    let direct = documents.get(slot as usize).filter(|document| document.slot == slot);
    direct.or_else(|| documents.get(documents.binary_search_by_key(&slot, |document| document.slot).ok()?))
}
