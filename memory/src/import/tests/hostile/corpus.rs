//! The files, made by a rule and a seed: each shape that is read, broken in every place.

use memory_testkit::generate::Random;
use serde_json::{Value, json};

use super::super::{chatgpt, locomo};

/// Stands in every text, and in nothing that is told.
pub(super) const PAYLOAD: &str = "apple of PAYLOAD";
/// Stands for JSON that is put in its place as it is.
const HOLE: &str = "@HOLE@";
const SEED: u64 = 20_261_122;

/// A file.
pub(super) struct File {
    pub(super) what: String,
    pub(super) text: Vec<u8>,
}

const NUMBERS: [&str; 22] = [
    "0",
    "-0",
    "1",
    "-1",
    "1.5",
    "2147483648",
    "4294967296",
    "4294967297",
    "9007199254740992",
    "9007199254740993",
    "9223372036854775806",
    "9223372036854775807",
    "9223372036854775808",
    "18446744073709551615",
    "18446744073709551616",
    "-9223372036854775808",
    "-9223372036854775809",
    "1e308",
    "1e999",
    "-1e999",
    "1e-999",
    "5e-324",
];

const OTHERS: [&str; 14] = [
    "null",
    "true",
    "\"\"",
    "\" \"",
    "[]",
    "{}",
    "[[],{}]",
    "{\"a\":{\"b\":1},\"a\":2}",
    "\"9223372036854775807\"",
    "\"\\u0000\"",
    "\"\\ud800\"",
    "\"\\u202e\\u001b[2J\\n\\u009b\"",
    "nul",
    "\"open",
];

/// Returns the files: every number of an export at every end of its type, everything of `specials`, and so many of the other
/// breaks as the seed chooses that there are `count`.
pub(super) fn files(count: usize) -> Vec<File> {
    let shapes = shapes();
    let mut files = specials();
    let mut others = Vec::new();
    for Shape { name, parts, is_lines } in &shapes {
        for (part, value) in parts.iter().enumerate() {
            for path in paths(value) {
                let is_number = *name == "export" && value.pointer(&path).is_some_and(Value::is_number);
                let odd = |odd: &str| {
                    let what = format!("{name}, part {part}, {path} is {odd}");
                    File { what, text: written(parts, part, &path, odd, *is_lines).into_bytes() }
                };
                if is_number {
                    files.extend(NUMBERS.map(odd));
                } else {
                    others.extend(NUMBERS.iter().step_by(5).map(|number| odd(number)));
                }
                others.extend(OTHERS.map(odd));
            }
        }
        others.extend(damaged(name, &whole(parts, *is_lines)));
    }
    let mut random = Random::new(SEED);
    while files.len() < count && !others.is_empty() {
        files.push(others.swap_remove(random.below(others.len())));
    }
    files
}

/// A form of file: lines, or the elements of one array.
struct Shape {
    name: &'static str,
    parts: Vec<Value>,
    is_lines: bool,
}

fn shapes() -> Vec<Shape> {
    let turn = |role: &str| json!({"role": role, "content": format!("one {PAYLOAD}")});
    let longmemeval = json!({
        "question_id": "1", "question": "q", "haystack_dates": ["2023/05/20 (Sat) 02:21"],
        "haystack_session_ids": ["s1"], "haystack_sessions": [[turn("user"), turn("assistant")]]
    });
    let call = json!({"id": "c1", "type": "function", "function": {"name": "fetch", "arguments": "{\"fig\":1}"}});
    let openai = vec![
        json!({
            "role": "user", "content": [{"type": "text", "text": PAYLOAD}, {"type": "image_url", "image_url": {"url": "x"}}],
            "session": "talk", "at": "2024-05-01T00:00:00Z", "metadata": {"k": [1, {"a": 2}]}, "name": "Ana", "own": 1
        }),
        json!({"role": "assistant", "content": null, "tool_calls": [call], "id": "018f0000-0000-7000-8000-000000000001"}),
        json!({"role": "tool", "tool_call_id": "c1", "content": "two figs"}),
        json!({"messages": [turn("system"), turn("user")], "id": "whole"}),
    ];
    vec![
        Shape { name: "export", parts: exported(), is_lines: true },
        Shape { name: "openai", parts: openai, is_lines: true },
        Shape { name: "chatgpt", parts: vec![chatgpt()], is_lines: false },
        Shape { name: "claude", parts: vec![claude()], is_lines: false },
        Shape { name: "locomo", parts: vec![locomo()], is_lines: false },
        Shape { name: "longmemeval", parts: vec![longmemeval], is_lines: false },
    ]
}

