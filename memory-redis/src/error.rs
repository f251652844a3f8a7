//! From driver errors to errors named by remedy.

use std::error::Error as StdError;
use std::io;
use std::sync::Arc;

use memory_core::error::{Cause, Error, Result, Transience};
use redis::{ErrorKind, RedisError, ServerErrorKind};

/// The backend's name in errors and receipts.
pub(crate) const BACKEND: &str = "redis";

pub(crate) const TRANSIENT: Transience = Transience::Transient { after: None };

/// Returns the error for a driver's error met while `doing` something.
pub(crate) fn classify(source: RedisError, doing: &'static str) -> Error {
    match source.kind() {
        ErrorKind::InvalidClientConfig => Error::invalid("the URL or the options of a Redis connection are wrong"),
        ErrorKind::AuthenticationFailed | ErrorKind::UnexpectedReturnType | ErrorKind::RESP3NotSupported => {
            failed(source, doing, Transience::Permanent)
        }
        ErrorKind::Server(_) | ErrorKind::Extension => of_code(source, doing),
        ErrorKind::Io if source.is_timeout() => failed(source, doing, Transience::Late),
        ErrorKind::Io if is_refused_for_good(&source) => failed(source, doing, Transience::Permanent),
        // The connection broke, or the answer did: what was asked may have been done.
        _ => failed(source, doing, TRANSIENT),
    }
}

fn of_code(source: RedisError, doing: &'static str) -> Error {
    // Before version 7 an error inside a script was wrapped in another one.
    let detail = source.detail().unwrap_or_default();
    let inner = WAIT.into_iter().find(|code| detail.contains(&format!("-{code} ")));
    let code = inner.or(source.code()).unwrap_or_default();
    if detail.contains("max number of clients") {
        return Error::Overloaded;
    }
    if code == "WRONGTYPE" {
        return Error::corrupt(BACKEND, source);
    }
    let transience = if WAIT.contains(&code) { TRANSIENT } else { Transience::Permanent };
    failed(source, doing, transience)
}

/// Returns the answer for one owner of many, or `instead` if he is damaged: his own calls say so, and he holds up no other.
pub(crate) fn pass_over<T>(answer: Result<T>, instead: T) -> Result<T> {
    match answer {
        Err(error @ Error::Corrupt { .. }) => {
            tracing::warn!(%error, "an owner is passed over");
            Ok(instead)
        }
        answer => answer,
    }
}

/// What the server answers as long as it cannot, or another one has to be asked.
const WAIT: [&str; 13] = [
    "OOM",
    "MISCONF",
    "READONLY",
    "LOADING",
    "BUSY",
    "MOVED",
    "ASK",
    "TRYAGAIN",
    "CLUSTERDOWN",
    "MASTERDOWN",
    "NOSCRIPT",
    "NOREPLICAS",
    "UNBLOCKED",
];

/// A certificate that is not trusted will not be so by waiting.
fn is_refused_for_good(source: &RedisError) -> bool {
    let mut cause = StdError::source(source);
    while let Some(error) = cause {
        // The driver keeps its sources in an `Arc`, which is an error itself.
        let inner = error.downcast_ref::<Arc<dyn StdError + Send + Sync>>().and_then(|inner| inner.downcast_ref());
        let kind = inner.or(error.downcast_ref()).map(io::Error::kind);
        if matches!(
            kind,
            Some(io::ErrorKind::InvalidData | io::ErrorKind::PermissionDenied | io::ErrorKind::Unsupported)
        ) {
            return true;
        }
        cause = error.source();
    }
    false
}

fn failed(source: RedisError, doing: &'static str, transience: Transience) -> Error {
    Error::Backend { backend: BACKEND, doing, transience, source: Cause::new(source) }
}

/// Returns whether the server takes no writes: it was the first of its kind once, and another one is now.
pub(crate) fn is_read_only(source: &RedisError) -> bool {
    source.kind() == ErrorKind::Server(ServerErrorKind::ReadOnly)
        || source.detail().is_some_and(|detail| detail.contains("-READONLY "))
}

/// Returns whether the next command may go over another connection, to another server.
pub(crate) fn is_cut(source: &RedisError) -> bool {
    source.is_io_error() || source.is_connection_dropped() || source.is_timeout() || is_read_only(source)
}

/// Returns whether the server answered, if only that it refuses.
pub(crate) fn is_answer(source: &RedisError) -> bool {
    matches!(source.kind(), ErrorKind::Server(_) | ErrorKind::Extension)
}

/// Returns the error of a call that asked the server nothing: if its time was up, it is not late, for no connection stood.
pub(crate) fn unasked(source: RedisError) -> RedisError {
    if source.is_timeout() { (ErrorKind::Io, "no connection stood in time").into() } else { source }
}

/// Returns whether the server does not know the script yet.
pub(crate) fn is_unknown_script(source: &RedisError) -> bool {
    source.kind() == ErrorKind::Server(ServerErrorKind::NoScript)
}

/// Returns the error for a task that ended without an answer.
pub(crate) fn lost(doing: &'static str) -> Error {
    let source = Cause::new("the task ended without an answer");
    Error::Backend { backend: BACKEND, doing, transience: TRANSIENT, source }
}

/// Returns the error for an owner whose lists others change all the time.
pub(crate) fn contended(doing: &'static str) -> Error {
    let source = Cause::new("others changed the owner's lists all the while");
    Error::Backend { backend: BACKEND, doing, transience: TRANSIENT, source }
}

/// Returns the error for data or an answer that this crate does not write.
pub(crate) fn damaged(what: &'static str) -> Error {
    Error::corrupt(BACKEND, what)
}

#[cfg(test)]
mod tests;
