use super::*;

/// Returns what an item that failed with this error is: the document's fault, or the index's.
fn fault(status: u16, error: &Value) -> &'static str {
    let outcome = outcome(&json!({ "index": { "status": status, "error": error } })).unwrap();
    match outcome.error("test") {
        Ok(Error::Invalid { .. }) => "document",
        Ok(_) => "something else",
        Err(Error::Corrupt { .. }) => "no index",
        Err(error) if error.is_retryable() => "index for now",
        Err(_) => "index",
    }
}

#[test]
fn an_error_is_of_the_document_only_if_it_can_be_of_nothing_else() {
    let immense = json!({ "type": "max_bytes_length_exceeded_exception", "reason": "bytes can be at most 32766" });
    let limit = json!({ "type": "illegal_argument_exception", "reason": "Limit of total fields [1] is exceeded" });
    let of = |kind: &str| json!({ "type": kind, "reason": "a reason" });
    let strict = of("strict_dynamic_mapping_exception");
    let by = |kind: &str, cause: &Value| json!({ "type": kind, "reason": "a reason", "caused_by": cause });
    let table = [
        (400, of("document_parsing_exception"), "document"),
        (400, of("mapper_parsing_exception"), "document"),
        (400, by("document_parsing_exception", &of("illegal_argument_exception")), "document"),
        (400, by("illegal_argument_exception", &immense), "document"),
        (413, of("content_too_long_exception"), "document"),
        (400, strict.clone(), "index"),
        (400, by("document_parsing_exception", &strict), "index"),
        (400, limit.clone(), "index"),
        (400, by("mapper_parsing_exception", &limit), "index"),
        (400, of("illegal_argument_exception"), "index"),
        (400, of("index_closed_exception"), "index"),
        (400, of("routing_missing_exception"), "index"),
        (400, json!("a plain text"), "index"),
        (403, of("security_exception"), "index"),
        (403, of("cluster_block_exception"), "index for now"),
        (404, of("index_not_found_exception"), "no index"),
        (429, of("es_rejected_execution_exception"), "index for now"),
        (503, of("unavailable_shards_exception"), "index for now"),
    ];
    for (status, error, expected) in table {
        assert_eq!(fault(status, &error), expected, "{status} {error}");
    }
}
