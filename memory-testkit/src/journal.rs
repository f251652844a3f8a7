//! What journals promise.

use crate::{Journals, Scenario};

/// Returns the scenarios of journals.
pub fn table() -> Vec<Scenario<Journals>> {
    Vec::new()
}
