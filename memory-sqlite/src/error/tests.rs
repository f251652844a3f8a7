use std::borrow::Cow;
use std::error::Error as StdError;

use sqlx::error::{DatabaseError, ErrorKind};

use super::*;

/// A database error with a result code and nothing else.
#[derive(Debug)]
struct Fault(i32);

impl std::fmt::Display for Fault {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "code {}", self.0)
    }
}

impl StdError for Fault {}

impl DatabaseError for Fault {
    fn message(&self) -> &str {
        "a fault"
    }

    fn code(&self) -> Option<Cow<'_, str>> {
        Some(self.0.to_string().into())
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
        Error::Backend { .. } if error.is_retryable() => "wait",
        Error::Backend { .. } => "permanent",
        Error::Corrupt { .. } => "restore",
        Error::ReadOnly { .. } => "write elsewhere",
        _ => "something else",
    }
}

#[test]
fn each_result_code_has_its_remedy() {
    let table = [
        (1, "permanent"),          // a missing table, among others
        (3, "permanent"),          // no permission
        (5, "wait"),               // locked by another process
        (261, "wait"),             // locked for a recovery
        (517, "wait"),             // locked, and the snapshot is old
        (6, "wait"),               // locked by this process
        (7, "wait"),               // out of memory
        (8, "write elsewhere"),    // read-only
        (1032, "write elsewhere"), // read-only since the file was moved
        (9, "wait"),               // interrupted
        (10, "wait"),              // the disk failed
        (1034, "wait"),            // the disk failed to sync
        (11, "restore"),           // damaged
        (267, "restore"),          // damaged virtual table
        (13, "wait"),              // the disk is full
        (14, "wait"),              // cannot open
        (15, "wait"),              // the lock protocol
        (18, "permanent"),         // too big
        (19, "permanent"),         // a constraint
        (2067, "permanent"),       // a unique constraint
        (23, "permanent"),         // not authorised
        (26, "restore"),           // no database
    ];
    for (code, expected) in table {
        let error = classify(Driver::Database(Box::new(Fault(code))), "test");
        assert_eq!(remedy(&error), expected, "code {code}");
    }
}

#[test]
fn each_fault_of_the_driver_has_its_remedy() {
    let decode = || Driver::Decode("not a number".into());
    let table = [
        (Driver::WorkerCrashed, "wait"),
        (Driver::Io(std::io::ErrorKind::Other.into()), "wait"),
        (decode(), "restore"),
        (Driver::ColumnDecode { index: "0".to_owned(), source: "not a number".into() }, "restore"),
        (Driver::RowNotFound, "permanent"),
        (Driver::Protocol("nonsense".to_owned()), "permanent"),
    ];
    for (driver, expected) in table {
        let shown = driver.to_string();
        assert_eq!(remedy(&classify(driver, "test")), expected, "{shown}");
    }
}
