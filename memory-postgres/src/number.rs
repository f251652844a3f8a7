//! Converting core's numbers to PostgreSQL's, which are signed, and back.

use memory_core::error::Result;

use crate::error::BACKEND;

pub(crate) use memory_core::number::stored;

/// Returns a number that was stored.
///
/// # Errors
/// `Corrupt` for a negative one.
pub(crate) fn loaded(number: i64) -> Result<u64> {
    memory_core::number::loaded(BACKEND, number)
}

/// Returns the LIMIT of a statement for the limit of a call.
pub(crate) fn limit(limit: usize) -> i64 {
    i64::try_from(limit).unwrap_or(i64::MAX)
}

/// Returns a number to compare with. Larger ones, which no row has, become the largest.
pub(crate) fn bound(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}
