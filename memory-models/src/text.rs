//! Which texts an embedder takes.

use memory_core::{Error, Result};

/// The largest text: as much as a query may hold. Longer ones belong into pieces.
pub(crate) const TEXT_BYTES: usize = 64 << 10;

/// Returns `Ok` for texts that can be embedded.
///
/// # Errors
/// `Invalid` for a blank text, and for one that is too large.
pub(crate) fn check(texts: &[&str]) -> Result<()> {
    for text in texts {
        if text.trim().is_empty() {
            return Err(Error::invalid("a blank text has no meaning to embed"));
        }
        if text.len() > TEXT_BYTES {
            return Err(Error::invalid(format!(
                "a text to embed holds at most {TEXT_BYTES} bytes: embed it in pieces"
            )));
        }
    }
    Ok(())
}
