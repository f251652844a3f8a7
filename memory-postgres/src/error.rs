//! Classifying driver errors by what the caller can do.
//!
//! A server's error may quote stored data. Errors that leave this file carry only its SQLSTATE and the name of the constraint.

use std::fmt;

use memory_core::error::{Cause, Error, Transience};
use sqlx::Error as Driver;

/// The backend's name in errors and receipts.
pub(crate) const BACKEND: &str = "postgres";

/// The constraint by which an owner has an id once.
const IDS: &str = "message_pkey";

const TRANSIENT: Transience = Transience::Transient { after: None };

/// What a failure means for its connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Aftermath {
    /// The connection is good; the transaction is rolled back.
    Undo,
    /// The connection is good, and a retry may succeed at once: the work conflicted with others.
    Repeat,
    /// The connection must not be used again.
    Close,
}

/// An error of a work, and what it means for the connection.
#[derive(Debug)]
pub(crate) struct Failure {
    pub(crate) error: Error,
    pub(crate) aftermath: Aftermath,
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Self { error, aftermath: Aftermath::Undo }
    }
}

/// The result of a work on a connection.
pub(crate) type Attempt<T> = Result<T, Failure>;

/// Names what was being done when the driver failed.
pub(crate) trait Doing<T> {
    /// Returns the value, or the classified error of the driver while `doing` something.
    fn doing(self, doing: &'static str) -> Attempt<T>;
}

impl<T> Doing<T> for Result<T, Driver> {
    fn doing(self, doing: &'static str) -> Attempt<T> {
        self.map_err(|source| classify(&source, doing))
    }
}

/// The parts of a driver's error that may be shown.
#[derive(Debug, PartialEq, Eq)]
struct Fault {
    what: String,
    constraint: Option<String>,
}

impl Fault {
    fn plain(what: impl Into<String>) -> Self {
        Self { what: what.into(), constraint: None }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.what)?;
        self.constraint.iter().try_for_each(|constraint| write!(f, ", constraint {constraint}"))
    }
}

impl std::error::Error for Fault {}

/// Returns the failure for a driver's error while `doing` something.
pub(crate) fn classify(source: &Driver, doing: &'static str) -> Failure {
    let lasting = |what: &str| failed(Fault::plain(what), doing, Transience::Permanent, Aftermath::Close);
    let passing = |what: &str| failed(Fault::plain(what), doing, TRANSIENT, Aftermath::Close);
    match source {
        Driver::Database(database) => {
            let code = database.code().unwrap_or_default();
            let constraint = database.constraint().map(str::to_owned);
            of_code(&code, Fault { what: format!("SQLSTATE {code}{}", in_words(&code)), constraint }, doing)
        }
        Driver::Io(source) => passing(&source.kind().to_string()),
        Driver::PoolTimedOut => passing("no connection became free in time"),
        Driver::PoolClosed => passing("the connections are closed"),
        Driver::WorkerCrashed | Driver::BeginFailed => passing("the connection is lost"),
        Driver::Protocol(_) => passing("the server's answer was not understood"),
        Driver::Tls(_) => lasting("no encrypted connection could be made"),
        Driver::Configuration(_) => lasting("the settings of the connection are wrong"),
        Driver::ColumnDecode { .. } | Driver::Decode(_) => {
            let error = Error::corrupt(BACKEND, "a column does not hold what it should");
            Failure { error, aftermath: Aftermath::Close }
        }
        _ => lasting("the driver failed"),
    }
}

/// Returns advice for common faults of a new database. The server's own message is not shown: it may contain stored data.
fn in_words(code: &str) -> &'static str {
    match code {
        "28000" | "28P01" => ", the login is refused",
        "3D000" => ", there is no such database",
        "42501" => ", the role lacks the right",
        _ => "",
    }
}

fn failed(fault: Fault, doing: &'static str, transience: Transience, aftermath: Aftermath) -> Failure {
    let error = Error::Backend { backend: BACKEND, doing, transience, source: Cause::new(fault) };
    Failure { error, aftermath }
}

/// Decides by the code: <https://www.postgresql.org/docs/current/errcodes-appendix.html>.
fn of_code(code: &str, fault: Fault, doing: &'static str) -> Failure {
    let (transience, aftermath) = match (code, code.get(..2).unwrap_or_default()) {
        // Serialisation and deadlock.
        ("40001" | "40P01", _) => (TRANSIENT, Aftermath::Repeat),
        // Another session took an id between the look and the insert. The repeat sees it there, and says so.
        ("23505", _) if fault.constraint.as_deref() == Some(IDS) => (TRANSIENT, Aftermath::Repeat),
        // Damaged pages.
        ("XX001" | "XX002", _) => {
            return Failure { error: Error::corrupt(BACKEND, fault), aftermath: Aftermath::Close };
        }
        // Statement timeout.
        ("57014", _) => (Transience::Late, Aftermath::Undo),
        // A lock that is held, a table in use.
        ("55P03" | "55006", _) => (TRANSIENT, Aftermath::Undo),
        // Read-only: a server that has been demoted, or one that cannot write. A transaction that was idle or open for too long, with
        // which the server ends the connection. Shutdown, starting, lost connections; no room, no memory, too many connections;
        // the file system.
        ("25006" | "25P03" | "25P04", _) | (_, "57" | "08" | "53" | "58") => (TRANSIENT, Aftermath::Close),
        _ => (Transience::Permanent, Aftermath::Undo),
    };
    failed(fault, doing, transience, aftermath)
}

/// Returns the error for a call that missed its deadline.
pub(crate) fn late(doing: &'static str) -> Error {
    failed(Fault::plain("the deadline has passed"), doing, Transience::Late, Aftermath::Close).error
}

/// Returns the error for a task that ended without an answer.
pub(crate) fn lost(doing: &'static str) -> Error {
    failed(Fault::plain("the task ended without an answer"), doing, TRANSIENT, Aftermath::Close).error
}

#[cfg(test)]
mod tests;
