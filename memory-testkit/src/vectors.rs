//! What vector stores promise.

mod build;
mod delete;
mod erase;
mod hostile;
mod lasting;
mod model;
mod nearest;
mod owners;
mod put;
mod rejected;
mod search;

use crate::{Scenario, Vectors};

/// Returns the scenarios of vector stores.
pub fn table() -> Vec<Scenario<Vectors>> {
    [
        put::TABLE,
        nearest::TABLE,
        search::TABLE,
        rejected::TABLE,
        delete::TABLE,
        erase::TABLE,
        owners::TABLE,
        hostile::TABLE,
        lasting::TABLE,
        lasting::DURABLE,
    ]
    .concat()
}
