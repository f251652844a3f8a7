//! Ranking: merges the answers of the indexes into one order.

use std::collections::HashMap;

use crate::engine::receipt::Signals;
use crate::fields::Fields;
use crate::id::ItemId;
use crate::index::span_of;
use crate::message::Role;
use crate::rank::{
    Bm25, Candidate as Found, Contribution, Decay, Importance, Leg, LegKind, NAMED_BONUS, NAMED_WEIGHT,
    NEIGHBOUR_COSINE_WEIGHT, PERSON_BONUS, RoleWeights, SAMPLE, SPAN_WEIGHT, TIME_BONUS, TIME_WEIGHT, add_spans,
    below_lenders, bm25f, hand_on, smooth,
};
use crate::store::text::TextHits;
use crate::store::vectors::VectorHit;
use crate::time::Timestamp;

use super::legs::{Asked, Legs};
use super::question::Search;

/// An item that may be a hit, with its signals.
#[derive(Clone, Debug)]
pub(crate) struct Candidate {
    pub(crate) item: ItemId,
    pub(crate) signals: Signals,
}

/// Returns the candidates of all indexes, best first.
pub(crate) fn rank(search: &Search, legs: Legs, now: Timestamp) -> Vec<Candidate> {
    let Legs { tells, text, spans, vector, notes, asked, limit, importance, .. } = legs;
    let weighs = search.rule().weighs_context();
    let mut legs = [
        (LegKind::Text, text_leg(&text, &spans, &asked, &tells)),
        (LegKind::Vector, vector_leg(&vector, &asked, limit, weighs, &tells)),
    ];
    for found in legs.iter_mut().flat_map(|(_, leg)| &mut leg.candidates).filter(|found| notes.contains(&found.item)) {
        found.decay = Some(Decay::WORKING);
    }
    if search.rule().weighs_importance() {
        for found in legs.iter_mut().flat_map(|(_, leg)| &mut leg.candidates) {
            found.importance = importance.get(&found.item).copied().unwrap_or_else(|| unused(found.at, now));
        }
    }
    let fused = search.rule().rank(legs, now);
    let cosines: HashMap<&ItemId, f32> = vector.iter().map(|hit| (&hit.item, hit.similarity.value())).collect();
    let candidate = |fused: crate::rank::Fused| {
        let of = |leg: usize| fused.legs.get(leg).copied().unwrap_or_default();
        let signals = signals(fused.score, of(0), of(1), cosines.get(&fused.item).copied());
        Candidate { item: fused.item, signals }
    };
    fused.into_iter().map(candidate).collect()
}

/// Returns the importance of an item that has only a time, such as a message.
fn unused(at: Timestamp, now: Timestamp) -> f32 {
    Importance { age: now.since(at), accesses: 0, explicit: None }.score(Decay::LONG_TERM)
}

fn signals(score: f32, text: Contribution, vector: Contribution, cosine: Option<f32>) -> Signals {
    Signals { score, text: text.score, text_rank: text.rank, cosine, vector_rank: vector.rank, reranked: None }
}

/// Scores the hits by words: BM25F, weighted by role, speaker, time and the span around.
fn text_leg(text: &TextHits, spans: &TextHits, asked: &Asked, tells: &HashMap<ItemId, f32>) -> Leg {
    let roles = if asked.the_model { RoleWeights::of_the_asked() } else { RoleWeights::default() };
    let bm25 = Bm25::default();
    let scores = bm25f(&bm25, text).into_iter().zip(&text.hits);
    let mut scores: Vec<f32> =
        scores.map(|(score, hit)| score * roles.of(&hit.fields) * asked.weight(&hit.fields)).collect();
    let places: Vec<_> = text.hits.iter().map(|hit| hit.fields.session.as_ref().zip(hit.fields.seq)).collect();
    let holds: Vec<bool> = text.hits.iter().map(|hit| hit.own.iter().any(|count| *count > 0)).collect();
    below_lenders(&places, &holds, &mut scores);
    let span_scores = bm25f(&bm25, spans);
    let best_span = span_scores.iter().copied().fold(0.0, f32::max);
    let by_span: HashMap<&ItemId, f32> = spans.hits.iter().map(|hit| &hit.item).zip(span_scores).collect();
    let around: Vec<Option<f32>> =
        text.hits.iter().map(|hit| by_span.get(&span_around(&hit.fields)?).copied()).collect();
    let mut scores = add_spans(&scores, &around, best_span, SPAN_WEIGHT);
    hand_on(&places, &told(text.hits.iter().map(|hit| &hit.item), tells), 0.0, &mut scores);
    let found = text.hits.iter().zip(scores).map(|(hit, score)| Found {
        item: hit.item.clone(),
        at: hit.fields.at,
        score,
        importance: 0.0,
        decay: None,
    });
    Leg { candidates: found.collect(), floor: 0.0, partition: text.documents, weight: 1.0 }
}

