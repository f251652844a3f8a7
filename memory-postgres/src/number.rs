//! Core's numbers as PostgreSQL's, which are signed, and back.

use memory_core::error::{Error, Result};

use crate::error::BACKEND;

/// Returns the number as PostgreSQL keeps it.
///
/// # Errors
/// `Invalid` above the largest signed number.
pub(crate) fn stored(number: u64) -> Result<i64> {
    i64::try_from(number).map_err(|_| Error::invalid("a number is too large to be stored"))
}

/// Returns a number that was stored.
///
/// # Errors
/// `Corrupt` for a negative one.
pub(crate) fn loaded(number: i64) -> Result<u64> {
    u64::try_from(number).map_err(|_| Error::corrupt(BACKEND, "a count is negative"))
}

/// Returns how many rows a statement may return for a limit of a call.
pub(crate) fn limit(limit: usize) -> i64 {
    i64::try_from(limit).unwrap_or(i64::MAX)
}

/// Returns a number to compare with; the largest stands for all above it, which no row has.
pub(crate) fn bound(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}
