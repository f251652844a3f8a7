//! A whole memory over the stores of a backend: what a user of the library sees, row by row of `docs/rows.md`.
//!
//! A scenario's name begins with the row that it shows. It plays the engine over the conversations, records, indexes, cache and
//! boards that the suite was given; what is missing lives in the process.

mod boards;
mod changes;
mod context;
mod costs;
mod counts;
mod crowded;
mod defaults;
mod degraded;
mod edits;
mod facts;
mod facts_kept;
mod folds;
mod fork;
mod fork_ends;
mod fresh;
mod future;
mod gate;
mod ground;
mod histories;
mod lifetimes;
mod notes;
mod owners;
mod planner;
mod quarantine;
mod ranking;
mod rebuilds;
mod records;
mod restored;
mod retention;
mod search;
mod sharing;
mod synopses;
mod tiers;
mod times;
mod windows;
mod world;

use std::sync::Arc;

use memory_core::Analysis;

use crate::bed::{Opener, Setting};
use crate::isolation::{Openers, Stores};
use crate::{Boxed, Scenario};

/// Returns the scenarios of a whole memory.
pub fn table() -> Vec<Scenario<Stores>> {
    [
        boards::TABLE,
        changes::TABLE,
        context::TABLE,
        costs::TABLE,
        counts::TABLE,
        crowded::TABLE,
        defaults::TABLE,
        degraded::TABLE,
        edits::TABLE,
        facts::TABLE,
        facts_kept::TABLE,
        folds::TABLE,
        fork::TABLE,
        fork_ends::TABLE,
        fresh::TABLE,
        future::TABLE,
        gate::TABLE,
        histories::TABLE,
        lifetimes::TABLE,
        notes::TABLE,
        owners::TABLE,
        planner::TABLE,
        quarantine::TABLE,
        ranking::TABLE,
        rebuilds::TABLE,
        records::TABLE,
        restored::TABLE,
        retention::TABLE,
        search::TABLE,
        sharing::TABLE,
        synopses::TABLE,
        tiers::TABLE,
        times::TABLE,
        windows::TABLE,
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
    let is_behind = given.before.is_some();
    let chat = given.before.clone().or_else(|| given.chat.clone());
    let open = Openers { chat, journal: None, ..given.clone() }.all();
    let fitting: Opener<Stores> = Arc::new(move |setting| -> Boxed<'static, _> {
        let opening = open(fitted(setting));
        Box::pin(async move { Ok(Stores { is_behind, ..opening.await? }) })
    });
    (if is_given { table() } else { Vec::new() }, fitting)
}