/// Returns how much each item tells: 1 if it was not looked at.
fn told<'a>(items: impl Iterator<Item = &'a ItemId>, tells: &HashMap<ItemId, f32>) -> Vec<f32> {
    items.map(|item| tells.get(item).copied().unwrap_or(1.0)).collect()
}

/// Returns the lowest of the best [`SAMPLE`] scores, which is what a leg's missing items have.
fn lowest_of_sample(scores: &[f32]) -> f32 {
    let mut sorted = scores.to_vec();
    sorted.sort_by(|one, other| other.total_cmp(one));
    sorted.get(SAMPLE - 1).or(sorted.last()).copied().unwrap_or(1.0)
}

fn span_around(fields: &Fields) -> Option<ItemId> {
    Some(ItemId::Span(fields.session.clone()?, span_of(fields.seq?)))
}

/// Scores the hits by meaning: their cosines and, if `weighs`, those of neighbours, the speaker and the time. Keeps the best
/// `limit`.
fn vector_leg(hits: &[VectorHit], asked: &Asked, limit: usize, weighs: bool, tells: &HashMap<ItemId, f32>) -> Leg {
    let mut scores: Vec<f32> = hits.iter().map(|hit| hit.similarity.value()).collect();
    if weighs {
        let places: Vec<_> = hits.iter().map(|hit| hit.fields.session.as_ref().zip(hit.fields.seq)).collect();
        scores = smooth(&places, &scores, NEIGHBOUR_COSINE_WEIGHT);
        for (score, hit) in scores.iter_mut().zip(hits) {
            *score += asked.bonus(&hit.fields);
        }
        let tells = told(hits.iter().map(|hit| &hit.item), tells);
        let floor = lowest_of_sample(&scores);
        hand_on(&places, &tells, floor, &mut scores);
    }
    let mut found: Vec<Found> = hits
        .iter()
        .zip(scores)
        .map(|(hit, score)| Found { item: hit.item.clone(), at: hit.fields.at, score, importance: 0.0, decay: None })
        .collect();
    found.sort_by(|a, b| b.score.total_cmp(&a.score).then_with(|| b.at.cmp(&a.at)).then_with(|| a.item.cmp(&b.item)));
    found.truncate(limit);
    let floor = found.get(SAMPLE - 1).or(found.last()).map_or(1.0, |lowest| lowest.score);
    Leg { partition: found.len() as u64, candidates: found, floor, weight: 1.0 }
}

impl Asked {
    /// Returns the factor for an item's score by words.
    fn weight(&self, fields: &Fields) -> f32 {
        let is_then = self.times.iter().any(|time| time.is_counted() && time.covers(fields.at));
        (if self.names(fields) { NAMED_WEIGHT } else { 1.0 }) * if is_then { TIME_WEIGHT } else { 1.0 }
    }

    /// Returns what is added to an item's cosine.
    fn bonus(&self, fields: &Fields) -> f32 {
        let is_then = self.times.iter().any(|time| time.covers(fields.at));
        let is_of_person = !self.the_model && matches!(fields.role, None | Some(Role::User));
        let bonuses = [(self.names(fields), NAMED_BONUS), (is_then, TIME_BONUS), (is_of_person, PERSON_BONUS)];
        bonuses.into_iter().filter(|(is_due, _)| *is_due).map(|(_, bonus)| bonus).sum()
    }

    fn names(&self, fields: &Fields) -> bool {
        self.speaker.is_some() && self.speaker == fields.speaker
    }
}