/// Returns a conversation of Claude with everything that one has.
fn claude() -> Value {
    let pieces = json!([
        {"type": "thinking", "thinking": PAYLOAD}, {"type": "tool_use", "id": "c1", "name": "fetch", "input": {"fig": 1}},
        {"type": "tool_result", "tool_use_id": "c1", "content": [{"type": "text", "text": PAYLOAD}]},
        {"type": "text", "text": PAYLOAD}
    ]);
    let question = json!({
        "uuid": id(1), "sender": "human", "text": PAYLOAD, "created_at": "2024-05-01T00:00:00Z",
        "attachments": [{"file_name": "a", "extracted_content": PAYLOAD}], "files": [{"file_name": "b"}]
    });
    let answer = json!({"uuid": id(2), "sender": "assistant", "content": pieces, "parent_message_uuid": id(1)});
    json!({
        "uuid": "c-1", "name": "Figs", "created_at": "2024-05-01T00:00:00Z", "current_leaf_message_uuid": id(2),
        "chat_messages": [question, answer]
    })
}

fn id(number: u64) -> String {
    format!("01a00000-0000-7000-8000-{number:012}")
}

fn row(seq: u64, message: u64, role: &str, rest: &Value) -> Value {
    let text = json!([{"type": "text", "text": format!("number {seq}: {PAYLOAD}")}]);
    let mut row = json!({
        "session": "talk", "seq": seq, "id": id(message), "tokens": 6,
        "message": {"id": id(message), "role": role, "blocks": text, "at": 1_795_366_327_005_000_u64, "trust": role}
    });
    if let (Value::Object(row), Value::Object(rest)) = (&mut row, rest) {
        row.extend(rest.clone());
    }
    json!({ "row": row })
}

/// Returns an export with a summary, a forgotten message, an instruction and a record with everything that a record has.
fn exported() -> Vec<Value> {
    let summary = id(9);
    vec![
        json!({"memory_export": 1, "tenant": "acme", "subject": "ada", "at": "2026-11-22T16:52:07.442466Z"}),
        row(1, 1, "system", &json!({})),
        row(2, 2, "user", &json!({"archived_by": summary})),
        row(3, 3, "assistant", &json!({"archived_by": summary})),
        row(3, 9, "assistant", &json!({"covers": {"first": 2, "last": 3}})),
        json!({"row": {"session": "talk", "seq": 4, "id": id(4), "tokens": 0, "message": null}}),
        json!({"record": {"version": 3, "accessed_at": 1_795_366_106_485_714_u64, "access_count": 2, "record": {
            "id": id(5), "kind": "fact", "text": PAYLOAD, "tags": ["a"], "session": "talk", "importance": 0.5, "trust": "user",
            "origin": "cli", "sources": [{"Message": id(2)}], "created_at": 1_795_366_106_485_714_u64,
            "expires_at": 1_895_366_106_485_714_u64, "valid_from": 1, "valid_to": 1_895_366_106_485_714_u64,
            "superseded": {"by": id(6), "at": 1_795_366_106_485_714_u64}, "metadata": {"k": 1}
        }}}),
        json!({"end": {"rows": 5, "records": 1}}),
    ]
}

