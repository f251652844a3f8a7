//! Why there is no server.

use std::fmt;

use crate::check::Failure;

/// Why there is no server, one clause without secrets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Missing {
    /// The machine has no engine or no image: tests are ignored, unless `MEMORY_REQUIRE` names the backend.
    Absent(String),
    /// There should be one, but it does not work: tests fail.
    Broken(String),
}

impl fmt::Display for Missing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Absent(why) => write!(f, "no server: {why}"),
            Self::Broken(why) => write!(f, "the server does not work: {why}"),
        }
    }
}

impl std::error::Error for Missing {}

impl From<Missing> for Failure {
    #[track_caller]
    fn from(missing: Missing) -> Self {
        Self::new(missing.to_string())
    }
}
