//! A siege: the operations of the [simulation](crate::simulation) over real servers. Two processes carry them out; they
//! are killed, and their connections to the servers are cut, delayed and closed.
//!
//! A process is the test's own program, started again, with a memory of its own and its upkeep. The test tells both
//! processes what to do, and notes every call before it is made and after it was answered. Now and then it kills one of
//! them and starts it anew. [Proxies](crate::faults::Proxy) before the servers drop connections, lose answers, delay
//! them and send requests to Redis twice. A forget is repeated until it succeeds, as any application has to; a write is
//! repeated sometimes.
//!
//! At the end the faults stop and upkeep runs until nothing is pending. Then truth and every index are read past the
//! proxies and checked as in the simulation: what was acknowledged is there, what was forgotten is nowhere, indexes
//! answer as if they were built anew, and every receipt that said `complete` was true when it was given.
//!
//! ```no_run
//! use std::process::ExitCode;
//!
//! use memory_testkit::simulation::Ground;
//! use memory_testkit::siege::{Open, Siege};
//!
//! // Yours: opens stores at `places.urls`, in a schema or under a prefix that is `places.name`.
//! const OPEN: Open = |places, embedder| Box::pin(async { Err(memory_core::Error::Overloaded) });
//!
//! fn main() -> ExitCode {
//!     let siege = Siege::new("mine", OPEN);
//!     if let Some(ended) = siege.process() {
//!         return ended;
//!     }
//!     // A test of a suite: `siege.hold(vec!["postgres://localhost:5432/memory".to_owned()]).await`
//!     ExitCode::SUCCESS
//! }
//! ```

mod child;
mod counts;
mod hold;
mod journal;
mod patient;
mod places;
mod process;
mod quiet;
mod slot;
mod way;

use std::process::ExitCode;

use crate::check::Scene;

pub use places::{Open, Places, Siege};

impl Siege {
    /// Runs as a process of this siege and returns its exit code, if the program was started as one. Otherwise returns
    /// none at once.
    pub fn process(&self) -> Option<ExitCode> {
        process::called(self)
    }

    /// Plays the operations, 2,000 of them with the same owners. A URL with a host is reached through a proxy.
    ///
    /// # Errors
    /// What was not as it must be, with the seed and the path of the journal.
    pub async fn hold(&self, urls: Vec<String>) -> Scene {
        hold::hold(*self, urls).await
    }
}
