use serde_json::json;

use super::*;

fn remedy(error: &Error) -> &'static str {
    match error {
        Error::Backend { transience: Transience::Late, .. } => "wait, being late",
        Error::Backend { .. } if error.is_retryable() => "wait",
        Error::Backend { .. } => "permanent",
        Error::Corrupt { .. } => "rebuild",
        Error::Invalid { .. } => "shorten",
        _ => "something else",
    }
}

#[test]
fn each_answer_has_its_remedy() {
    let table = [
        (400, "search_phase_execution_exception", "permanent"),
        (400, "index_closed_exception", "permanent"),
        (401, "security_exception", "permanent"),
        (403, "security_exception", "permanent"),
        (403, "cluster_block_exception", "wait"),
        (404, "index_not_found_exception", "rebuild"),
        (404, "", "permanent"),
        (405, "", "permanent"),
        (408, "", "wait"),
        (409, "version_conflict_engine_exception", "wait"),
        (413, "", "shorten"),
        (429, "circuit_breaking_exception", "wait"),
        (429, "es_rejected_execution_exception", "wait"),
        (500, "", "wait"),
        (502, "", "wait"),
        (503, "unavailable_shards_exception", "wait"),
        (503, "no_shard_available_action_exception", "wait"),
        (504, "", "wait"),
    ];
    for (status, kind, expected) in table {
        let fault = Fault::Answer { status, kind: kind.to_owned(), after: None };
        assert_eq!(remedy(&classify(fault, "test")), expected, "{status} {kind}");
    }
}

#[test]
fn each_fault_on_the_way_has_its_remedy() {
    let table = [
        (Fault::TimedOut, "wait, being late"),
        (Fault::Refused, "wait"),
        (Fault::Cut, "wait"),
        (Fault::Unsent, "permanent"),
        (Fault::TooLong, "permanent"),
    ];
    for (fault, expected) in table {
        assert_eq!(remedy(&classify(fault, "test")), expected);
    }
}

#[test]
fn the_wait_that_the_server_asks_for_is_kept() {
    let after = Some(Duration::from_secs(3));
    let error = classify(Fault::of_reply(429, None, after), "test");
    assert!(matches!(error, Error::Backend { transience: Transience::Transient { after: kept }, .. } if kept == after));
}

#[test]
fn nothing_that_the_server_quotes_enters_an_error() {
    let bodies = [
        json!({"error": {"type": "document_parsing_exception", "reason": "Preview of field's value: 'canary'"}}),
        json!({"error": "canary"}),
        json!({"error": {"type": "canary 1"}}),
        json!({"error": {"type": {"canary": 1}}}),
        json!("canary"),
    ];
    for body in bodies {
        let error = classify(Fault::of_reply(400, Some(&body), None), "put entries");
        let mut shown = format!("{error} {error:?}");
        let mut source = StdError::source(&error);
        while let Some(cause) = source {
            shown.push_str(&format!(" {cause} {cause:?}"));
            source = cause.source();
        }
        assert!(!shown.contains("canary"), "{shown}");
    }
    let kind = Fault::of_reply(400, Some(&json!({"error": {"type": "a_type"}})), None);
    assert_eq!(kind.to_string(), "the server answered 400, a_type");
}
