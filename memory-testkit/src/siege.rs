//! A siege: the script of the [simulation](crate::simulation) over real servers, played by two processes that are killed and
//! whose ways to the servers are cut, held up and closed.
//!
//! A process is the test's own program again, with a memory of its own and its upkeep. The test tells both what to do, writes
//! down every call before it is made and after it was answered, kills one of them now and then and starts it anew, and lets
//! [proxies](crate::faults::Proxy) before the servers drop connections, lose answers, bring them late and ask Redis twice.
//! What is to be forgotten is asked for until that succeeds, as any application has to; writes are repeated some of the
//! times. When the script is done the faults stop, upkeep runs until nothing is pending, and truth and every index are looked at past the
//! proxies, as in the simulation: what was acknowledged is there, what was forgotten is nowhere, indexes answer as if they
//! were made anew, and every receipt that said `complete` was true when it was given.
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

mod count;
mod hold;
mod journal;
mod life;
mod patient;
mod process;
mod quiet;
mod seat;
mod way;

use std::process::ExitCode;
use std::sync::Arc;

use memory_core::Result;
use memory_core::engine::Forget;
use memory_core::model::Embedder;
use serde::{Deserialize, Serialize};

use crate::check::Scene;
use crate::scenario::Boxed;
use crate::simulation::Ground;

/// Where the stores of a siege are.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Places {
    /// A fresh name for the data, as [`Setting::name`](crate::Setting::name) is.
    pub name: String,
    /// The URLs that the siege was given; where a process opens them, they lead through proxies.
    pub urls: Vec<String>,
}

/// Opens stores, whose vectors this embedder makes. With the same places it opens the same data, in every process.
pub type Open = fn(Places, Arc<dyn Embedder>) -> Boxed<'static, Result<Ground>>;

/// A siege of one set of stores.
#[derive(Clone, Copy, Debug)]
pub struct Siege {
    name: &'static str,
    open: Open,
    forgets: fn(&Forget) -> bool,
    operations: usize,
}

impl Siege {
    /// Returns a siege of the stores that `open` opens.
    pub const fn new(name: &'static str, open: Open) -> Self {
        Self { name, open, forgets: |_| true, operations: 2_000 }
    }

    /// Sets what is forgotten at all. Default everything.
    #[must_use]
    pub const fn forgetting(self, forgets: fn(&Forget) -> bool) -> Self {
        Self { forgets, ..self }
    }

    /// Sets how many operations are played, where `MEMORY_TEST_OPERATIONS` does not say it. Default 2,000.
    #[must_use]
    pub const fn operations(self, operations: usize) -> Self {
        Self { operations, ..self }
    }

    /// Is a process of this siege, and returns how that ended, if this program was started as one; else returns none at once.
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
