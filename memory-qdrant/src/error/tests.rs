use std::sync::Arc;

use super::*;

/// Returns what the driver tells where the server closed a connection because many of its calls were given up.
pub(crate) fn closed_for_others() -> Driver {
    Driver::from(closed(Code::ResourceExhausted))
}

/// Returns a status that the client of the connection made, and no server.
fn closed(code: Code) -> Status {
    let mut status = Status::new(code, "canary");
    status.set_source(Arc::new(std::io::Error::other("the connection was closed")));
    status
}

fn remedy(error: &Error) -> &'static str {
    match error {
        Error::Backend { transience: Transience::Transient { after: Some(_) }, .. } => "wait as told",
        Error::Backend { transience: Transience::Late, .. } => "wait, being late",
        Error::Backend { .. } if error.is_retryable() => "wait",
        Error::Backend { .. } => "permanent",
        Error::Corrupt { .. } => "restore",
        Error::Unsupported { .. } => "choose another",
        Error::Invalid { .. } => "fix the call",
        _ => "something else",
    }
}

fn of(code: Code) -> Error {
    classify(&Driver::from(Status::new(code, "canary")), "test")
}

#[test]
fn each_code_has_its_remedy() {
    let table = [
        (Code::Cancelled, "wait"),            // timed out in the client, or cut off
        (Code::Unknown, "wait"),              // the connection was cut
        (Code::InvalidArgument, "permanent"), // wrong dimension, strict mode
        (Code::DeadlineExceeded, "wait, being late"),
        (Code::NotFound, "permanent"), // no such collection
        (Code::AlreadyExists, "permanent"),
        (Code::PermissionDenied, "permanent"),
        (Code::ResourceExhausted, "wait"), // overloaded, without saying for how long
        (Code::FailedPrecondition, "permanent"),
        (Code::Aborted, "wait"),
        (Code::OutOfRange, "permanent"),
        (Code::Unimplemented, "choose another"),
        (Code::Internal, "wait"), // refused connections too
        (Code::Unavailable, "wait"),
        (Code::DataLoss, "restore"),
        (Code::Unauthenticated, "permanent"),
    ];
    for (code, expected) in table {
        assert_eq!(remedy(&of(code)), expected, "{code:?}");
    }
}

#[test]
fn each_fault_of_the_client_has_its_remedy() {
    let status = || Status::new(Code::ResourceExhausted, "canary");
    let table = [
        (Driver::ResourceExhaustedError { status: status(), retry_after_seconds: 7 }, "wait as told"),
        (Driver::ConversionError("canary".to_owned()), "permanent"),
        (Driver::Io(std::io::ErrorKind::Other.into()), "wait"),
        (Driver::ResponseError { status: Status::internal("Failed to connect to canary") }, "wait"),
    ];
    for (driver, expected) in table {
        assert_eq!(remedy(&classify(&driver, "test")), expected, "{driver}");
    }
}

#[test]
fn the_words_of_a_server_are_in_no_error() {
    for code in (0..17).map(Code::from_i32) {
        let error = of(code);
        assert!(!format!("{error} {error:?}").contains("canary"), "{code:?}");
    }
    let driver = Driver::ConversionError("canary".to_owned());
    assert!(!format!("{:?}", classify(&driver, "test")).contains("canary"));
}

#[test]
fn a_connection_that_was_closed_for_the_calls_of_others_is_told_from_an_answer() {
    assert!(is_cut_for_others(&closed_for_others()));
    let table = [
        Driver::from(Status::new(Code::ResourceExhausted, "canary")),
        Driver::from(closed(Code::Unavailable)),
        Driver::ResourceExhaustedError { status: closed(Code::ResourceExhausted), retry_after_seconds: 7 },
        Driver::ConversionError("canary".to_owned()),
    ];
    for driver in table {
        assert!(!is_cut_for_others(&driver), "{driver}");
    }
}
