//! What blackboards promise.

use crate::{Boards, Scenario};

/// Returns the scenarios of blackboards.
pub fn table() -> Vec<Scenario<Boards>> {
    Vec::new()
}
