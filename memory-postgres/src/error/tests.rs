use std::borrow::Cow;
use std::error::Error as StdError;

use sqlx::error::{DatabaseError, ErrorKind};

use super::*;

/// A database error with a code, a constraint, and a text that must not be told.
#[derive(Debug)]
struct Told(&'static str, &'static str);

impl fmt::Display for Told {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Failing row contains (canary)")
    }
}

impl StdError for Told {}

impl DatabaseError for Told {
    fn message(&self) -> &str {
        "canary"
    }

    fn code(&self) -> Option<Cow<'_, str>> {
        Some(self.0.into())
    }

    fn constraint(&self) -> Option<&str> {
        Some(self.1)
    }

    fn as_error(&self) -> &(dyn StdError + Send + Sync + 'static) {
        self
    }

    fn as_error_mut(&mut self) -> &mut (dyn StdError + Send + Sync + 'static) {
        self
    }

    fn into_error(self: Box<Self>) -> Box<dyn StdError + Send + Sync + 'static> {
        self
    }

    fn kind(&self) -> ErrorKind {
        ErrorKind::Other
    }
}

fn remedy(error: &Error) -> &'static str {
    match error {
        Error::Backend { transience: Transience::Late, .. } => "wait, being late",
        Error::Backend { .. } if error.is_retryable() => "wait",
        Error::Backend { .. } => "permanent",
        Error::Corrupt { .. } => "restore",
        _ => "something else",
    }
}

#[test]
fn each_sqlstate_has_its_remedy() {
    use Aftermath::{Close, Repeat, Undo};
    let table = [
        ("08006", "wait", Close),            // connection failure
        ("22021", "permanent", Undo),        // a character that the database cannot hold
        ("22P02", "permanent", Undo),        // not the text form of a value
        ("22P05", "permanent", Undo),        // a character without translation
        ("23505", "permanent", Undo),        // a unique constraint, but for that of ids
        ("25006", "wait", Close),            // read-only
        ("25P03", "wait", Close),            // idle in a transaction for too long
        ("25P04", "wait", Close),            // a transaction that took too long
        ("28000", "permanent", Undo),        // not authorised
        ("28P01", "permanent", Undo),        // wrong password
        ("3F000", "permanent", Undo),        // no such schema
        ("40001", "wait", Repeat),           // serialisation
        ("40P01", "wait", Repeat),           // deadlock
        ("42501", "permanent", Undo),        // no permission, or a row of another owner
        ("42P01", "permanent", Undo),        // no such table
        ("53100", "wait", Close),            // disk full
        ("53200", "wait", Close),            // out of memory
        ("53300", "wait", Close),            // too many connections
        ("54000", "permanent", Undo),        // too large
        ("55P03", "wait", Undo),             // a lock is held
        ("57014", "wait, being late", Undo), // statement timeout
        ("57P01", "wait", Close),            // shut down by an administrator
        ("57P02", "wait", Close),            // shut down by a crash
        ("57P03", "wait", Close),            // starting
        ("58030", "wait", Close),            // the file system
        ("XX000", "permanent", Undo),        // internal
        ("XX001", "restore", Close),         // damaged data
        ("XX002", "restore", Close),         // damaged index
        ("", "permanent", Undo),
    ];
    for (code, expected, aftermath) in table {
        let failure = classify(&Driver::Database(Box::new(Told(code, "message_place"))), "test");
        assert_eq!((remedy(&failure.error), failure.aftermath), (expected, aftermath), "{code}");
    }
}

#[test]
fn an_id_that_is_taken_meanwhile_is_looked_for_again() {
    let failure = classify(&Driver::Database(Box::new(Told("23505", "message_pkey"))), "test");
    assert_eq!((remedy(&failure.error), failure.aftermath), ("wait", Aftermath::Repeat));
}

#[test]
fn each_fault_of_the_driver_has_its_remedy() {
    let refused = || Driver::Io(std::io::ErrorKind::ConnectionRefused.into());
    let decode = Driver::ColumnDecode { index: "0".to_owned(), source: "canary".into() };
    let table = [
        (refused(), "wait"),
        (Driver::PoolTimedOut, "wait"),
        (Driver::PoolClosed, "wait"),
        (Driver::WorkerCrashed, "wait"),
        (Driver::Protocol("canary".to_owned()), "wait"),
        (Driver::Tls("canary".into()), "permanent"),
        (Driver::Configuration("canary".into()), "permanent"),
        (Driver::RowNotFound, "permanent"),
        (Driver::Decode("canary".into()), "restore"),
        (decode, "restore"),
    ];
    for (driver, expected) in table {
        let failure = classify(&driver, "test");
        assert_eq!(remedy(&failure.error), expected, "{driver}");
        assert_eq!(failure.aftermath, Aftermath::Close, "{driver}");
    }
}

#[test]
fn tells_code_and_constraint_and_nothing_else() {
    let error = classify(&Driver::Database(Box::new(Told("23505", "message_pkey"))), "test").error;
    let source = StdError::source(&error).unwrap().to_string();
    assert_eq!(source, "SQLSTATE 23505, constraint message_pkey");
    for driver in [Driver::Protocol("canary".to_owned()), Driver::Database(Box::new(Told("23505", "message_pkey")))] {
        let error = classify(&driver, "test").error;
        assert!(!format!("{error:?} {error}").contains("canary"));
    }
}

#[test]
fn what_is_met_at_the_first_connection_is_told_in_words() {
    assert_eq!(in_words("3D000"), ", there is no such database");
    assert_eq!(in_words("28P01"), ", the login is refused");
    assert_eq!(in_words("23505"), "");
}
