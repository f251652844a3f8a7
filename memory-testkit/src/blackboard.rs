//! What blackboards promise.

mod entries;
mod eviction;
mod expiry;
mod figures;
mod hostile;
mod owners;
mod search;

use memory_core::Epoch;

use crate::{Boards, Scenario, closing};

/// The epoch of an owner that was never erased.
const EPOCH: Epoch = Epoch(0);

/// Returns the scenarios of blackboards.
pub fn table() -> Vec<Scenario<Boards>> {
    [
        entries::TABLE,
        search::TABLE,
        expiry::TABLE,
        eviction::TABLE,
        figures::TABLE,
        owners::TABLE,
        hostile::TABLE,
        closing::BOARDS,
    ]
    .concat()
}
