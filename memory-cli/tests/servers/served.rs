//! A server over PostgreSQL and a server over a file are asked the same: they answer the same, also after they were killed.

use std::process::Command;
use std::time::Duration;

use memory_testkit::services::Servers;
use memory_testkit::{Failure, Scene, check, equal};
use serde_json::{Value, json};

use crate::Bed;
use crate::running::Running;

/// Members that tell when, how long, or how a backend does it.
const OWN: [&str; 12] = [
    "at",
    "backend",
    "durability",
    "last_at",
    "pending",
    "receipt",
    "signals",
    "stores",
    "superseded_at",
    "unasked",
    "valid_to",
    "version",
];

const MESSAGES: [&str; 3] = [
    "0190b0a0-0000-7000-8000-000000000001",
    "0190b0a0-0000-7000-8000-000000000002",
    "0190b0a0-0000-7000-8000-000000000003",
];
const RECORDS: [&str; 2] = ["0190b0a0-0000-7000-8000-00000000000a", "0190b0a0-0000-7000-8000-00000000000b"];

/// Returns what is asked, in order: method, path, body.
fn questions() -> Vec<(&'static str, String, Value)> {
    let said =
        |id: &str, text: &str| json!({ "role": "user", "content": text, "id": id, "at": "2026-11-22T10:00:00Z" });
    let talk =
        json!({ "messages": [said(MESSAGES[0], "The parcel goes to Porto."), said(MESSAGES[1], "So does the cat.")] });
    let (first, second) = (RECORDS[0], RECORDS[1]);
    vec![
        ("POST", "/v1/sessions/a/messages".to_owned(), talk.clone()),
        ("POST", "/v1/sessions/a/messages".to_owned(), talk),
        ("POST", "/v1/sessions/a/messages".to_owned(), json!({ "messages": [said(MESSAGES[0], "Something else.")] })),
        ("POST", "/v1/sessions/b/messages".to_owned(), json!({ "messages": [said(MESSAGES[2], "Another talk.")] })),
        ("GET", "/v1/sessions".to_owned(), Value::Null),
        ("GET", "/v1/sessions/a/messages?view=all".to_owned(), Value::Null),
        ("POST", "/v1/records".to_owned(), json!({ "text": "Ada has a cat", "id": first })),
        ("POST", "/v1/records".to_owned(), json!({ "text": "Ada has a cat", "id": first })),
        ("POST", format!("/v1/records/{first}/supersede"), json!({ "text": "Ada has two cats", "id": second })),
        ("GET", format!("/v1/records/{first}/history"), Value::Null),
        ("GET", "/v1/records?all=true".to_owned(), Value::Null),
        ("PUT", format!("/v1/records/{second}"), json!({ "text": "without a version" })),
        ("POST", "/v1/search".to_owned(), json!({ "query": "parcel" })),
        ("POST", "/v1/search".to_owned(), json!({ "query": "cats", "kind": "record" })),
        ("POST", "/v1/search".to_owned(), json!({ "query": "cat", "filter": "nothing = is" })),
        ("POST", "/v1/sessions/a/context".to_owned(), json!({ "query": "Who has cats?", "budget": 500 })),
        ("POST", "/v1/items".to_owned(), json!({ "items": [format!("m-{}", MESSAGES[1]), format!("r-{second}")] })),
        ("POST", "/v1/forget".to_owned(), json!({ "ids": [MESSAGES[1], second] })),
        ("GET", "/v1/sessions/a/messages".to_owned(), Value::Null),
        ("POST", "/v1/search".to_owned(), json!({ "query": "cats" })),
        ("DELETE", "/v1/sessions/b".to_owned(), Value::Null),
        ("GET", "/v1/sessions".to_owned(), Value::Null),
        ("GET", "/v1/sessions/b".to_owned(), Value::Null),
    ]
}

/// Returns an answer without what is each backend's own.
fn bare(value: Value) -> Value {
    match value {
        Value::Object(members) => {
            let kept = members.into_iter().filter(|(name, _)| !OWN.contains(&name.as_str()));
            Value::Object(kept.map(|(name, value)| (name, bare(value))).collect())
        }
        Value::Array(items) => items.into_iter().map(bare).collect(),
        Value::String(text) => Value::String(undated(&text)),
        other => other,
    }
}

/// Returns a context's text without the minute of each item: the second server remembers later than the first.
fn undated(text: &str) -> String {
    let mut parts = text.split(" at=\"");
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |text, part| text + part.split_once('"').map_or(part, |(_, rest)| rest))
}

fn started(bed: &Bed, url: &str) -> Running {
    let mut command = Command::new(env!("CARGO_BIN_EXE_memory"));
    command.args(["--db", url, "--tenant", "acme", "--subject", "ada"]).env("MEMORY_EMBEDDER", "none");
    command.env("MEMORY_TOKENS", bed.file("tokens.json"));
    Running::start(command, "127.0.0.1:0").with_link()
}

/// Waits until the indexes have followed: what a killed server wrote last is found from then on.
fn followed(server: &Running) -> Scene {
    let (token, body) = (server.token.clone().unwrap_or_default(), json!({ "query": "", "pending": true }).to_string());
    for _ in 0..300 {
        let (status, answer) = crate::running::send(&server.address, &token, "POST", "/v1/search", &body)
            .map_err(|error| Failure::new(error.to_string()))?;
        let answer: Value = serde_json::from_str(&answer).unwrap_or_default();
        if status == 200 && answer.get("pending") == Some(&json!(0)) {
            return Ok(());
        }
        std::thread::sleep(Duration::from_millis(100));
    }
    Err("the indexes did not follow".into())
}

/// Asks everything of a server over `url`, which is killed in the middle, and returns the answers.
fn answers(bed: &Bed, url: &str) -> Result<Vec<(String, Value)>, Failure> {
    let mut server = started(bed, url);
    let mut answers = Vec::new();
    for (place, (method, path, body)) in questions().into_iter().enumerate() {
        if place == 9 {
            server.kill();
            server = started(bed, url);
            followed(&server)?;
        }
        let token = server.token.clone().unwrap_or_default();
        let body = if body.is_null() { String::new() } else { body.to_string() };
        let (status, answer) = crate::running::send(&server.address, &token, method, &path, &body)
            .map_err(|error| Failure::new(format!("{method} {path}: {error}")))?;
        check!(status < 500, "{method} {path}: {status} {answer}");
        let answer = serde_json::from_str(&answer).unwrap_or_default();
        answers.push((format!("{method} {path} {status}"), bare(answer)));
    }
    equal(server.get("/ready", "").0, 200)?;
    let (code, log) = server.stop();
    check!(code == Some(0), "{log}");
    Ok(answers)
}

pub(crate) async fn the_same(servers: Servers) -> Scene {
    let bed = Bed::new()?;
    let there = answers(&bed, &bed.place(&servers.url("postgres")?, "schema"))?;
    let here = answers(&bed, &bed.file("memory.sqlite"))?;
    for (there, here) in there.iter().zip(&here) {
        equal(there, here)?;
    }
    equal(there.len(), here.len())
}
