//! A simulation: truth, its indexes, a cache, two upkeep processes and two writers, with everything that can befall the calls
//! between them, in an order that one number decides.
//!
//! Every call of a store waits until the scheduler lets it through. It may carry it out late, twice or never, keep the
//! answer back, and kill a process between two calls. In some plays a place is lost that holds an index, and in some a writer
//! opens no index of vectors. There is one thread and no real time: the same seed always plays the
//! same. When the writers are done the faults stop, upkeep runs until nothing is pending, and then everything must agree: see
//! [`check`].
//!
//! ```
//! use memory_testkit::simulation::{Ground, Plan, play};
//!
//! let plan = Plan::new(Ground::reference);
//! play(7, &plan).unwrap();
//! ```

pub(crate) mod act;
mod check;
mod far;
pub(crate) mod ledger;
mod look;
mod place;
mod process;
pub(crate) mod site;
mod story;
mod wire;
mod world;
mod writer;

pub use site::Ground;
pub use story::{Failed, play};
pub use wire::Call;
pub use world::Plan;
