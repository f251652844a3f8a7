//! What blackboards promise.

mod entries;
mod eviction;
mod expiry;
mod figures;
mod hostile;
mod owners;
mod search;

use crate::{Boards, Scenario, closing};

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
