//! From what the server or the way to it says to errors named by remedy.

#[cfg(test)]
mod tests;

use std::error::Error as StdError;
use std::fmt;
use std::time::Duration;

use memory_core::error::{Cause, Error, Result, Transience};
use serde_json::Value;

/// The backend's name in errors and receipts.
pub(crate) const BACKEND: &str = "elastic";

/// What went wrong, in no words of the server's: those may quote what was stored, and those of the client quote
/// addresses with the names of indexes and owners.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Fault {
    /// The server answered with an error.
    Answer {
        /// The HTTP status.
        status: u16,
        /// The name of the error, such as `circuit_breaking_exception`; empty if there is none.
        kind: String,
        /// How long the server asks to wait.
        after: Option<Duration>,
    },
    /// No answer in time.
    TimedOut,
    /// No connection.
    Refused,
    /// The answer broke off, or is none: whether the request was carried out is unknown.
    Cut,
    /// The answer is longer than what is read of one.
    TooLong,
    /// The request could not be made.
    Unsent,
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Answer { status, kind, .. } if kind.is_empty() => write!(f, "the server answered {status}"),
            Self::Answer { status, kind, .. } => write!(f, "the server answered {status}, {kind}"),
            Self::TimedOut => f.write_str("no answer in time"),
            Self::Refused => f.write_str("no connection to the server"),
            Self::Cut => f.write_str("the answer broke off"),
            Self::TooLong => f.write_str("the answer is too long"),
            Self::Unsent => f.write_str("the request could not be made"),
        }
    }
}

impl StdError for Fault {}

impl Fault {
    /// Returns the fault that the driver met, without its words.
    pub(crate) fn of_driver(source: &elasticsearch::Error) -> Self {
        let http = StdError::source(source).and_then(|source| source.downcast_ref::<reqwest::Error>());
        http.map_or(Self::Unsent, Self::of_http)
    }

    /// Returns the fault that the HTTP client met, without its words.
    pub(crate) fn of_http(source: &reqwest::Error) -> Self {
        if source.is_timeout() {
            return Self::TimedOut;
        }
        if source.is_connect() {
            return Self::Refused;
        }
        if source.is_builder() || source.is_redirect() { Self::Unsent } else { Self::Cut }
    }

    /// Returns the fault that a reply with an error status tells.
    pub(crate) fn of_reply(status: u16, body: Option<&Value>, after: Option<Duration>) -> Self {
        let kind = body.and_then(|body| body.get("error")).map(kind_of).unwrap_or_default();
        Self::Answer { status, kind, after }
    }
}

/// Returns the name of an error in an answer; none for an error that is a plain text.
pub(crate) fn kind_of(error: &Value) -> String {
    let kind = error.get("type").and_then(Value::as_str).unwrap_or_default();
    let is_name = kind.len() <= 64 && kind.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_');
    if is_name { kind.to_owned() } else { String::new() }
}

/// Returns the error for a fault met while `doing` something.
pub(crate) fn classify(fault: Fault, doing: &'static str) -> Error {
    let transience = match &fault {
        Fault::TimedOut => Transience::Late,
        Fault::Refused | Fault::Cut => TRANSIENT,
        Fault::Unsent | Fault::TooLong => Transience::Permanent,
        Fault::Answer { status, kind, after } => match (status, kind.as_str()) {
            (404, "index_not_found_exception" | "alias_not_found_exception") => return Error::corrupt(BACKEND, fault),
            (413, _) => return Error::invalid("more at once than the server accepts"),
            (403, "cluster_block_exception") | (408 | 409, _) => TRANSIENT,
            (429 | 500..=599, _) => Transience::Transient { after: *after },
            _ => Transience::Permanent,
        },
    };
    Error::Backend { backend: BACKEND, doing, transience, source: Cause::new(fault) }
}

const TRANSIENT: Transience = Transience::Transient { after: None };

/// Names what was being done when something failed.
pub(crate) trait Doing<T> {
    /// Returns the value, or the fault as one met while `doing` something.
    fn doing(self, doing: &'static str) -> Result<T>;
}

impl<T> Doing<T> for std::result::Result<T, Fault> {
    fn doing(self, doing: &'static str) -> Result<T> {
        self.map_err(|fault| classify(fault, doing))
    }
}

/// Returns the error for an answer that lacks what it must have.
pub(crate) fn garbled(doing: &'static str) -> Error {
    classify(Fault::Cut, doing)
}

/// Returns the error for a task that stopped before its end.
pub(crate) fn stopped(doing: &'static str) -> Error {
    classify(Fault::Unsent, doing)
}
