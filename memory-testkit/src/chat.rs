//! What conversation stores promise.

use crate::{Chat, Scenario};

/// Returns the scenarios of conversation stores and their upkeep.
pub fn table() -> Vec<Scenario<Chat>> {
    Vec::new()
}
