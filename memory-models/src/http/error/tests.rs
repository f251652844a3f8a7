use super::*;

type Check = fn(&Error) -> bool;

fn status(status: u16, body: &str) -> Error {
    Fault::of_status(status, body.as_bytes(), None).while_doing("openai", "answer")
}

#[test]
fn an_error_is_named_by_what_the_caller_can_do() {
    let permanent: Check = |error| matches!(error, Error::Backend { transience: Transience::Permanent, .. });
    let transient: Check = |error| matches!(error, Error::Backend { transience: Transience::Transient { .. }, .. });
    let invalid: Check = |error| matches!(error, Error::Invalid { .. });
    let quota = "{\"error\":{\"message\":\"canary\",\"type\":\"insufficient_quota\",\"code\":\"insufficient_quota\"}}";
    let table: [(u16, &str, Check); 16] = [
        (400, "{\"error\":{\"message\":\"canary\",\"type\":\"invalid_request_error\"}}", invalid),
        (
            401,
            "{\"error\":{\"message\":\"Incorrect API key provided: canary\",\"code\":\"invalid_api_key\"}}",
            permanent,
        ),
        (402, "", permanent),
        (403, "", permanent),
        (404, "{\"error\":\"model 'canary' not found\"}", permanent),
        (408, "", transient),
        (413, "canary", invalid),
        (422, "[\"canary\"]", invalid),
        (429, "{\"error\":{\"code\":\"rate_limit_exceeded\"}}", transient),
        (429, quota, permanent),
        (500, "<html>canary</html>", transient),
        (501, "", permanent),
        (503, "", transient),
        (529, "{\"type\":\"error\",\"error\":{\"type\":\"overloaded_error\",\"message\":\"canary\"}}", transient),
        (301, "", permanent),
        (204, "", permanent),
    ];
    for (code, body, is_right) in table {
        let error = status(code, body);
        assert!(is_right(&error), "{code} {body}: {error:?}");
        assert!(!format!("{} {error:?}", error.with_causes()).contains("canary"), "{error:?}");
    }
}

#[test]
fn a_code_that_nobody_knows_is_not_repeated() {
    let error = status(401, "{\"error\":{\"code\":\"canary\",\"type\":\"invalid_api_key\"}}");
    assert_eq!(error.with_causes(), "openai failed to answer: the server answered 401, invalid_api_key");
    let refused = "{\"error\":{\"type\":\"invalid_request_error\",\"code\":\"unsupported_parameter\"}}";
    assert!(status(400, refused).with_causes().ends_with("400, unsupported_parameter"), "{:?}", status(400, refused));
    assert_eq!(
        status(500, "{\"error\":{\"code\":7}}").with_causes(),
        "openai failed to answer: the server answered 500"
    );
}

#[test]
fn the_rest_is_told_apart_by_whether_it_may_pass() {
    let retryable = |fault: Fault| fault.while_doing("openai", "answer").is_retryable();
    for fault in [Fault::Refused, Fault::Silent, Fault::Late, Fault::Cut, Fault::Crowded, Fault::Told(None)] {
        assert!(fault.may_pass() && retryable(fault.clone()), "{fault}");
    }
    for fault in [Fault::TooLong, Fault::Garbled("x"), Fault::Unsent, Fault::Told(Some("invalid_request_error"))] {
        assert!(!fault.may_pass() && !retryable(fault.clone()), "{fault}");
    }
    assert!(matches!(Fault::Crowded.while_doing("openai", "answer"), Error::Overloaded));
}

#[test]
fn the_wait_that_a_server_asks_for_is_told_and_bounded() {
    let after = |seconds| {
        let fault = Fault::Status { status: 429, code: None, after: Some(Duration::from_secs(seconds)) };
        match fault.while_doing("openai", "answer") {
            Error::Backend { transience: Transience::Transient { after }, .. } => after,
            other => panic!("{other:?}"),
        }
    };
    assert_eq!(after(7), Some(Duration::from_secs(7)));
    assert_eq!(after(u64::MAX), Some(LONGEST_WAIT));
}
