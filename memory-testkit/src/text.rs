//! What text stores promise.

use crate::{Scenario, Texts};

/// Returns the scenarios of text stores.
pub fn table() -> Vec<Scenario<Texts>> {
    Vec::new()
}
