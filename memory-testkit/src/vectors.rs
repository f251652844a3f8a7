//! What vector stores promise.

use crate::{Scenario, Vectors};

/// Returns the scenarios of vector stores.
pub fn table() -> Vec<Scenario<Vectors>> {
    Vec::new()
}
