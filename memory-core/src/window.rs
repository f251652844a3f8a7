//! What of a conversation a model sees: counting, fitting into a budget, folding, evicting.
//!
//! Pure functions of values: no clock, no I/O, no lock.

pub mod tokens;

#[cfg(feature = "tiktoken")]
pub use tokens::TiktokenCounter;
pub use tokens::{CounterKind, HeuristicCounter, LimitRule, ModelProfile, token_limit};
