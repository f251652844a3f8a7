//! The rankings: how the answers of the indexes become one order, with named presets.

#[cfg(test)]
mod tests;

use std::cmp::Reverse;
use std::collections::BTreeMap;

use crate::error::{Error, Result};
use crate::id::ItemId;
use crate::rank::fuse::{self, Fused, Leg, min_max, rrf, z_score};
use crate::rank::recency::{Decay, recency_by_rank};
use crate::time::Timestamp;

/// The largest weight, and the largest `k`: sums of what such weights add are finite.
const LARGEST: f32 = 1_000_000.0;

/// The search that a leg comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum LegKind {
    /// By words.
    Text,
    /// By meaning; its scores are cosines.
    Vector,
}

/// The weights of the legs, each from 0 to 1,000,000.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Weights {
    /// The search by words.
    pub text: f32,
    /// The search by meaning.
    pub vector: f32,
}

impl Weights {
    fn of(&self, kind: LegKind) -> f32 {
        match kind {
            LegKind::Text => self.text,
            LegKind::Vector => self.vector,
        }
    }
}

/// How recency is measured.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Recency {
    /// By the item's rank in time among the candidates.
    Rank,
    /// By the item's age.
    Age(Decay),
}

/// How the answers of the legs become one order.
///
/// ```
/// use memory_core::engine::Search;
/// use memory_core::rank::Ranking;
///
/// let by_default = Search::new("my dentist");
/// let newest_first = Search::new("my dentist").ranking(Ranking::muxi(0.3));
/// let lately = Search::new("my dentist").ranking(Ranking::kari());
/// let what_matters = Search::new("my dentist").ranking(Ranking::weighted());
/// assert_eq!(Some(Ranking::muxi(Ranking::recency_weight_of_alpha(0.7))), newest_first.ranking);
/// ```
#[doc(alias = "rank_and_dedupe")]
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum Ranking {
    /// The sum of standard scores, [`z_score`]: the default. Of equals, a search puts the record first that matters more
    /// ([`importance`](super::importance())).
    ZScore(Weights),
    /// Reciprocal ranks, [`rrf`].
    Rrf {
        /// The constant `k`, from 0 to 1,000,000; a larger one makes the first ranks stand out less.
        k: f32,
        /// How much each leg counts.
        weights: Weights,
    },
    /// Scores scaled to 0 to 1, [`min_max`].
    MinMax(Weights),
    /// The share `1 - recency_weight` for similarity and the rest for recency.
    ///
    /// Similarity is the cosine or, without a search by meaning, the score by words scaled to 0 to 1.
    Blend {
        /// The share of recency, 0 to 1.
        recency_weight: f32,
        /// What newness is measured by.
        recency: Recency,
        /// Whether a negative cosine counts as 0.
        clips: bool,
        /// The fewest candidates to fetch.
        candidates: usize,
    },
    /// [`min_max`] with recency and importance added.
    Weighted {
        /// How much each leg counts.
        weights: Weights,
        /// How much recency counts, from 0 to 1,000,000.
        recency_weight: f32,
        /// What newness is measured by.
        recency: Recency,
        /// How much importance counts, from 0 to 1,000,000.
        importance_weight: f32,
    },
}

impl Default for Ranking {
    fn default() -> Self {
        Self::z_score()
    }
}

impl Ranking {
    /// Returns the default: standard scores, text 1 and vector 0.95.
    #[doc(alias = "zscore")]
    pub fn z_score() -> Self {
        Self::ZScore(Weights { text: 1.0, vector: 0.95 })
    }

    /// Returns reciprocal rank fusion with `k` = 10 and equal weights.
    #[doc(alias = "reciprocal_rank_fusion")]
    pub fn rrf() -> Self {
        Self::Rrf { k: 10.0, weights: Weights { text: 1.0, vector: 1.0 } }
    }

    /// Returns the sum of scaled scores, text 0.4 and vector 0.6.
    #[doc(alias = "minmax")]
    pub fn min_max() -> Self {
        Self::MinMax(Weights { text: 0.4, vector: 0.6 })
    }

    /// Returns `(1 - recency_weight) × max(0, cosine) + recency_weight × recency`, recency by rank, as MUXI ranks with
    /// 0.3.
    ///
    /// Opt-in: measured, this sum costs much recall.
    #[doc(alias = "recency_bias")]
    pub fn muxi(recency_weight: f32) -> Self {
        let recency_weight = clamp(recency_weight);
        Self::Blend { recency_weight, recency: Recency::Rank, clips: true, candidates: 100 }
    }

    /// Returns `0.65 × similarity + 0.35 × e^(-age / 3600 s)` over 24 candidates, as Kari ranks.
    #[doc(alias = "recency_alpha")]
    pub fn kari() -> Self {
        let recency = Recency::Age(Decay::KARI_RECALL);
        Self::Blend { recency_weight: 0.35, recency, clips: false, candidates: 24 }
    }

    /// Returns the sum of scaled scores with a tenth each for recency and importance.
    pub fn weighted() -> Self {
        let weights = Weights { text: 0.4, vector: 0.6 };
        let recency = Recency::Age(Decay::LONG_TERM);
        Self::Weighted { weights, recency_weight: 0.1, recency, importance_weight: 0.1 }
    }

    /// Returns the weight of recency for an `alpha` that is the weight of similarity, as `recency_alpha` is in other libraries.
    #[doc(alias = "recency_alpha")]
    pub fn recency_weight_of_alpha(alpha: f32) -> f32 {
        1.0 - clamp(alpha)
    }

