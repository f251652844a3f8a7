//! Ranking: pure functions from the evidence of the indexes to one order.

mod bm25;
mod fuse;
mod importance;
mod mmr;
mod preset;
mod recency;
mod weigh;

pub(crate) use bm25::idf;
pub use bm25::{Bm25, TermWeights, bm25f};
pub(crate) use fuse::SAMPLE;
pub use fuse::{Candidate, Contribution, Fused, Leg, min_max, rrf, z_score};
pub use importance::{Importance, importance};
pub use mmr::mmr;
pub use preset::{LegKind, Ranking, Recency, Weights};
pub use recency::{Decay, recency_by_rank};
pub(crate) use weigh::{ENOUGH, best, hand_on, tells};
pub use weigh::{
    NAMED_BONUS, NAMED_WEIGHT, NEIGHBOUR_COSINE_WEIGHT, PERSON_BONUS, RoleWeights, SPAN_WEIGHT, TIME_BONUS,
    TIME_WEIGHT, add_spans, below_lenders, smooth,
};