/// Returns the places of a value, from the root's members on.
fn paths(value: &Value) -> Vec<String> {
    let inner = |key: &str, value: &Value| {
        let key = key.replace('~', "~0").replace('/', "~1");
        let below = paths(value).into_iter().map(|path| format!("/{key}{path}")).collect::<Vec<_>>();
        [vec![format!("/{key}")], below].concat()
    };
    match value {
        Value::Object(map) => map.iter().flat_map(|(key, value)| inner(key, value)).collect(),
        Value::Array(items) => items.iter().enumerate().flat_map(|(at, value)| inner(&at.to_string(), value)).collect(),
        _ => Vec::new(),
    }
}

/// Returns a file in which the value at `path` of a part is the JSON `odd`.
fn written(parts: &[Value], part: usize, path: &str, odd: &str, is_lines: bool) -> String {
    let mut parts = parts.to_vec();
    if let Some(value) = parts[part].pointer_mut(path) {
        *value = json!(HOLE);
    }
    whole(&parts, is_lines).replace(&format!("\"{HOLE}\""), odd)
}

fn whole(parts: &[Value], is_lines: bool) -> String {
    if is_lines {
        return parts.iter().map(|part| format!("{part}\n")).collect();
    }
    json!(parts).to_string()
}

/// Returns a file with its bytes damaged: cut, joined, in another encoding, with bytes in its middle that are none of it.
fn damaged(name: &str, text: &str) -> Vec<File> {
    let bytes = text.as_bytes();
    let file = |what: String, text: Vec<u8>| File { what: format!("{name}, {what}"), text };
    let mut random = Random::new(SEED);
    let mut files = vec![
        file("behind a byte order mark".into(), [b"\xef\xbb\xbf", bytes].concat()),
        file("with line ends of Windows".into(), text.replace('\n', "\r\n").into_bytes()),
        file("twice".into(), [bytes, bytes].concat()),
        file("as one line".into(), text.replace('\n', " ").into_bytes()),
        file("in UTF-16".into(), text.encode_utf16().flat_map(u16::to_le_bytes).collect()),
        file("behind zeros".into(), [&[0; 64], bytes].concat()),
    ];
    for _ in 0..24 {
        let at = random.below(bytes.len());
        files.push(file(format!("cut at {at}"), bytes[..at].to_vec()));
        let (before, after) = bytes.split_at(random.below(bytes.len()));
        let inside: &[u8] = random.pick(&[
            b"\0" as &[u8],
            b"\xff\xfe",
            b"\xed\xa0\x80",
            b"\n",
            b"}",
            b"\"",
            b"{\"\":",
            b"\xe2\x80\xae",
        ]);
        files.push(file(format!("with {inside:?} at {}", before.len()), [before, inside, after].concat()));
    }
    files
}

