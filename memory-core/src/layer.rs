//! Layers between the engine and its stores. Each implements the traits of the store that it wraps.
//!
//! | to find | look in |
//! |---|---|
//! | deadlines, retries, the circuit breaker, how many calls at once | `guard.rs` and the pure parts beside it |
//! | which store traits a guard implements | `guard/stores.rs`; how patient it is with each method `../methods.rs` |
//! | what waits for a store that is slow or away | `write_behind.rs`; what readers see of it `write_behind/overlay.rs` |
//! | how calls of stores are counted, timed and logged | `metered.rs`; the figures `../figures.rs` |
//! | what is cached, and why it is never stale | `cached.rs`; the protocol in `cached/shelf.rs` |

pub mod cached;
pub mod guard;
mod metered;
pub mod write_behind;

pub use cached::{CacheLayer, CachePolicy};
pub use guard::{Guard, GuardPolicy, Guarded, within};
pub(crate) use metered::Metered;
pub use write_behind::{WriteBehind, WriteBehindPolicy};
