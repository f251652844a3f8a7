//! Classifying driver errors by what the caller can do.

use memory_core::error::{Cause, Error, Result, Transience};
use sqlx::Error as Driver;

/// The backend's name in errors and receipts.
pub(crate) const BACKEND: &str = "sqlite";

/// Returns the error for a driver's error while `doing` something.
pub(crate) fn classify(source: Driver, doing: &'static str) -> Error {
    match &source {
        Driver::Database(database) => {
            let code = database.code().and_then(|code| code.parse::<i32>().ok());
            // The low byte is the primary result code; the rest only refines it.
            of_code(code.unwrap_or_default() & PRIMARY, source, doing)
        }
        Driver::Io(_)
        | Driver::WorkerCrashed
        | Driver::PoolTimedOut
        | Driver::BeginFailed
        | Driver::InvalidSavePointStatement => failed(source, doing, TRANSIENT),
        Driver::ColumnDecode { .. } | Driver::Decode(_) => Error::corrupt(BACKEND, source),
        _ => failed(source, doing, Transience::Permanent),
    }
}

/// Names what was being done when the driver failed.
pub(crate) trait Doing<T> {
    /// Returns the value, or the classified error of the driver while `doing` something.
    fn doing(self, doing: &'static str) -> Result<T>;
}

impl<T> Doing<T> for std::result::Result<T, Driver> {
    fn doing(self, doing: &'static str) -> Result<T> {
        self.map_err(|source| classify(source, doing))
    }
}

const TRANSIENT: Transience = Transience::Transient { after: None };

fn failed(source: Driver, doing: &'static str, transience: Transience) -> Error {
    Error::Backend { backend: BACKEND, doing, transience, source: Cause::new(source) }
}

fn of_code(primary: i32, source: Driver, doing: &'static str) -> Error {
    match primary {
        BUSY | LOCKED | NO_MEMORY | INTERRUPTED | IO_ERROR | FULL | CANNOT_OPEN | PROTOCOL => {
            failed(source, doing, TRANSIENT)
        }
        CORRUPT | NOT_A_DATABASE => Error::corrupt(BACKEND, source),
        READ_ONLY => Error::ReadOnly { backend: BACKEND },
        _ => failed(source, doing, Transience::Permanent),
    }
}

/// Returns whether the error says that another connection holds the lock.
pub(crate) fn is_busy(source: &Driver) -> bool {
    primary(source) == Some(BUSY)
}

/// Returns whether the error says that a file cannot be opened or written.
pub(crate) fn is_refused(source: &Driver) -> bool {
    matches!(primary(source), Some(READ_ONLY | CANNOT_OPEN))
}

/// Returns whether the error says that the disk is full.
pub(crate) fn is_full(source: &Driver) -> bool {
    primary(source) == Some(FULL)
}

fn primary(source: &Driver) -> Option<i32> {
    let Driver::Database(database) = source else { return None };
    Some(database.code()?.parse::<i32>().ok()? & PRIMARY)
}

/// Returns the error for a task that ended without an answer.
pub(crate) fn lost(doing: &'static str) -> Error {
    let source = Cause::new("the task ended without an answer");
    Error::Backend { backend: BACKEND, doing, transience: TRANSIENT, source }
}

/// Returns the error for a work that was rolled back by a fault of another work in its transaction.
pub(crate) fn undone(doing: &'static str) -> Error {
    let source = Cause::new("the shared transaction was undone");
    Error::Backend { backend: BACKEND, doing, transience: TRANSIENT, source }
}

/// Masks the primary result code.
const PRIMARY: i32 = 0xff;

// Primary result codes: https://www.sqlite.org/rescode.html
const BUSY: i32 = 5;
const LOCKED: i32 = 6;
const NO_MEMORY: i32 = 7;
const READ_ONLY: i32 = 8;
const INTERRUPTED: i32 = 9;
const IO_ERROR: i32 = 10;
const CORRUPT: i32 = 11;
const FULL: i32 = 13;
const CANNOT_OPEN: i32 = 14;
const PROTOCOL: i32 = 15;
const NOT_A_DATABASE: i32 = 26;

#[cfg(test)]
mod tests;