    /// Returns `Ok` if its scores can be compared.
    ///
    /// # Errors
    /// `Invalid` for a weight or a `k` that is negative, above 1,000,000 or no number, and for a share of recency above 1.
    pub(crate) fn check(&self) -> Result<()> {
        let numbers = match *self {
            Self::ZScore(Weights { text, vector }) | Self::MinMax(Weights { text, vector }) => [text, vector, 0.0, 0.0],
            Self::Rrf { k, weights: Weights { text, vector } } => [text, vector, k, 0.0],
            Self::Blend { recency_weight, .. } => [recency_weight, 1.0 - recency_weight, 0.0, 0.0],
            Self::Weighted { weights: Weights { text, vector }, recency_weight, importance_weight, .. } => {
                [text, vector, recency_weight, importance_weight]
            }
        };
        if numbers.iter().all(|number| (0.0..=LARGEST).contains(number)) {
            return Ok(());
        }
        Err(Error::invalid("the weights of a ranking are from 0 to 1,000,000, and the share of recency is from 0 to 1"))
    }

    /// Returns whether speakers, times and neighbours weigh in the legs before this ranking. Not for a formula over bare cosines.
    pub fn weighs_context(&self) -> bool {
        !matches!(self, Self::Blend { .. })
    }

    /// Returns whether the importance of an item counts.
    pub fn weighs_importance(&self) -> bool {
        matches!(self, Self::Weighted { importance_weight, .. } if *importance_weight != 0.0)
    }

    /// Returns whether the answers of this leg count.
    pub fn counts(&self, kind: LegKind) -> bool {
        match self {
            Self::ZScore(weights)
            | Self::Rrf { weights, .. }
            | Self::MinMax(weights)
            | Self::Weighted { weights, .. } => weights.of(kind) != 0.0,
            Self::Blend { .. } => true,
        }
    }

    /// Returns how many candidates to ask each leg for, to get `limit` results.
    pub fn candidates(&self, limit: usize) -> usize {
        match self {
            Self::Blend { candidates, .. } if *candidates < 100 => limit.max(*candidates),
            Self::Blend { candidates, .. } => limit.saturating_mul(10).max(*candidates),
            _ => limit.saturating_mul(10).max(100),
        }
    }

    /// Returns the items of all legs, best first; equal scores by importance, then newer first, then by item.
    ///
    /// Multiplies the weights of `legs` by those of the ranking. Contributions are in the order of the legs.
    pub fn rank(&self, legs: impl IntoIterator<Item = (LegKind, Leg)>, now: Timestamp) -> Vec<Fused> {
        let legs: Vec<(LegKind, Leg)> = legs.into_iter().collect();
        match self {
            Self::ZScore(weights) => z_score(&heard(legs, weights)),
            Self::Rrf { k, weights } => rrf(&heard(legs, weights), *k),
            Self::MinMax(weights) => min_max(&heard(legs, weights)),
            Self::Blend { recency_weight, recency, clips, .. } => {
                let mut fused = by_similarity(legs, *clips, 1.0 - recency_weight);
                add(&mut fused, *recency_weight, *recency, 0.0, now);
                fused
            }
            Self::Weighted { weights, recency_weight, recency, importance_weight } => {
                let mut fused = min_max(&heard(legs, weights));
                add(&mut fused, *recency_weight, *recency, *importance_weight, now);
                fused
            }
        }
    }
}

fn clamp(share: f32) -> f32 {
    if share.is_nan() { 0.0 } else { share.clamp(0.0, 1.0) }
}

/// Multiplies the weights.
fn weighed(legs: Vec<(LegKind, Leg)>, weights: &Weights) -> Vec<Leg> {
    legs.into_iter().map(|(kind, leg)| Leg { weight: leg.weight * weights.of(kind), ..leg }).collect()
}

/// Multiplies the weights, and drops legs of weight 0, so that their items are not found.
fn heard(legs: Vec<(LegKind, Leg)>, weights: &Weights) -> Vec<Leg> {
    let mut legs = weighed(legs, weights);
    legs.iter_mut().filter(|leg| leg.weight == 0.0).for_each(|leg| leg.candidates.clear());
    legs
}

/// Returns all items, scored by their cosine or, without a search by meaning, by their words.
fn by_similarity(legs: Vec<(LegKind, Leg)>, clips: bool, share: f32) -> Vec<Fused> {
    let kinds: Vec<LegKind> = legs.iter().map(|(kind, _)| *kind).collect();
    let has_vectors = kinds.contains(&LegKind::Vector);
    let weights = if has_vectors { Weights { text: 0.0, vector: 1.0 } } else { Weights { text: share, vector: 0.0 } };
    let mut fused = min_max(&weighed(legs, &weights));
    if has_vectors {
        for item in &mut fused {
            item.score = 0.0;
            for (kind, contribution) in kinds.iter().zip(&mut item.legs) {
                let cosine = contribution.score.filter(|_| *kind == LegKind::Vector).unwrap_or(0.0);
                contribution.added = share * if clips { cosine.max(0.0) } else { cosine };
                item.score += contribution.added;
            }
        }
    }
    fused
}

fn add(fused: &mut [Fused], recency_weight: f32, recency: Recency, importance_weight: f32, now: Timestamp) {
    let mut by_time: Vec<(Timestamp, Reverse<ItemId>)> =
        fused.iter().map(|item| (item.at, Reverse(item.item.clone()))).collect();
    by_time.sort();
    let places: BTreeMap<ItemId, usize> =
        by_time.into_iter().enumerate().map(|(place, (_, item))| (item.0, place)).collect();
    let length = fused.len();
    for item in fused.iter_mut() {
        let newness = match recency {
            Recency::Age(decay) => item.decay.unwrap_or(decay).between(item.at, now),
            Recency::Rank => recency_by_rank(places.get(&item.item).copied().unwrap_or(0), length),
        };
        item.bonus = recency_weight * newness + importance_weight * item.importance;
        item.score += item.bonus;
    }
    fuse::sort(fused);
}
