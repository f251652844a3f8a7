//! Whether the server of a suite was found.

/// Whether the server that a suite needs was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Presence {
    /// The server was found.
    Found,
    /// The server was not found: the scenarios are ignored, or fail if the server is required.
    Absent {
        /// Why, one clause without secrets.
        reason: String,
        /// Whether the server is required.
        required: bool,
    },
}
