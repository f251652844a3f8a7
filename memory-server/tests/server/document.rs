//! The document of all operations names every status by which the server refuses, where it may.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use axum::http::StatusCode;
use serde_json::json;

use crate::bed::DOCUMENT;

/// Statuses of one operation alone, which nothing else is asked that can be answered so.
const OF_ONE: [(u16, &str); 3] = [
    (412, "put /v1/records/{record}"),
    (422, "post /v1/sessions/{session}/context"),
    (428, "put /v1/records/{record}"),
];

/// The status of a method that is none of an operation's.
const OF_NONE: u16 = 405;

/// Returns the constant of each status by which a request is refused, and its number.
fn constants() -> Vec<(String, u16)> {
    let refusals = (400..600).filter_map(|number| StatusCode::from_u16(number).ok());
    let named = refusals.filter_map(|status| Some((status.canonical_reason()?, status.as_u16())));
    named.map(|(reason, number)| (reason.to_uppercase().replace([' ', '-'], "_"), number)).collect()
}

/// Adds the statuses that the sources in a folder refuse with.
fn add_named(folder: &Path, constants: &[(String, u16)], statuses: &mut BTreeSet<u16>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            add_named(&path, constants, statuses);
            continue;
        }
        let source = fs::read_to_string(&path).unwrap();
        for behind in source.split("StatusCode::").skip(1) {
            let name = behind.split(|letter: char| !letter.is_ascii_uppercase() && letter != '_').next();
            statuses.extend(
                constants.iter().find(|(constant, _)| Some(constant.as_str()) == name).map(|(_, number)| number),
            );
        }
    }
}

#[test]
fn every_status_that_the_server_refuses_with_stands_in_the_document_of_each_operation() {
    let mut named = BTreeSet::new();
    add_named(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src"), &constants(), &mut named);
    assert!(OF_ONE.iter().all(|(status, _)| named.contains(status)) && named.remove(&OF_NONE), "{named:?}");
    let mut operations = 0;
    for (path, item) in DOCUMENT["paths"].as_object().unwrap() {
        for (method, operation) in item.as_object().unwrap().iter().filter(|(_, value)| value["responses"].is_object())
        {
            let operation_name = format!("{method} {path}");
            let is_of_it = |status: &u16| {
                let one = OF_ONE.iter().find(|(one, _)| one == status);
                one.is_none_or(|(_, operation)| *operation == operation_name)
            };
            let expected: BTreeSet<u16> = named.iter().copied().filter(is_of_it).collect();
            let told = operation["responses"].as_object().unwrap().keys().map(|status| status.parse().unwrap());
            let told: BTreeSet<u16> = told.filter(|status| *status >= 400).collect();
            assert_eq!(told, expected, "{operation_name}");
            operations += 1;
        }
    }
    assert!(operations >= 16, "{operations}");
}

#[test]
fn the_content_of_a_message_is_a_text_or_pieces_or_nothing() {
    let content = &DOCUMENT["components"]["schemas"]["ChatMessage"]["properties"]["content"];
    assert_eq!((&content["type"], &content["items"]["type"]), (&json!(["string", "array", "null"]), &json!("object")));
}
