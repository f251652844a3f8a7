//! What record stores promise.

use crate::{Records, Scenario};

/// Returns the scenarios of record stores and their upkeep.
pub fn table() -> Vec<Scenario<Records>> {
    Vec::new()
}
