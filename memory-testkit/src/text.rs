//! What text stores promise.

pub(crate) mod build;
mod clear;
mod delete;
mod erase;
mod evidence;
mod fixture;
mod hostile;
mod incarnation;
mod languages;
mod lasting;
pub(crate) mod model;
mod order;
mod owners;
mod put;
mod search;

use crate::{Scenario, Texts, closing, erasers, filters, scanning, set_aside};

/// Returns the scenarios of text stores.
pub fn table() -> Vec<Scenario<Texts>> {
    [
        put::TABLE,
        evidence::TABLE,
        order::TABLE,
        search::TABLE,
        delete::TABLE,
        clear::TABLE,
        erase::TABLE,
        erasers::TEXT,
        owners::TABLE,
        hostile::TABLE,
        incarnation::TABLE,
        incarnation::DURABLE,
        lasting::TABLE,
        lasting::DURABLE,
        fixture::TABLE,
        languages::TABLE,
        filters::TEXT,
        closing::TEXT,
        scanning::TEXT,
        set_aside::TEXT,
    ]
    .concat()
}
