//! What text stores promise.

mod build;
mod delete;
mod erase;
mod evidence;
mod hostile;
mod lasting;
mod model;
mod order;
mod owners;
mod put;
mod search;

pub(crate) use build::{message, plain_fields, record, revision, span, terms};
pub(crate) use model::falls;

use crate::{Scenario, Texts};

/// Returns the scenarios of text stores.
pub fn table() -> Vec<Scenario<Texts>> {
    [
        put::TABLE,
        evidence::TABLE,
        order::TABLE,
        search::TABLE,
        delete::TABLE,
        erase::TABLE,
        owners::TABLE,
        hostile::TABLE,
        lasting::TABLE,
        lasting::DURABLE,
    ]
    .concat()
}
