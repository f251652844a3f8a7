//! Forgetting through a whole memory over the truth stores of a backend: a forget that was interrupted anywhere is
//! completed by the same call, nothing derived outlives its sources, and every receipt is true.
//!
//! A truth store that the suite was not given lives in the process, and so does the text index. Chance plays 100 rounds
//! where the stores are volatile, else 30; `MEMORY_TEST_ROUNDS` sets another number.

mod late;
mod many;
mod outrun;
mod plot;
mod rounds;
mod traced;
mod unfolded;
mod world;

use crate::Scenario;
use crate::isolation::{Openers, Stores};

/// Returns the scenarios of forgetting.
pub fn table() -> Vec<Scenario<Stores>> {
    [rounds::TABLE, late::TABLE, outrun::TABLE, many::TABLE, traced::TABLE, unfolded::TABLE].concat()
}

/// Returns the scenarios for the truth stores that are given, and the openers of these stores. Without any, there are no
/// scenarios.
pub(crate) fn table_of(given: &Openers) -> (Vec<Scenario<Stores>>, Openers) {
    let truth = Openers { chat: given.chat.clone(), records: given.records.clone(), ..Openers::default() };
    let is_given = truth.chat.is_some() || truth.records.is_some();
    (if is_given { table() } else { Vec::new() }, truth)
}
