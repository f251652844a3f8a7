//! What record stores promise.

mod content;
mod delete;
mod erase;
mod fences;
mod leads;
mod newest;
mod notes;
mod put;
mod repeats;
mod restart;
mod restore;
mod scan;
mod shelf;
mod storm;
mod sweep;
mod tellings;
mod together;
mod touch;

pub(crate) use shelf::{Shelf, fact};

use crate::{Records, Scenario, closing, erasers, filters, upkeep};

/// Returns the scenarios of record stores and their upkeep.
pub fn table() -> Vec<Scenario<Records>> {
    [
        closing::RECORDS,
        content::TABLE,
        delete::TABLE,
        erase::TABLE,
        erasers::RECORDS,
        fences::TABLE,
        leads::TABLE,
        filters::RECORDS,
        notes::TABLE,
        put::TABLE,
        repeats::TABLE,
        restart::BESIDE,
        restart::TABLE,
        restore::TABLE,
        newest::TABLE,
        scan::TABLE,
        storm::TABLE,
        sweep::TABLE,
        tellings::TABLE,
        together::TABLE,
        touch::TABLE,
        &upkeep::of_records(),
    ]
    .concat()
}
