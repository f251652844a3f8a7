//! Searching the notes of one owner: the evidence for each, by words and by meaning, as the indexes give it.

use std::collections::HashSet;
use std::hash::{BuildHasher as _, RandomState};
use std::sync::Arc;

use crate::filter::Filter;
use crate::id::ItemId;
use crate::rank::{Bm25, Decay, TermWeights};
use crate::record::StoredRecord;
use crate::store::text::{Term, TextHit, TextHits};
use crate::store::vectors::VectorHit;
use crate::vector::Direction;

use super::kept::Kept;
use super::shelves::Row;

/// What notes are searched for.
#[derive(Clone, Copy, Debug)]
pub(crate) struct NoteQuery<'q> {
    pub(crate) terms: &'q [Term],
    pub(crate) vector: Option<&'q [f32]>,
    pub(crate) filter: &'q Filter,
    /// The most notes of each kind of evidence.
    pub(crate) limit: usize,
}

/// The evidence for notes, and what they say.
#[derive(Debug, Default)]
pub(crate) struct FoundNotes {
    pub(crate) text: TextHits,
    pub(crate) near: Vec<VectorHit>,
    pub(crate) notes: Vec<StoredRecord>,
}

/// The notes of one owner at one moment.
pub(crate) struct Notes {
    pub(super) kept: Row,
    pub(super) hasher: RandomState,
    /// How they grow old where a ranking goes by age.
    pub(crate) decay: Decay,
}

impl Notes {
    /// Returns the best notes by words and the nearest by meaning, among those that match the filter.
    pub(crate) fn find(&self, query: &NoteQuery<'_>) -> FoundNotes {
        let matching: Vec<&Arc<Kept>> = self.kept.iter().filter(|kept| query.filter.matches(&kept.fields)).collect();
        let (text, near) = (self.by_words(&matching, query), Self::by_meaning(&matching, query));
        let items = text.hits.iter().map(|hit| &hit.item).chain(near.iter().map(|hit| &hit.item));
        let found: HashSet<&ItemId> = items.collect();
        let is_found = |kept: &&&Arc<Kept>| found.contains(&kept.item());
        let notes = matching.iter().filter(is_found).map(|kept| kept.stored.clone()).collect();
        FoundNotes { text, near, notes }
    }

    /// Returns the newest notes that match, newest first.
    pub(crate) fn newest(&self, filter: &Filter, limit: usize) -> Vec<StoredRecord> {
        let matching = self.kept.iter().rev().filter(|kept| filter.matches(&kept.fields));
        matching.take(limit).map(|kept| kept.stored.clone()).collect()
    }

    /// Scores all notes that match before the evidence of the best is made: a question may hold words that most notes have.
    fn by_words(&self, matching: &[&Arc<Kept>], query: &NoteQuery<'_>) -> TextHits {
        let hashes: Vec<u64> = query.terms.iter().map(|term| self.hasher.hash_one(term)).collect();
        let mut found = TextHits { containing: vec![0; hashes.len()], ..TextHits::default() };
        if hashes.is_empty() {
            return found;
        }
        let (mut words, mut counts, mut places) = (0_u64, Vec::new(), Vec::new());
        for kept in matching {
            let begins = counts.len();
            counts.extend(hashes.iter().map(|hash| kept.count(*hash)));
            let own = counts.get(begins..).unwrap_or_default();
            found.containing.iter_mut().zip(own).for_each(|(sum, count)| *sum += u64::from(*count > 0));
            words += u64::from(kept.length);
            if own.iter().any(|count| *count > 0) {
                places.push(*kept);
            } else {
                counts.truncate(begins);
            }
        }
        found.documents = matching.len() as u64;
        found.mean_length = words as f32 / found.documents.max(1) as f32;
        let weights = TermWeights::new(&Bm25::default(), found.documents, found.mean_length, &found.containing);
        let near = vec![0.0; hashes.len()];
        let scored = places.into_iter().zip(counts.chunks(hashes.len()));
        let scored = scored.map(|(kept, own)| (weights.score(kept.length, own, &near), kept, own)).collect();
        let best = best(scored, query.limit);
        let hit = |(_, kept, own): (f32, &Arc<Kept>, &[u32])| TextHit {
            item: kept.item(),
            own: own.to_vec(),
            near: near.clone(),
            length: kept.length,
            fields: kept.fields.clone(),
        };
        found.hits = best.into_iter().map(hit).collect();
        found
    }

    fn by_meaning(matching: &[&Arc<Kept>], query: &NoteQuery<'_>) -> Vec<VectorHit> {
        let Some(sought) = query.vector.and_then(Direction::of) else { return Vec::new() };
        let near = matching.iter().filter_map(|kept| {
            let (piece, similarity) = kept.nearest(&sought)?;
            Some((similarity.value(), *kept, (piece, similarity)))
        });
        let hit = |(_, kept, (piece, similarity)): (f32, &Arc<Kept>, _)| VectorHit {
            item: kept.item(),
            piece,
            similarity,
            fields: kept.fields.clone(),
            vector: None,
        };
        best(near.collect(), query.limit).into_iter().map(hit).collect()
    }
}

/// Returns the `limit` notes with the highest scores, best first; equal ones newer first, then by item.
fn best<T>(mut scored: Vec<(f32, &Arc<Kept>, T)>, limit: usize) -> Vec<(f32, &Arc<Kept>, T)> {
    let order = |(one, a, _): &(f32, &Arc<Kept>, T), (other, b, _): &(f32, &Arc<Kept>, T)| {
        let by_time = || b.fields.at.cmp(&a.fields.at).then_with(|| a.item().cmp(&b.item()));
        other.total_cmp(one).then_with(by_time)
    };
    if limit > 0 && limit < scored.len() {
        scored.select_nth_unstable_by(limit, order);
        scored.truncate(limit);
    }
    scored.sort_by(order);
    scored
}
