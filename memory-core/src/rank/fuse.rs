//! Fusion: merges the answers of several indexes into one list.

#[cfg(test)]
mod tests;

use std::cmp::Ordering;

use foldhash::HashMap;

use crate::id::ItemId;
use crate::rank::recency::Decay;
use crate::time::Timestamp;

/// How many of a leg's best candidates give its mean and deviation, and keep their full standard score.
pub(crate) const SAMPLE: usize = 100;

/// The share that later candidates keep of their distance from the floor: just enough to keep their order.
const BEYOND: f64 = 0.01;

/// The bound of a standard score. One of `n` values is at most `sqrt(n - 1)` standard deviations from their mean (Samuelson
/// 1968); this is for [`SAMPLE`] values. Without it, a floor below all of them could be any number of deviations away.
const FURTHEST: f64 = 9.949_874;

/// An item that a leg found.
#[derive(Clone, Debug, PartialEq)]
pub struct Candidate {
    /// The item.
    pub item: ItemId,
    /// When the message was said, or the record made.
    pub at: Timestamp,
    /// How well it matches, on the leg's own scale; larger is better. A score that is not finite counts as the leg's floor.
    pub score: f32,
    /// The importance of the item, which decides between equal scores; 0 if unknown.
    pub importance: f32,
    /// Its own decay where age ranks, in place of the ranking's: a note of the working tier has
    /// [`Decay::WORKING`](super::Decay::WORKING).
    pub decay: Option<Decay>,
}

/// The answer of one index, in any order.
#[derive(Clone, Debug, PartialEq)]
pub struct Leg {
    /// The items that it found. If an item occurs twice, the better score counts.
    pub candidates: Vec<Candidate>,
    /// The score of an item that it did not find: 0 for words, the lowest of the best 100 for vectors.
    pub floor: f32,
    /// How many items it searched.
    pub partition: u64,
    /// Its weight.
    pub weight: f32,
}

/// The contribution of one leg to a fused score.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Contribution {
    /// The item's rank in the leg, from 1; none if the leg did not find it.
    pub rank: Option<usize>,
    /// The item's score in the leg; none if the leg did not find it.
    pub score: Option<f32>,
    /// What it added to the fused score, weight included.
    pub added: f32,
}

/// An item of the fused list.
#[derive(Clone, Debug, PartialEq)]
pub struct Fused {
    /// The item.
    pub item: ItemId,
    /// When it was said or made.
    pub at: Timestamp,
    /// Its importance.
    pub importance: f32,
    /// Its own decay where age ranks, in place of the ranking's.
    pub decay: Option<Decay>,
    /// Its fused score. It orders this list; scores of two lists do not compare.
    pub score: f32,
    /// The contribution of each leg, in the order of the legs.
    pub legs: Vec<Contribution>,
    /// What recency and importance added, if the ranking uses them.
    pub bonus: f32,
}

/// Returns the items of all legs by the weighted sum of their standard scores: the default fusion.
///
/// A leg's mean and deviation are those of its best 100 candidates. If it has fewer, its floor fills them up to the number of
/// items, at most 100. A leg whose scores are all equal adds nothing. An item that a leg did not find gets the standard
/// score of the floor. So do the candidates after the best 100, plus a hundredth of their distance, which keeps their order:
/// the first hits stay the same, however many are asked for. Standard scores are clamped to `sqrt(99)`, the most that one
/// of 100 values can have, so that a leg of almost equal scores does not drown the others. Multiplying a leg's scores and
/// floor by a positive number, or adding a number to all of them, changes nothing.
///
/// Best first; equal scores by importance, then newer first, then by item.
pub fn z_score(legs: &[Leg]) -> Vec<Fused> {
    fuse(legs, |leg, scores| {
        let enough = usize::try_from(leg.partition).unwrap_or(SAMPLE).min(SAMPLE);
        let found = scores.iter().take(SAMPLE).map(|score| f64::from(*score));
        let missing = enough.saturating_sub(scores.len());
        let sample: Vec<f64> = found.chain(std::iter::repeat_n(f64::from(leg.floor), missing)).collect();
        let (mean, deviation) = mean_and_deviation(&sample);
        let (floor, weight) = (f64::from(leg.floor), f64::from(leg.weight));
        let standard = move |score: f64| (score - mean) / deviation;
        let lowest = standard(floor).clamp(-FURTHEST, FURTHEST);
        let beyond = move |score: f32| BEYOND * (f64::from(score) - floor) / deviation;
        let others = scores.get(SAMPLE..).unwrap_or_default();
        let ends = others.first().into_iter().chain(others.last());
        let longest = ends.map(|end| beyond(*end).abs()).fold(0.0, f64::max);
        let shrunk = (BEYOND * FURTHEST / longest).min(1.0);
        Box::new(move |found| match found {
            _ if deviation <= 0.0 => 0.0,
            Some((rank, score)) if rank <= SAMPLE => weight * standard(f64::from(score)),
            Some((_, score)) => weight * (lowest + shrunk * beyond(score)),
            None => weight * lowest,
        })
    })
}

