//! A whole memory over the stores of a backend: what a user of the library sees, row by row of `docs/rows.md`.
//!
//! A scenario's name begins with the row that it shows. It plays the engine over the conversations, records, indexes and cache
//! that the suite was given; what is missing lives in the process.

mod context;
mod counts;
mod degraded;
mod edits;
mod folds;
mod fork;
mod fork_ends;
mod fresh;
mod gate;
mod ground;
mod histories;
mod lifetimes;
mod owners;
mod ranking;
mod retention;
mod search;
mod tiers;
mod times;
mod world;

use std::sync::Arc;

use memory_core::Analysis;

use crate::bed::{Opener, Setting};
use crate::isolation::{Openers, Stores};
use crate::{Boxed, Scenario};

/// Returns the scenarios of a whole memory.
pub fn table() -> Vec<Scenario<Stores>> {
    [
        context::TABLE,
        counts::TABLE,
        degraded::TABLE,
        edits::TABLE,
        folds::TABLE,
        fork::TABLE,
        fork_ends::TABLE,
        fresh::TABLE,
        gate::TABLE,
        histories::TABLE,
        lifetimes::TABLE,
        owners::TABLE,
        ranking::TABLE,
        retention::TABLE,
        search::TABLE,
        tiers::TABLE,
        times::TABLE,
    ]
    .concat()
}

/// Returns a setting whose stores fit the memory of these scenarios: its analysis, and the space of its embedder.
pub fn fitted(setting: Setting) -> Setting {
    Setting { analysis: Analysis::english().name().to_owned(), space: ground::space(), ..setting }
}

/// Returns the scenarios for the stores that are given, and the opener of these stores. Without truth and without an index,
/// there are no scenarios.
pub(crate) fn table_of(given: &Openers) -> (Vec<Scenario<Stores>>, Opener<Stores>) {
    let Openers { chat, records, text, vectors, .. } = given;
    let is_given = chat.is_some() || records.is_some() || text.is_some() || vectors.is_some();
    let open = Openers { blackboard: None, journal: None, ..given.clone() }.all();
    let fitting: Opener<Stores> = Arc::new(move |setting| -> Boxed<'static, _> { open(fitted(setting)) });
    (if is_given { table() } else { Vec::new() }, fitting)
}
