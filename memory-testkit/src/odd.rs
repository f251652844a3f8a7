//! Unusual content: every kind of block, every kind of JSON value, and texts that have broken other software.

use memory_core::message::{Form, Slot};
use memory_core::{Block, ItemId, Message, MessageId, RecordId, Role, SessionId, Timestamp, Trust};
use serde_json::{Map, Value, json};

/// Returns texts that have broken other software.
pub(crate) fn texts() -> Vec<String> {
    let mut texts: Vec<String> = [
        "",
        " ",
        "\0",
        "\0\0\0",
        "a\0b",
        "\r\n\t\u{b}\u{c}\u{7f}\u{85}\u{2028}\u{2029}",
        "\u{feff}byte order mark",
        "\u{202e}override\u{202c}",
        "é and e\u{301}",
        "\u{1f468}\u{200d}\u{1f469}\u{200d}\u{1f467} 用 한 ש",
        "\u{fffd}\u{ffff}\u{10ffff}\u{e000}",
        "\\ud800 \\u0000 \\x00 \\",
        "') OR 1=1 --",
        "\"; DROP TABLE message; --",
        "]] return redis.call('FLUSHALL')",
        "{{constructor}} ${jndi:ldap://x} <script>",
        "*:* AND NOT _id:1",
        "null",
        "1e400",
        "{\"v\":2}",
    ]
    .map(str::to_owned)
    .to_vec();
    texts.push("word ".repeat(200_000));
    texts.push(" ".repeat(1_000_000));
    texts.push(format!("a{}", "\u{301}".repeat(300_000)));
    texts.push("\0".repeat(100_000));
    texts.push("😀".repeat(16_384));
    texts
}

/// Returns a value with every type in it, and numbers that are often read back as others.
pub(crate) fn metadata() -> Map<String, Value> {
    let mut deep = json!({"end": true});
    for _ in 0..28 {
        deep = json!({ "in": [deep] });
    }
    let numbers = json!([
        0,
        -0.0,
        0.1,
        1.0,
        1e308,
        5e-324,
        33e-60,
        1e23,
        i64::MIN,
        i64::MAX,
        u64::MAX,
        9_007_199_254_740_993_i64
    ]);
    let mut map = Map::new();
    let values = [
        ("numbers", numbers),
        ("deep", deep),
        ("nothing", Value::Null),
        ("flags", json!([true, false])),
        ("empty", json!({"list": [], "map": {}, "text": ""})),
        ("order", json!({"b": 1, "a": 2, "é": 3, "": 4, "B": 5})),
        ("", json!("a key without letters")),
        ("__proto__", json!({"$where": 1, "_id": 2})),
        ("a.b[0]->>'c' \"d\" {{e}} \\ \0 %", json!("a key of signs")),
    ];
    map.extend(values.map(|(key, value)| (key.to_owned(), value)));
    map.extend((0..1_000).map(|number| (format!("key {number}"), json!(number))));
    map
}

/// Returns messages that hold between them every block, every field, and every text and value above.
pub(crate) fn messages() -> Vec<Message> {
    let at = Timestamp(1_767_268_800_000_000);
    let mut messages: Vec<_> = texts().into_iter().map(|text| Message::new(Role::User, text, at)).collect();
    messages.push(Message::of_blocks(Role::Assistant, Vec::new(), at));
    messages.push(Message::of_blocks(Role::Assistant, blocks(), at));
    messages.push(Message::of_blocks(Role::Tool, vec![Block::tool_result("", blocks())], at));
    let roles = [Role::System, Role::Developer, Role::User, Role::Assistant, Role::Tool, Role::Function];
    messages.extend(roles.map(|role| Message::new(role, role.name(), at)));
    let times = [i64::MIN, -210_866_803_200_000_000, -1, 0, 4_102_444_800_000_000, i64::MAX];
    messages.extend(times.map(|at| Message::new(Role::User, "when", Timestamp(at))));
    for form in [Form::Parts, Form::Null] {
        messages.push(Message { form, ..Message::new(Role::Assistant, "shaped", at) });
    }
    for trust in [Trust::Untrusted, Trust::Tool, Trust::Assistant, Trust::User, Trust::System] {
        messages.push(Message { trust, ..Message::new(Role::User, "trusted", at) });
    }
    messages.push(full(at));
    // As large as the limits allow, but for its own overhead.
    messages.push(Message::new(Role::User, "x".repeat((4 << 20) - 1_024), at));
    messages
}

/// Returns a message with every field set.
fn full(at: Timestamp) -> Message {
    let span = SessionId::new("a.b:c\0").map(|session| ItemId::Span(session, u32::MAX));
    let mut sources = vec![ItemId::Message(MessageId::fresh()), ItemId::Record(RecordId::fresh())];
    sources.extend(span);
    Message {
        speaker: Some("O'Brien \"\\\0\u{202e}".to_owned()),
        origin: Some("import:\n'chat'".to_owned()),
        sources,
        metadata: metadata(),
        extra: metadata(),
        aside: blocks(),
        ..Message::new(Role::User, "everything", at)
    }
}

/// Returns a block of every kind.
fn blocks() -> Vec<Block> {
    let extra = metadata();
    let value = json!({"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA", "detail": null}});
    let (id, name, arguments) = ("call \0 1".to_owned(), "look up".to_owned(), "{not json".to_owned());
    vec![
        Block::text("plain"),
        Block::text(""),
        Block::Text { text: "marked".to_owned(), extra: extra.clone() },
        Block::Refusal { text: "no\0".to_owned(), is_piece: true, extra: extra.clone() },
        Block::Reasoning { text: "because".to_owned(), field: "thinking".to_owned(), extra: extra.clone() },
        Block::ToolCall { id: id.clone(), name, arguments, extra: extra.clone() },
        Block::tool_result(id.clone(), vec![Block::text("found"), Block::Media { value: value.clone() }]),
        Block::ToolResult { id, content: Vec::new(), form: Form::Null, extra },
        Block::Media { value },
        Block::Other { slot: Slot::Content, value: json!({"type": "hologram", "z": [1, {"y": -0.0}]}) },
        Block::Other { slot: Slot::ToolCalls, value: Value::Null },
    ]
}
