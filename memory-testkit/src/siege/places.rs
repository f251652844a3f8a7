//! Where a siege takes place, and what of it can be set.

use std::sync::Arc;

use memory_core::Result;
use memory_core::engine::Forget;
use memory_core::model::Embedder;
use serde::{Deserialize, Serialize};

use crate::boxed::Boxed;
use crate::simulation::Ground;

/// Where the stores of a siege are.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Places {
    /// A fresh name for the data, as [`Setting::name`](crate::Setting::name) is.
    pub name: String,
    /// The URLs that the siege was given; where a process opens them, they lead through proxies.
    pub urls: Vec<String>,
}

/// A function that opens the stores of a siege; the vector store has the space of the embedder. Equal places open the
/// same data in every process.
pub type Open = fn(Places, Arc<dyn Embedder>) -> Boxed<'static, Result<Ground>>;

/// A siege of one set of stores.
#[derive(Clone, Copy, Debug)]
pub struct Siege {
    pub(super) name: &'static str,
    pub(super) open: Open,
    pub(super) forgets: fn(&Forget) -> bool,
    pub(super) operations: usize,
}

impl Siege {
    /// Returns a siege of the stores that `open` opens.
    pub const fn new(name: &'static str, open: Open) -> Self {
        Self { name, open, forgets: |_| true, operations: 2_000 }
    }

    /// Sets which kinds of forgetting are played. Default all.
    #[must_use]
    pub const fn forgetting(self, forgets: fn(&Forget) -> bool) -> Self {
        Self { forgets, ..self }
    }

    /// Sets how many operations are played, where `MEMORY_TEST_OPERATIONS` does not say it. Default 2,000.
    #[must_use]
    pub const fn operations(self, operations: usize) -> Self {
        Self { operations, ..self }
    }
}
