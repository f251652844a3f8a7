//! Plans for writes of records.

mod put;
mod restore;
mod row;
#[cfg(test)]
mod tests;

pub use put::{Batch, Planned};
pub use restore::Restoration;
pub use row::{KnownRecord, Row, Stored};

use crate::error::{Error, Result};
use crate::scope::Epoch;

pub(crate) use put::check;

/// Returns `Ok` if the epoch that a caller saw is the owner's present one, or if the caller saw none.
///
/// # Errors
/// `Fenced`.
pub fn check_epoch(seen: Option<Epoch>, now: i64) -> Result<()> {
    let is_present = seen.is_none_or(|seen| i64::try_from(seen.0) == Ok(now));
    if is_present { Ok(()) } else { Err(Error::Fenced) }
}
