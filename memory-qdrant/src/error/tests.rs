use super::*;

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
