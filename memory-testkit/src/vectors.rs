//! What vector stores promise.

pub(crate) mod build;
mod clear;
mod delete;
mod erase;
mod hostile;
mod incarnation;
mod lasting;
pub(crate) mod model;
mod nearest;
mod owners;
mod put;
mod rejected;
mod search;

use crate::{Scenario, Vectors, closing, erasers, filters, scanning, set_aside};

/// Returns the scenarios of vector stores.
pub fn table() -> Vec<Scenario<Vectors>> {
    [
        put::TABLE,
        nearest::TABLE,
        search::TABLE,
        rejected::TABLE,
        delete::TABLE,
        clear::TABLE,
        erase::TABLE,
        erasers::VECTORS,
        owners::TABLE,
        hostile::TABLE,
        incarnation::TABLE,
        incarnation::DURABLE,
        lasting::TABLE,
        lasting::DURABLE,
        filters::VECTORS,
        closing::VECTORS,
        scanning::VECTORS,
        set_aside::VECTORS,
    ]
    .concat()
}
