//! How large the numbers may be that a caller, a file or a store hands in.

use crate::error::{Error, Result};

/// The largest version, count or epoch that is accepted: 2^53 − 1.
///
/// JSON and every backend keep whole numbers exactly up to there, and each of them can count on from it.
pub const LARGEST: u64 = (1 << 53) - 1;

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
