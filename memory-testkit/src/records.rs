//! What record stores promise.

use crate::{Records, Scenario, upkeep};

/// Returns the scenarios of record stores and their upkeep.
pub fn table() -> Vec<Scenario<Records>> {
    upkeep::of_records()
}