/// Returns the items of all legs by the weighted sum of `1 / (k + rank)`, with ranks from 1 (Cormack, Clarke and Büttcher
/// 2009), for legs that give ranks only. Ordered as by [`z_score`].
#[doc(alias = "reciprocal_rank_fusion")]
pub fn rrf(legs: &[Leg], k: f32) -> Vec<Fused> {
    let k = f64::from(k.max(0.0));
    fuse(legs, |leg, _| {
        let weight = f64::from(leg.weight);
        Box::new(move |found| found.map_or(0.0, |(rank, _)| weight / (k + rank as f64)))
    })
}

/// Returns the items of all legs by the weighted sum of their scores, each leg scaled to 0 to 1.
///
/// 0 is the leg's lowest score, or its floor if it did not find everything. An item that a leg did not find has 0. If all
/// scores are equal, the items found have 1. Ordered as by [`z_score`].
pub fn min_max(legs: &[Leg]) -> Vec<Fused> {
    fuse(legs, |leg, scores| {
        let found_all = usize::try_from(leg.partition).is_ok_and(|partition| partition <= scores.len());
        let scores = scores.iter().map(|score| f64::from(*score));
        let highest = scores.clone().fold(f64::NEG_INFINITY, f64::max);
        let lowest = scores.fold(if found_all { f64::INFINITY } else { f64::from(leg.floor) }, f64::min);
        let weight = f64::from(leg.weight);
        Box::new(move |found| match found {
            None => 0.0,
            Some(_) if highest <= lowest => weight,
            Some((_, score)) => weight * (f64::from(score) - lowest) / (highest - lowest),
        })
    })
}

/// Returns the mean and the standard deviation; exactly 0 if all values are equal, whatever the rounding.
fn mean_and_deviation(values: &[f64]) -> (f64, f64) {
    let Some(first) = values.first() else { return (0.0, 0.0) };
    if values.iter().all(|value| value == first) {
        return (*first, 0.0);
    }
    let count = values.len() as f64;
    let mean = values.iter().sum::<f64>() / count;
    let variance = values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / count;
    (mean, variance.sqrt())
}

/// Returns what a leg adds for an item, given its rank and score if the leg found it.
type Added = Box<dyn Fn(Option<(usize, f32)>) -> f64>;

/// Fuses by a rule that is made for each leg from the scores of its items, best first.
fn fuse(legs: &[Leg], rule: impl Fn(&Leg, &[f32]) -> Added) -> Vec<Fused> {
    let mut fused: Vec<Fused> = Vec::new();
    let mut places: HashMap<&ItemId, usize> = HashMap::default();
    places.reserve(legs.iter().map(|leg| leg.candidates.len()).sum());
    let mut rules = Vec::with_capacity(legs.len());
    for (index, leg) in legs.iter().enumerate() {
        let mut scores = Vec::with_capacity(leg.candidates.len());
        for (score, Candidate { item, at, importance, decay, .. }) in ranked(leg) {
            let place = *places.entry(item).or_insert(fused.len());
            if place == fused.len() {
                let legs = vec![Contribution::default(); legs.len()];
                let (item, at, importance, decay) = (item.clone(), *at, *importance, *decay);
                fused.push(Fused { item, at, importance, decay, score: 0.0, legs, bonus: 0.0 });
            }
            let contribution = fused.get_mut(place).and_then(|fused| fused.legs.get_mut(index));
            // An item that occurs twice already has its better score.
            if let Some(contribution) = contribution.filter(|contribution| contribution.rank.is_none()) {
                scores.push(score);
                *contribution = Contribution { rank: Some(scores.len()), score: Some(score), added: 0.0 };
            }
        }
        rules.push(rule(leg, &scores));
    }
    for item in &mut fused {
        let mut sum = 0.0;
        for (contribution, added) in item.legs.iter_mut().zip(&rules) {
            let added = added(contribution.rank.zip(contribution.score));
            contribution.added = added as f32;
            sum += added;
        }
        item.score = sum as f32;
    }
    sort(&mut fused);
    fused
}

/// Sorts best first; equal scores by importance, then newer first, then by item.
pub(super) fn sort(fused: &mut [Fused]) {
    fused
        .sort_unstable_by(|a, b| order((a.score, a.importance, a.at, &a.item), (b.score, b.importance, b.at, &b.item)));
}

fn order(a: (f32, f32, Timestamp, &ItemId), b: (f32, f32, Timestamp, &ItemId)) -> Ordering {
    let by_score = b.0.total_cmp(&a.0);
    by_score.then_with(|| b.1.total_cmp(&a.1)).then_with(|| b.2.cmp(&a.2)).then_with(|| a.3.cmp(b.3))
}

/// Returns the leg's candidates best first, with finite scores only.
fn ranked(leg: &Leg) -> Vec<(f32, &Candidate)> {
    // Both zeros become one, so that the total order sees them as equal.
    let score = |found: &Candidate| if found.score.is_finite() { found.score + 0.0 } else { leg.floor };
    let mut ranked: Vec<_> = leg.candidates.iter().map(|found| (score(found), found)).collect();
    ranked.sort_unstable_by(|(a, left), (b, right)| {
        order((*a, left.importance, left.at, &left.item), (*b, right.importance, right.at, &right.item))
    });
    ranked
}
