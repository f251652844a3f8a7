//! What caches promise.

use crate::{Caches, Scenario};

/// Returns the scenarios of caches.
pub fn table() -> Vec<Scenario<Caches>> {
    Vec::new()
}
