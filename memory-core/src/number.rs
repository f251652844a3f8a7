//! How large the numbers may be that a caller, a file or a store hands in.

use crate::error::{Error, Result};

/// The largest version, count or epoch that is accepted: 2^53 − 1.
///
/// JSON and every backend keep whole numbers exactly up to there, and each of them can count on from it.
pub const LARGEST: u64 = (1 << 53) - 1;

/// Returns the number as databases keep it, which are signed.
///
/// # Errors
/// [`Error::Invalid`] above the largest signed number.
pub fn stored(number: u64) -> Result<i64> {
    i64::try_from(number).map_err(|_| Error::invalid("a number is too large to be stored"))
}

/// Returns a number that was stored; `backend` is named in errors.
///
/// # Errors
/// [`Error::Corrupt`] for a negative one.
pub fn loaded(backend: &'static str, number: i64) -> Result<u64> {
    u64::try_from(number).map_err(|_| Error::corrupt(backend, "a count is negative"))
}

/// Returns `Ok` if `number` is at most [`LARGEST`]; `what` names it in the error.
///
/// # Errors
/// [`Error::Invalid`] if it is larger.
pub(crate) fn check(what: &str, number: u64) -> Result<()> {
    if number > LARGEST {
        return Err(Error::invalid(format!("{what} must be at most {LARGEST}, not {number}")));
    }
    Ok(())
}
