//! Isolation of owners: many owners make random calls at once, and each answer is compared with a model of that owner
//! alone.
//!
//! A case is one call with its check. A store in this process gets 1,000,000 cases, any other 20,000, spread over the
//! scenarios; `MEMORY_TEST_CASES` sets another number.

mod actor;
mod alone;
mod boards;
mod caches;
mod cast;
mod journals;
mod messages;
mod openers;
mod owner;
mod records;
mod stores;
mod texts;
mod together;
mod vectors;

use crate::Scenario;

pub(crate) use openers::Openers;
pub use stores::Stores;

/// Returns the scenarios of isolation, one for each kind of store and those of all stores together.
pub fn table() -> Vec<Scenario<Stores>> {
    [
        alone::MESSAGES,
        alone::RECORDS,
        alone::TEXTS,
        alone::VECTORS,
        alone::CACHES,
        alone::BOARDS,
        alone::JOURNALS,
        together::TABLE,
    ]
    .concat()
}

/// Returns the scenarios for the stores that are given.
pub(crate) fn table_of(given: &Openers) -> Vec<Scenario<Stores>> {
    let Openers { chat, records, text, vectors, cache, blackboard, journal, before: _ } = given;
    let groups = [
        (chat.is_some(), alone::MESSAGES),
        (records.is_some(), alone::RECORDS),
        (text.is_some(), alone::TEXTS),
        (vectors.is_some(), alone::VECTORS),
        (cache.is_some(), alone::CACHES),
        (blackboard.is_some(), alone::BOARDS),
        (journal.is_some(), alone::JOURNALS),
    ];
    let given: Vec<_> = groups.into_iter().filter(|(is_given, _)| *is_given).map(|(_, table)| table).collect();
    let together = if given.is_empty() { &[] } else { together::TABLE };
    [given.concat().as_slice(), together].concat()
}
