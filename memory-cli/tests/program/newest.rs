//! What is newest, and what is gone: lists without words, and what has expired.

use serde_json::{Value, json};

use crate::support::{Bed, conversations, said};

fn texts(found: &Value) -> Vec<&str> {
    found["hits"].as_array().unwrap().iter().map(|hit| hit["text"].as_str().unwrap()).collect()
}

#[test]
fn a_search_without_words_lists_what_is_newest() {
    let bed = Bed::new();
    bed.import(
        &(said("old", 1, "user", "first") + &said("new", 2, "user", "second") + &said("old", 3, "user", "third")),
    );
    assert_eq!(texts(&bed.json(&["search", ""])), ["third", "second", "first"]);
    assert_eq!(texts(&bed.json(&["search", " ", "-k", "2", "--kind", "message"])), ["third", "second"]);
    assert_eq!(texts(&bed.json(&["search", "", "--session", "old"])), ["third", "first"]);
    assert_eq!(texts(&bed.json(&["search", "", "--filter", "at < 2025-03-01T00:03:00Z"])), ["second", "first"]);
    bed.json(&["remember", "fourth"]);
    assert_eq!(texts(&bed.json(&["search", "", "-k", "1"])), ["fourth"]);
    let words = bed.run(&["search", ""]);
    assert_eq!(words.code, 0);
    assert!(words.stdout.starts_with("1. ") && words.stdout.contains("\n   third\n"), "{}", words.stdout);
    let chat = bed.run_with(&["--json", "chat"], b"/search\n");
    assert_eq!(texts(&chat.json()), ["fourth", "third", "second", "first"]);
}

#[test]
fn what_has_expired_leaves_an_export_unless_it_is_on_hold() {
    let bed = Bed::new();
    bed.import(&conversations());
    bed.json(&["remember", "Charlie is away", "--ttl", "1h"]);
    bed.json(&["remember", "Charlie is at sea", "--ttl", "1h"]);
    bed.json(&["remember", "Charlie likes tea"]);
    let export = bed.run(&["export"]).stdout;
    assert!(export.contains("Charlie is away") && export.contains("Charlie is at sea"));
    // The same long ago, one of them on hold: no sweep takes that away.
    let lines = export.lines().map(|line| {
        let mut line: Value = serde_json::from_str(line).unwrap();
        if line["record"]["record"].get("expires_at").is_some() {
            line["record"]["record"]["expires_at"] = json!(1_000_000);
            line["record"]["record"]["hold"] = json!(line["record"]["record"]["text"] == "Charlie is away");
        }
        format!("{line}\n")
    });
    let later = bed.of("later");
    let imported = later.run_with(&["import", "--trust-roles", "-"], lines.collect::<String>().as_bytes());
    assert_eq!(imported.code, 0, "{}", imported.stderr);
    let export = later.run(&["export"]).stdout;
    assert!(export.contains("Charlie is away") && !export.contains("Charlie is at sea"), "{export}");
    assert!(export.ends_with("{\"end\":{\"rows\":7,\"records\":2}}\n"), "{export}");
    assert_eq!(later.json(&["stats"])["owner"]["records"], 1);
}
