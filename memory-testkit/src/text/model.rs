//! What a text store has to answer, by brute force over one owner's entries.

use std::collections::{BTreeMap, BTreeSet};

use memory_core::rank::{Bm25, bm25f};
use memory_core::store::text::{Deletion, Term, TextEntry, TextHit, TextHits, TextQuery};
use memory_core::{Epoch, Fields, ItemId, SessionId, Version};

use crate::{Scene, equal};

/// The entries of one owner.
#[derive(Clone, Debug, Default)]
pub(crate) struct TextModel {
    entries: BTreeMap<ItemId, TextEntry>,
    below: Epoch,
}

impl TextModel {
    /// Returns the model of an owner to whom `entries` were given.
    pub(crate) fn of(entries: &[TextEntry]) -> Self {
        let mut model = Self::default();
        model.put(entries);
        model
    }

    pub(crate) fn put(&mut self, entries: &[TextEntry]) {
        for entry in entries {
            let newer = self.entries.get(&entry.item).is_some_and(|stored| stored.version > entry.version);
            if !newer && entry.version.epoch >= self.below {
                self.entries.insert(entry.item.clone(), entry.clone());
            }
        }
    }

    pub(crate) fn delete(&mut self, what: &Deletion) {
        self.entries.retain(|item, entry| !falls(what, item, entry.version, &entry.fields));
    }

    /// Returns the versions of those of the items that are there, each once, in their order.
    pub(crate) fn versions(&self, items: &[ItemId]) -> Vec<(ItemId, Version)> {
        let items: BTreeSet<&ItemId> = items.iter().collect();
        items.into_iter().filter_map(|item| Some((item.clone(), self.entries.get(item)?.version))).collect()
    }

    pub(crate) fn erase(&mut self, below: Epoch) {
        self.below = self.below.max(below);
        self.entries.retain(|_, entry| entry.version.epoch >= below);
    }

    /// Returns an item of the owner for each number; none if there are no items.
    pub(crate) fn item(&self, place: usize) -> Option<ItemId> {
        let place = place.checked_rem(self.entries.len())?;
        self.entries.keys().nth(place).cloned()
    }

    /// Returns the statistics and every hit, in no order that counts.
    pub(crate) fn evidence(&self, query: &TextQuery) -> TextHits {
        let TextQuery { terms, unit, filter, limit: _ } = query;
        let unit: Vec<&TextEntry> = self.entries.values().filter(|entry| entry.item.unit() == *unit).collect();
        let length: u64 = unit.iter().map(|entry| u64::from(entry.length())).sum();
        let containing = |term: &Term| unit.iter().filter(|entry| own(entry, term) > 0).count() as u64;
        let hits = unit.iter().filter(|entry| filter.matches(&entry.fields)).map(|entry| hit(entry, terms));
        TextHits {
            documents: unit.len() as u64,
            mean_length: if unit.is_empty() { 0.0 } else { (length as f64 / unit.len() as f64) as f32 },
            containing: terms.iter().map(containing).collect(),
            hits: hits.filter(|hit| hit.own.iter().any(|n| *n > 0) || hit.near.iter().any(|n| *n > 0.0)).collect(),
        }
    }

    /// Returns `Ok` if `found` is the answer to `query`: statistics, hits, their evidence and their order.
    ///
    /// The mean length is compared with a tolerance of rounding, and then taken from the answer, so that another
    /// way of rounding it cannot turn near ties around.
    pub(crate) fn check(&self, query: &TextQuery, found: &TextHits) -> Scene {
        let mut promised = self.evidence(query);
        equal(found.documents, promised.documents)?;
        equal(&found.containing, &promised.containing)?;
        let (mean, exact) = (found.mean_length, promised.mean_length);
        check!((mean - exact).abs() <= exact * 1e-6, "the mean length is {mean}, not {exact}");
        promised.mean_length = mean;
        rank(&mut promised);
        promised.hits.truncate(query.limit);
        equal(items(found), items(&promised))?;
        equal(&found.hits, &promised.hits)
    }
}

/// Returns the items of the hits, best first.
pub(crate) fn items(found: &TextHits) -> Vec<ItemId> {
    found.hits.iter().map(|hit| hit.item.clone()).collect()
}

/// Returns whether a deletion from an index means this item. The records of a session outlive its index entries.
pub(crate) fn falls(what: &Deletion, item: &ItemId, version: Version, fields: &Fields) -> bool {
    let of = |session: &SessionId| match item {
        ItemId::Message(_) => fields.session.as_ref() == Some(session),
        ItemId::Span(of, _) => of == session,
        ItemId::Record(_) => false,
    };
    match what {
        Deletion::Items(items) => items.iter().any(|(named, through)| named == item && version <= *through),
        Deletion::Session(session, through) => of(session) && version <= *through,
    }
}

/// Orders hits best first, ties by newer `at`, then by item.
fn rank(evidence: &mut TextHits) {
    let scores = bm25f(&Bm25::default(), evidence);
    let mut hits: Vec<(f32, TextHit)> = scores.into_iter().zip(std::mem::take(&mut evidence.hits)).collect();
    hits.sort_by(|(a, x), (b, y)| {
        b.total_cmp(a).then_with(|| y.fields.at.cmp(&x.fields.at)).then_with(|| x.item.cmp(&y.item))
    });
    evidence.hits = hits.into_iter().map(|(_, hit)| hit).collect();
}

fn hit(entry: &TextEntry, terms: &[Term]) -> TextHit {
    TextHit {
        item: entry.item.clone(),
        own: terms.iter().map(|term| own(entry, term)).collect(),
        near: terms.iter().map(|term| near(entry, term)).collect(),
        length: entry.length(),
        fields: entry.fields.clone(),
    }
}

fn own(entry: &TextEntry, term: &Term) -> u32 {
    entry.own.iter().find(|(held, _)| held == term).map_or(0, |(_, count)| *count)
}

fn near(entry: &TextEntry, term: &Term) -> f32 {
    entry.near.iter().find(|(held, _)| held == term).map_or(0.0, |(_, count)| *count)
}
