//! What an answer says: the hits with their evidence, and the owner's statistics.

use memory_core::fields::Fields;
use memory_core::rank::{Bm25, TermWeights};
use memory_core::store::text::{Term, TextHit, TextHits};
use memory_core::{ItemId, Result, Timestamp};
use serde_json::Value;

use super::entry::Counts;
use crate::error::{BACKEND, garbled};

pub(super) const SEARCH: &str = "search by words";

/// A document that holds a term of the query.
#[derive(Debug)]
pub(super) struct Candidate {
    pub(super) key: String,
    item: ItemId,
    at: Timestamp,
    own: Vec<u32>,
    near: Vec<f32>,
    length: u32,
    /// What filters see; not read of every candidate.
    fields: Option<Fields>,
}

/// The statistics of an owner's items of one unit.
#[derive(Debug)]
pub(super) struct Statistics {
    pub(super) documents: u64,
    mean_length: f32,
    containing: Vec<u64>,
    /// The owner is erased below this epoch.
    pub(super) below: u64,
    /// The oldest epoch of an item.
    pub(super) oldest: Option<u64>,
    /// How many items match.
    pub(super) matches: u64,
}

impl Statistics {
    pub(super) fn read(answer: &Value, terms: usize) -> Result<Self> {
        Self::find(answer, terms).ok_or_else(|| garbled(SEARCH))
    }

    fn find(answer: &Value, terms: usize) -> Option<Self> {
        let epoch = |value: Option<&Value>| value?.as_f64().map(|number| number as u64);
        let unit = answer.pointer("/aggregations/unit")?;
        let documents = unit.get("doc_count")?.as_u64()?;
        // A sum of whole numbers, exact up to 2^53.
        let length = unit.pointer("/length/value")?.as_f64()?;
        let mean_length = if documents == 0 { 0.0 } else { (length / documents as f64) as f32 };
        let buckets = unit.pointer("/terms/buckets").and_then(Value::as_array);
        let containing: Option<Vec<u64>> =
            buckets.into_iter().flatten().map(|bucket| bucket.get("doc_count")?.as_u64()).collect();
        let containing = containing.filter(|containing| containing.len() == terms)?;
        let below = epoch(answer.pointer("/aggregations/below/value")).unwrap_or_default();
        let oldest = epoch(unit.pointer("/oldest/value"));
        let matches = answer.pointer("/hits/total/value")?.as_u64()?;
        Some(Self { documents, mean_length, containing, below, oldest, matches })
    }

    /// Returns the best candidates by core's score, ties by newer `at`, then by item.
    pub(super) fn best(&self, candidates: Vec<Candidate>, limit: usize) -> Vec<Candidate> {
        let weights = TermWeights::new(&Bm25::default(), self.documents, self.mean_length, &self.containing);
        let score = |found: &Candidate| weights.score(found.length, &found.own, &found.near);
        let mut scored: Vec<(f32, Candidate)> = candidates.into_iter().map(|found| (score(&found), found)).collect();
        scored.sort_by(|(a, x), (b, y)| b.total_cmp(a).then_with(|| y.at.cmp(&x.at)).then_with(|| x.item.cmp(&y.item)));
        scored.truncate(limit);
        scored.into_iter().map(|(_, found)| found).collect()
    }

    pub(super) fn with(self, best: Vec<Candidate>) -> Result<TextHits> {
        let Self { documents, mean_length, containing, .. } = self;
        let hit = |found: Candidate| {
            let Candidate { item, own, near, length, fields, .. } = found;
            fields.map(|fields| TextHit { item, own, near, length, fields })
        };
        let hits: Option<Vec<TextHit>> = best.into_iter().map(hit).collect();
        Ok(TextHits { documents, mean_length, containing, hits: hits.ok_or_else(|| garbled(SEARCH))? })
    }
}

/// Reads the hits of an answer.
pub(super) fn candidates(answer: &Value, terms: &[Term]) -> Result<Vec<Candidate>> {
    let hits = answer.pointer("/hits/hits").and_then(Value::as_array);
    let columns: Vec<String> = terms.iter().map(|term| format!("counts.{}", term.as_str())).collect();
    hits.into_iter().flatten().map(|hit| candidate(hit, &columns)).collect()
}

fn candidate(hit: &Value, columns: &[String]) -> Result<Candidate> {
    let bare = || garbled(SEARCH);
    let column = |name: &str| hit.get("fields").and_then(|fields| fields.get(name)?.as_array()?.first());
    let key = column("item").and_then(Value::as_str).ok_or_else(bare)?.to_owned();
    let item = ItemId::from_key(&key).map_err(|error| memory_core::Error::corrupt(BACKEND, error))?;
    let at = Timestamp(column("at").and_then(Value::as_i64).ok_or_else(bare)?);
    let length = column("length").and_then(|length| u32::try_from(length.as_u64()?).ok()).ok_or_else(bare)?;
    let (mut own, mut near) = (Vec::with_capacity(columns.len()), Vec::with_capacity(columns.len()));
    for name in columns {
        let counts = match column(name) {
            None => Counts::default(),
            Some(text) => text.as_str().and_then(Counts::decode).ok_or_else(bare)?,
        };
        own.push(counts.own);
        near.push(counts.near);
    }
    let body = hit.get("_source").and_then(|source| source.get("body")?.as_str());
    let fields = body.map(|body| Fields::decode(BACKEND, body.as_bytes())).transpose()?;
    Ok(Candidate { key, item, at, own, near, length, fields })
}
