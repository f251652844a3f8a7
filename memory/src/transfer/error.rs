//! Why an export failed.

use std::{fmt, io};

use memory_core::SessionId;

/// Why an export failed.
#[derive(Debug)]
#[non_exhaustive]
pub enum Error {
    /// The memory failed.
    Memory(memory_core::Error),
    /// The lines cannot be written, or cannot be kept in a temporary file until a session has been read.
    Output(io::Error),
    /// The session was changed each time that it was read: a later export may succeed.
    Busy(SessionId),
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Memory(error) => error.fmt(f),
            Self::Output(_) => f.write_str("the export cannot be written"),
            Self::Busy(session) => write!(f, "{} is written to while it is exported", session.name()),
        }
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Memory(error) => error.source(),
            Self::Output(error) => Some(error),
            Self::Busy(_) => None,
        }
    }
}

impl From<memory_core::Error> for Error {
    fn from(error: memory_core::Error) -> Self {
        Self::Memory(error)
    }
}

impl From<io::Error> for Error {
    fn from(error: io::Error) -> Self {
        Self::Output(error)
    }
}
