//! What of a conversation a model sees: counting, fitting into a budget, folding, evicting.
//!
//! Pure functions of values: no clock, no I/O, no lock.

mod budget;
mod fit;
mod ledger;
mod pairing;
pub mod tokens;
mod truncate;

pub use budget::{Budget, FitOptions, Oversize};
pub use fit::{FitEvent, Fitted, fit, fit_with};
pub use ledger::{Cut, Ledger};
#[cfg(feature = "tiktoken")]
pub use tokens::TiktokenCounter;
pub use tokens::{CounterKind, HeuristicCounter, LimitRule, ModelProfile, token_limit};
