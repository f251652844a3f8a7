use super::*;

/// Returns what an item that failed with this error is: the document's fault, or the index's, which took other documents or not.
fn fault(status: u16, error: &Value, takes_others: Option<bool>) -> &'static str {
    let outcome = outcome(&json!({ "index": { "status": status, "error": error } })).unwrap();
    match outcome.error("test", takes_others) {
        Ok(Error::Invalid { .. }) => "document",
        Ok(_) => "something else",
        Err(Error::Corrupt { .. }) => "no index",
        Err(error) if error.is_retryable() => "index for now",
        Err(_) => "index",
    }
}

#[test]
fn an_error_is_of_the_document_where_its_name_tells_so_or_the_index_takes_others() {
    let immense = json!({ "type": "max_bytes_length_exceeded_exception", "reason": "bytes can be at most 32766" });
    let limit = json!({ "type": "illegal_argument_exception", "reason": "Limit of total fields [1] is exceeded" });
    let full = json!({ "type": "illegal_argument_exception", "reason": "Number of documents in the index is 9" });
    let of = |kind: &str| json!({ "type": kind, "reason": "a reason" });
    let strict = of("strict_dynamic_mapping_exception");
    let by = |kind: &str, cause: &Value| json!({ "type": kind, "reason": "a reason", "caused_by": cause });
    // Given no others, taking none of them, and taking some.
    let (document, index) = (["document"; 3], ["index"; 3]);
    let (likely_document, likely_index) = (["document", "index", "document"], ["index", "index", "document"]);
    let table = [
        (400, of("document_parsing_exception"), likely_document),
        (400, of("mapper_parsing_exception"), likely_document),
        (400, by("document_parsing_exception", &of("illegal_argument_exception")), likely_document),
        (400, by("illegal_argument_exception", &immense), document),
        (400, by("document_parsing_exception", &immense), document),
        (413, of("content_too_long_exception"), document),
        (400, strict.clone(), index),
        (400, by("document_parsing_exception", &strict), index),
        (400, limit.clone(), index),
        (400, full, index),
        (400, by("mapper_parsing_exception", &limit), index),
        (400, of("illegal_argument_exception"), likely_index),
        (400, of("index_closed_exception"), likely_index),
        (400, of("routing_missing_exception"), likely_index),
        (400, json!("a plain text"), likely_index),
        (403, of("security_exception"), index),
        (403, of("cluster_block_exception"), ["index for now"; 3]),
        (404, of("index_not_found_exception"), ["no index"; 3]),
        (429, of("es_rejected_execution_exception"), ["index for now"; 3]),
        (503, of("unavailable_shards_exception"), ["index for now"; 3]),
    ];
    for (status, error, expected) in table {
        let found = [None, Some(false), Some(true)].map(|takes_others| fault(status, &error, takes_others));
        assert_eq!(found, expected, "{status} {error}");
    }
}
