//! What keeps a change of the journal from being written.

use memory_core::error::Error;

use crate::error::{classify, is_full};

/// What is done then, in words for errors.
const KEEP: &str = "keep the journal";

/// Why a change could not be written.
#[derive(Debug)]
pub(super) enum Fault {
    /// The disk is full; nothing is broken.
    Full,
    /// What reached the disk is not known.
    Broken(Error),
}

impl From<sqlx::Error> for Fault {
    fn from(source: sqlx::Error) -> Self {
        if is_full(&source) { Self::Full } else { Self::Broken(classify(source, KEEP)) }
    }
}

impl Fault {
    /// Returns the error for those whose changes it kept from being written.
    pub(super) fn error(&self) -> Error {
        match self {
            Self::Full => Error::QueueFull,
            Self::Broken(error) => error.clone(),
        }
    }
}
