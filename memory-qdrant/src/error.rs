//! From driver errors to errors named by remedy.

use std::error::Error as _;
use std::time::Duration;

use ::qdrant_client::QdrantError as Driver;
use memory_core::error::{Cause, Error, Transience};
use tonic::{Code, Status};

/// The backend's name in errors and receipts.
pub(crate) const BACKEND: &str = "qdrant";

const TRANSIENT: Transience = Transience::Transient { after: None };

/// Returns the error for a driver's error met while `doing` something.
///
/// The server's own words are left out: they may quote what a caller wrote. The code says what to do.
pub(crate) fn classify(source: &Driver, doing: &'static str) -> Error {
    match source {
        Driver::ResponseError { status } => of_status(status, None, doing),
        Driver::ResourceExhaustedError { status, retry_after_seconds } => {
            of_status(status, Some(Duration::from_secs(*retry_after_seconds)), doing)
        }
        Driver::InvalidUri(_) => Error::invalid("the URL of the server is none"),
        Driver::Io(_) => failed("the connection failed", doing, TRANSIENT),
        _ => failed("the client could not read or write a message", doing, Transience::Permanent),
    }
}

/// Returns whether the error says that a thing of that name is there already.
pub(crate) fn is_there_already(source: &Driver) -> bool {
    matches!(source, Driver::ResponseError { status } if status.code() == Code::AlreadyExists)
}

/// Returns whether the error says that there is no such thing.
pub(crate) fn is_missing(source: &Driver) -> bool {
    matches!(source, Driver::ResponseError { status } if status.code() == Code::NotFound)
}

/// Returns whether the server closed the connection because many calls over it were given up. It says so to the client of the
/// connection, not in an answer.
pub(crate) fn is_cut_for_others(source: &Driver) -> bool {
    let Driver::ResponseError { status } = source else { return false };
    status.code() == Code::ResourceExhausted && status.source().is_some()
}

/// Returns the error for a call that took too long.
pub(crate) fn timed_out(doing: &'static str) -> Error {
    failed("the time was up", doing, Transience::Late)
}

/// Returns the error for a write that the server took without doing it.
pub(crate) fn not_done(doing: &'static str) -> Error {
    failed("the server answered before the write was done", doing, TRANSIENT)
}

/// Returns the error for an answer that lacks what it must hold.
pub(crate) fn incomplete(doing: &'static str) -> Error {
    failed("the answer is incomplete", doing, TRANSIENT)
}

/// Returns the error for a task that ended without an answer.
pub(crate) fn lost(doing: &'static str) -> Error {
    failed("the task ended without an answer", doing, TRANSIENT)
}

/// Returns [`Error::Unsupported`] with `what`.
pub(crate) fn unsupported(what: impl Into<String>) -> Error {
    Error::Unsupported { backend: BACKEND, what: what.into() }
}

fn failed(source: &'static str, doing: &'static str, transience: Transience) -> Error {
    Error::Backend { backend: BACKEND, doing, transience, source: Cause::new(source) }
}

fn of_status(status: &Status, after: Option<Duration>, doing: &'static str) -> Error {
    let permanent = Transience::Permanent;
    match status.code() {
        // The client says it this way when nobody listens.
        Code::Internal if status.message().starts_with("Failed to connect") => {
            failed("the server cannot be reached", doing, TRANSIENT)
        }
        Code::Unavailable => failed("the server is not available", doing, TRANSIENT),
        Code::DeadlineExceeded => failed("the time was up", doing, Transience::Late),
        Code::Cancelled => failed("the call was cut off", doing, TRANSIENT),
        Code::Aborted => failed("the server gave the call up", doing, TRANSIENT),
        Code::Internal => failed("the server failed", doing, TRANSIENT),
        Code::Unknown => failed("the connection was cut", doing, TRANSIENT),
        Code::ResourceExhausted => failed("the server has too much to do", doing, Transience::Transient { after }),
        Code::Unauthenticated => failed("the server asks for another key", doing, permanent),
        Code::PermissionDenied => failed("the key does not allow it", doing, permanent),
        Code::NotFound => failed("there is no such collection", doing, permanent),
        Code::InvalidArgument => failed("the server refused the request", doing, permanent),
        Code::DataLoss => Error::corrupt(BACKEND, "the server lost data"),
        Code::Unimplemented => unsupported(doing),
        _ => failed("the server answered with an unexpected code", doing, permanent),
    }
}

#[cfg(test)]
pub(crate) mod tests;
