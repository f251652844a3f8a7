//! The window of a conversation: counting tokens, fitting into a budget, folding, evicting.
//!
//! Pure functions of values: no clock, no I/O, no lock.

mod budget;
mod compact;
mod evict;
mod fit;
mod keep;
mod ledger;
mod pairing;
mod summary;
pub mod tokens;
mod truncate;

pub use budget::{Budget, FitOptions, Oversize};
pub use compact::{FoldPlan, FoldPolicy, FoldReason, Pressure, plan_fold};
pub use evict::{Entry, MemoryStats, Pushed, RingBuffer};
pub use fit::{FitEvent, Fitted, fit, fit_with};
pub use keep::must_keep;
pub use ledger::{Cut, Ledger};
pub(crate) use pairing::can_unfold;
pub use summary::{ExtractiveSummarizer, complete_summary, validate_summary};
#[cfg(feature = "tiktoken")]
pub use tokens::TiktokenCounter;
pub use tokens::{CounterKind, HeuristicCounter, ImageCost, LimitRule, MediaCosts, ModelProfile, token_limit};
