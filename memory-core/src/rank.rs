//! Ranking: pure functions of evidence.

mod bm25;

pub use bm25::{Bm25, TermWeights, bm25f};