/// Returns files each of which has a harm of its own.
fn specials() -> Vec<File> {
    let mut files = circles();
    let mut add = |what: &str, text: String| files.push(File { what: what.to_owned(), text: text.into_bytes() });
    for depth in [10, 31, 32, 33, 34, 120, 127, 128, 129, 100_000] {
        let deep = format!("{}1{}", "[".repeat(depth), "]".repeat(depth));
        let nested = format!("{}1{}", "{\"a\":".repeat(depth), "}".repeat(depth));
        for deep in [deep, nested] {
            add(
                &format!("metadata {depth} deep"),
                format!("{{\"role\":\"user\",\"content\":\"{PAYLOAD}\",\"metadata\":{{\"k\":{deep}}}}}"),
            );
            add(
                &format!("a member {depth} deep"),
                format!("{{\"role\":\"user\",\"content\":\"{PAYLOAD}\",\"z\":{deep}}}"),
            );
            add(
                &format!("a piece {depth} deep"),
                format!("{{\"role\":\"user\",\"content\":[{{\"type\":\"x\",\"v\":{deep}}}]}}"),
            );
            add(&format!("nothing but brackets, {depth} deep"), deep);
        }
    }
    for count in [1_000, 4_096, 4_097, 50_000] {
        let keys: String = (0..count).map(|n| format!("\"k{n}\":{n},")).collect();
        for member in ["metadata", "z"] {
            add(
                &format!("{count} keys of {member}"),
                format!("{{\"role\":\"user\",\"content\":\"x\",\"{member}\":{{{keys}\"\":0}}}}"),
            );
        }
        add(
            &format!("one key {count} times"),
            format!("{{{}\"role\":\"user\",\"content\":\"{PAYLOAD}\"}}", "\"content\":\"y\",".repeat(count)),
        );
        add(
            &format!("{count} pieces"),
            format!(
                "{{\"role\":\"user\",\"content\":[{}{{\"type\":\"text\",\"text\":\"z\"}}]}}",
                "{\"type\":\"text\",\"text\":\"\"},".repeat(count)
            ),
        );
    }
    for bytes in [255, 256, 16 << 10, 1 << 20] {
        let long = "n".repeat(bytes);
        for member in ["content", "name", "session", "id", "at", "role", "tool_call_id", "k"] {
            let mut message = json!({"role": "tool", "content": PAYLOAD});
            message[member] = json!(long);
            add(&format!("{member} of {bytes} bytes"), message.to_string());
        }
    }
    for name in [
        "\u{1b}[2J\u{202e}",
        "a\nb\r\u{2028}",
        "\u{0}",
        "../../x",
        "'; DROP TABLE message; --",
        "\u{feff}\u{200b}",
        "é\u{301}",
    ] {
        add(
            &format!("the name {name:?}"),
            json!({"role": "user", "content": PAYLOAD, "session": name, "name": name}).to_string(),
        );
        let lines = exported().iter().map(|line| format!("{line}\n")).collect::<String>();
        let named = json!(name).to_string();
        add(
            &format!("an export of {name:?}"),
            lines.replace("\"talk\"", &named).replace("\"fact\"", &named).replace("\"cli\"", &named),
        );
    }
    add("a message of 5 MiB", json!({"role": "user", "content": "n".repeat(5 << 20)}).to_string());
    add("nothing", String::new());
    add("blank lines", "\n \r\n\t\n".repeat(10_000));
    add("half a million short lines that are no messages", "0\n".repeat(50_000));
    files
}

/// Returns exports whose summaries stand for one another, for themselves, or for instructions.
fn circles() -> Vec<File> {
    let by = |number: u64| json!({ "archived_by": id(number) });
    let covers =
        |first: u64, last: u64, by: u64| json!({"covers": {"first": first, "last": last}, "archived_by": id(by)});
    let all: [(&str, [Value; 3]); 6] = [
        (
            "messages archived by each other",
            [row(1, 1, "user", &by(2)), row(2, 2, "user", &by(1)), row(3, 3, "user", &by(3))],
        ),
        (
            "a summary archived by itself",
            [row(1, 1, "user", &by(9)), row(2, 2, "user", &by(9)), row(2, 9, "assistant", &covers(1, 2, 9))],
        ),
        (
            "summaries archived by each other",
            [
                row(1, 1, "user", &by(8)),
                row(1, 8, "assistant", &covers(1, 1, 9)),
                row(1, 9, "assistant", &covers(1, 1, 8)),
            ],
        ),
        (
            "a summary that is an instruction",
            [
                row(1, 1, "system", &by(9)),
                row(2, 2, "user", &by(9)),
                row(2, 9, "system", &json!({"covers": {"first": 1, "last": 2}})),
            ],
        ),
        (
            "a summary of what is to come",
            [
                row(1, 1, "user", &json!({})),
                row(1, 9, "user", &json!({"covers": {"first": 1, "last": 7}})),
                row(2, 2, "user", &json!({})),
            ],
        ),
        (
            "a summary that begins behind its end",
            [
                row(1, 1, "user", &json!({})),
                row(2, 2, "user", &json!({})),
                row(2, 9, "user", &json!({"covers": {"first": 3, "last": 2}})),
            ],
        ),
    ];
    let header = exported().remove(0);
    let file = |(what, rows): (&str, [Value; 3])| {
        let end = json!({"end": {"rows": 3, "records": 0}});
        let lines = [vec![header.clone()], rows.to_vec(), vec![end]].concat();
        File { what: what.to_owned(), text: whole(&lines, true).into_bytes() }
    };
    all.map(file).into_iter().collect()
}
