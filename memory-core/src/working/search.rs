//! Searching the notes of one owner: the evidence for each, by words and by meaning, as the indexes give it.

use std::hash::{BuildHasher as _, RandomState};
use std::sync::Arc;

use crate::filter::Filter;
use crate::rank::{Bm25, bm25f};
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
}

impl Notes {
    /// Returns the best notes by words and the nearest by meaning.
    pub(crate) fn find(&self, query: &NoteQuery<'_>) -> FoundNotes {
        let (text, near) = (self.by_words(query), self.by_meaning(query));
        let is_found = |kept: &&Arc<Kept>| {
            let item = kept.item();
            text.hits.iter().any(|hit| hit.item == item) || near.iter().any(|hit| hit.item == item)
        };
        let notes = self.kept.iter().filter(is_found).map(|kept| kept.stored.clone()).collect();
        FoundNotes { text, near, notes }
    }

    /// Returns the newest notes that match, newest first.
    pub(crate) fn newest(&self, filter: &Filter, limit: usize) -> Vec<StoredRecord> {
        let matching = self.kept.iter().rev().filter(|kept| filter.matches(&kept.fields));
        matching.take(limit).map(|kept| kept.stored.clone()).collect()
    }

    fn by_words(&self, query: &NoteQuery<'_>) -> TextHits {
        let hashes: Vec<u64> = query.terms.iter().map(|term| self.hasher.hash_one(term)).collect();
        let mut found = TextHits { containing: vec![0; hashes.len()], ..TextHits::default() };
        let mut words = 0_u64;
        for kept in self.kept.iter() {
            found.documents += 1;
            words += u64::from(kept.length);
            let own: Vec<u32> = hashes.iter().map(|hash| kept.count(*hash)).collect();
            found.containing.iter_mut().zip(&own).for_each(|(sum, count)| *sum += u64::from(*count > 0));
            if own.iter().any(|count| *count > 0) && query.filter.matches(&kept.fields) {
                let (near, length) = (vec![0.0; own.len()], kept.length);
                found.hits.push(TextHit { item: kept.item(), own, near, length, fields: kept.fields.clone() });
            }
        }
        found.mean_length = words as f32 / found.documents.max(1) as f32;
        let scores = bm25f(&Bm25::default(), &found);
        let mut ranked: Vec<(f32, TextHit)> = scores.into_iter().zip(found.hits).collect();
        ranked.sort_by(|(one, a), (other, b)| {
            other.total_cmp(one).then_with(|| b.fields.at.cmp(&a.fields.at)).then_with(|| a.item.cmp(&b.item))
        });
        ranked.truncate(query.limit);
        TextHits { hits: ranked.into_iter().map(|(_, hit)| hit).collect(), ..found }
    }

    fn by_meaning(&self, query: &NoteQuery<'_>) -> Vec<VectorHit> {
        let Some(sought) = query.vector.and_then(Direction::of) else { return Vec::new() };
        let near = |kept: &Arc<Kept>| Some((Arc::clone(kept), kept.nearest(&sought)?));
        let matching = self.kept.iter().filter(|kept| query.filter.matches(&kept.fields));
        let mut near: Vec<_> = matching.filter_map(near).collect();
        near.sort_by(|(a, (_, one)), (b, (_, other))| {
            let by_time = || b.fields.at.cmp(&a.fields.at).then_with(|| a.item().cmp(&b.item()));
            other.value().total_cmp(&one.value()).then_with(by_time)
        });
        near.truncate(query.limit);
        let hit = |(kept, (piece, similarity)): (Arc<Kept>, _)| VectorHit {
            item: kept.item(),
            piece,
            similarity,
            fields: kept.fields.clone(),
            vector: None,
        };
        near.into_iter().map(hit).collect()
    }
}
