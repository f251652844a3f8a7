//! The window of a conversation: counting tokens, fitting into a budget, folding, evicting.
//!
//! Pure functions of values: no clock, no I/O, no lock.

mod archive;
mod budget;
mod buffer;
mod compact;
mod evict;
mod fit;
mod fold;
mod frame;
mod keep;
mod ledger;
mod pairing;
mod summary;
pub mod tokens;
mod truncate;
mod turns;

pub(crate) use archive::archive;
pub use budget::{Budget, FitOptions, Oversize, Steps};
pub use buffer::{BufferConfig, Folding};
pub(crate) use compact::plan_turn;
pub use compact::{Beyond, Pressure, plan_fold};
pub use evict::{Entry, MemoryStats, Pushed, RingBuffer};
pub use fit::{FitEvent, Fitted, fit, fit_with};
pub use fold::{FoldPlan, FoldReason};
pub(crate) use frame::{count_shown, escape, framed};
pub use keep::must_keep;
pub(crate) use keep::telling_words;
pub use ledger::{Cut, Ledger};
pub(crate) use pairing::{answers_calls, begins_turn, can_unfold, makes_calls, speaks};
pub(crate) use summary::bounded;
pub(crate) use summary::sentences;
pub use summary::{ExtractiveSummarizer, complete_summary, validate_summary};
#[cfg(feature = "tiktoken")]
pub use tokens::TiktokenCounter;
pub use tokens::{CounterKind, HeuristicCounter, ImageCost, LimitRule, MediaCosts, ModelProfile};
