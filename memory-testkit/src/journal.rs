//! What journals promise.

mod bound;
mod build;
mod erase;
mod hostile;
mod lasting;
mod owners;
mod queue;
mod rejected;

pub(crate) use build::EVER;

use crate::{Journals, Scenario};

/// Returns the scenarios of journals.
pub fn table() -> Vec<Scenario<Journals>> {
    [
        queue::TABLE,
        bound::TABLE,
        rejected::TABLE,
        owners::TABLE,
        erase::TABLE,
        hostile::TABLE,
        lasting::TABLE,
        lasting::DURABLE,
    ]
    .concat()
}
