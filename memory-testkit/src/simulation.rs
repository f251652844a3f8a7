//! A simulation: truth, its indexes, a cache, two upkeep processes and two writers, with every fault that can happen to
//! the calls between them, in an order that one seed determines.
//!
//! Every call of a store waits until the scheduler lets it through. It may carry the call out late, twice or never,
//! withhold the answer, and kill a process between two calls. In some plays an index loses its data; in some a writer
//! opens no vector index. There is one thread and no real time, so a seed always plays the same way. When the writers
//! are done the faults stop, upkeep runs until nothing is pending, and then everything must agree: see [`check`].
//!
//! ```
//! use memory_testkit::simulation::{Ground, Plan, play};
//!
//! let plan = Plan::new(Ground::reference);
//! play(7, &plan).unwrap();
//! ```

pub(crate) mod act;
mod check;
pub(crate) mod ledger;
mod look;
mod process;
mod replaceable;
pub(crate) mod script;
pub(crate) mod site;
mod story;
mod wire;
mod wired;
mod world;
mod writer;

pub use site::Ground;
pub use story::{Failed, play};
pub use wire::Call;
pub use world::Plan;
