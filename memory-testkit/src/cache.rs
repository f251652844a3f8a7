//! What caches promise.

mod epochs;
mod expiry;
mod hostile;
mod lists;
mod owners;
mod values;

use std::time::Duration;

use crate::{Caches, Scenario, closing};

/// Long enough for any scenario that does not wait.
const HOUR: Duration = Duration::from_secs(3_600);

/// Returns the scenarios of caches.
pub fn table() -> Vec<Scenario<Caches>> {
    [values::TABLE, lists::TABLE, expiry::TABLE, epochs::TABLE, owners::TABLE, hostile::TABLE, closing::CACHE].concat()
}
