use proptest::collection::{btree_map, vec};
use proptest::option;
use proptest::prelude::*;
use serde_json::{Map, Value, json};

use super::conversation;
use crate::error::Error;
use crate::id::MessageId;
use crate::message::{Block, Defaults, Message, Role, Trust, to_openai};
use crate::time::Timestamp;

fn defaults() -> Defaults {
    Defaults { id: MessageId::of_content(b"id"), at: Timestamp(7) }
}

fn read(value: &Value) -> Message {
    Message::from_anthropic(value, defaults()).unwrap()
}

fn openai(value: &Value) -> Message {
    Message::from_openai(value, defaults()).unwrap()
}

fn any_json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<i64>().prop_map(Value::from),
        (-1e9..1e9).prop_map(|number: f64| json!(number)),
        ".{0,6}".prop_map(Value::from),
    ];
    leaf.prop_recursive(3, 12, 4, |inner| {
        prop_oneof![
            vec(inner.clone(), 0..4).prop_map(Value::from),
            btree_map("[a-z]{0,3}", inner, 0..4).prop_map(|map| map.into_iter().collect()),
        ]
    })
}

fn object() -> impl Strategy<Value = Value> {
    btree_map("[a-z]{0,3}", any_json(), 0..3).prop_map(|map| map.into_iter().collect())
}

fn unknown() -> impl Strategy<Value = Map<String, Value>> {
    let name = prop_oneof!["x_[a-z]{0,2}", Just("cache_control".to_owned()), Just("id".to_owned())];
    btree_map(name, any_json(), 0..2).prop_map(|map| map.into_iter().collect())
}

fn with(members: Value, unknown: Map<String, Value>) -> Value {
    let Value::Object(members) = members else { panic!("an object") };
    Value::Object(unknown.into_iter().chain(members).collect())
}

fn piece() -> impl Strategy<Value = Value> {
    let text = || ".{0,8}";
    let plain = prop_oneof![
        text().prop_map(|text| json!({ "type": "text", "text": text })),
        text().prop_map(|data| json!({ "type": "image", "source": { "type": "base64", "data": data } })),
        (text(), text()).prop_map(|(a, b)| json!({ "type": "thinking", "thinking": a, "signature": b })),
        (text(), object()).prop_map(|(id, input)| json!({ "type": "tool_use", "id": id, "name": "f", "input": input })),
        any_json().prop_map(|value| json!({ "type": "tool_use", "id": "a", "name": "f", "input": value })),
        any_json().prop_map(|value| json!({ "type": "redacted_thinking", "data": value })),
        any_json().prop_map(|value| json!({ "type": value, "text": value })),
        any_json(),
    ]
    .boxed();
    let inner = prop_oneof![
        Just(Value::Null),
        text().prop_map(Value::from),
        vec(plain.clone(), 0..3).prop_map(Value::from),
        any_json(),
    ];
    let result = (text(), option::of(inner)).prop_map(|(id, content)| {
        let mut result = Map::from_iter([("type".into(), json!("tool_result")), ("tool_use_id".into(), json!(id))]);
        result.extend(content.map(|content| ("content".to_owned(), content)));
        Value::Object(result)
    });
    let piece = prop_oneof![3 => plain, 1 => result];
    (piece, unknown()).prop_map(|(piece, unknown)| if piece.is_object() { with(piece, unknown) } else { piece })
}

fn message() -> impl Strategy<Value = Value> {
    let content = prop_oneof![".{0,8}".prop_map(Value::from), vec(piece(), 0..4).prop_map(Value::from)];
    let role = prop::sample::select(&["user", "assistant"][..]);
    (role, content, unknown())
        .prop_map(|(role, content, unknown)| with(json!({ "role": role, "content": content }), unknown))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn messages_come_back_as_they_went_in(value in message()) {
        let message = read(&value);
        prop_assert_eq!(&message.to_anthropic(), &value);
        prop_assert_eq!(Message::decode("test", &message.encode()).unwrap().to_anthropic(), value);
    }

    #[test]
    fn any_message_of_either_dialect_can_be_sent_in_the_other(value in message()) {
        for message in [Message::from_chat(&value, defaults()), Message::from_openai(&value, defaults())] {
            let Ok(message) = message else { continue };
            let request = conversation([&message].into_iter());
            prop_assert!(request["messages"].as_array().unwrap().iter().all(|turn| turn["content"].is_array()));
            let sent = to_openai([&message].into_iter());
            prop_assert!(sent.iter().all(|message| message["role"].is_string()));
        }
    }
}

#[test]
fn calls_results_and_thoughts_become_blocks() {
    let asked = read(&json!({ "role": "assistant", "content": [
        { "type": "thinking", "thinking": "hm", "signature": "sig" },
        { "type": "text", "text": "Let me see." },
        { "type": "tool_use", "id": "a", "name": "find", "input": { "x": 1 } },
    ] }));
    assert_eq!(asked.calls().collect::<Vec<_>>(), ["a"]);
    assert_eq!(asked.text(), "Let me see.\nfind {\"x\":1}");
    assert!(
        matches!(&asked.blocks[0], Block::Reasoning { text, extra, .. } if text == "hm" && extra["signature"] == "sig")
    );
    let answered = read(&json!({ "role": "user", "content": [
        { "type": "tool_result", "tool_use_id": "a", "content": "42", "is_error": true },
        { "type": "text", "text": "Well?" },
    ] }));
    assert_eq!(answered.results().collect::<Vec<_>>(), ["a"]);
    assert_eq!((answered.role, answered.text().as_str()), (Role::User, "42\nWell?"));
    assert_eq!(answered.trust, Trust::Tool, "what a tool said is not the person's");
}

#[test]
fn chat_json_is_read_in_the_dialect_that_it_is_written_in() {
    let own = json!({ "role": "user", "content": [{ "type": "tool_result", "tool_use_id": "a", "content": "42" }] });
    assert_eq!(Message::from_chat(&own, defaults()).unwrap(), read(&own));
    let plain = json!({ "role": "user", "content": [{ "type": "text", "text": "hi" }] });
    assert_eq!(Message::from_chat(&plain, defaults()).unwrap(), openai(&plain));
    let tool = json!({ "role": "tool", "tool_call_id": "a", "content": [{ "type": "image", "source": {} }] });
    assert_eq!(Message::from_chat(&tool, defaults()).unwrap(), openai(&tool));
}

#[test]
fn what_is_no_message_is_invalid() {
    for value in
        [json!(1), json!({ "role": "system", "content": "a" }), json!({ "role": "user" }), json!({ "content": "a" })]
    {
        assert!(matches!(Message::from_anthropic(&value, defaults()), Err(Error::Invalid { .. })), "{value}");
    }
}

#[test]
fn a_conversation_of_the_other_dialect_has_roles_in_turn_and_results_first() {
    let call =
        |id: &str| json!({ "id": id, "type": "function", "function": { "name": "f", "arguments": "{\"x\":1}" } });
    let talk = [
        json!({ "role": "system", "content": "be kind" }),
        json!({ "role": "user", "content": "one", "name": "Ada" }),
        json!({ "role": "user", "content": [{ "type": "image_url", "image_url": { "url": "data:image/png;base64,AA" } }] }),
        json!({ "role": "assistant", "content": null, "tool_calls": [call("a"), call("b.1")] }),
        json!({ "role": "tool", "tool_call_id": "b.1", "content": "beta" }),
        json!({ "role": "tool", "tool_call_id": "a", "content": "alpha" }),
        json!({ "role": "user", "content": "and?" }),
        json!({ "role": "assistant", "content": "  " }),
        json!({ "role": "assistant", "content": "done \n" }),
    ];
    let talk: Vec<Message> = talk.iter().map(openai).collect();
    let request = conversation(talk.iter());
    assert_eq!(request["system"], json!([{ "type": "text", "text": "be kind" }]));
    let calls = request["messages"][1]["content"].clone();
    let other = calls[1]["id"].as_str().unwrap().to_owned();
    assert!(other.starts_with("toolu_"), "{other}");
    let input = json!({ "x": 1 });
    assert_eq!(
        request["messages"],
        json!([
            { "role": "user", "content": [
                { "type": "text", "text": "Ada: one" },
                { "type": "image", "source": { "type": "base64", "media_type": "image/png", "data": "AA" } },
            ] },
            { "role": "assistant", "content": [
                { "type": "tool_use", "id": "a", "name": "f", "input": input },
                { "type": "tool_use", "id": other, "name": "f", "input": input },
            ] },
            { "role": "user", "content": [
                { "type": "tool_result", "tool_use_id": other, "content": "beta" },
                { "type": "tool_result", "tool_use_id": "a", "content": "alpha" },
                { "type": "text", "text": "and?" },
            ] },
            { "role": "assistant", "content": [{ "type": "text", "text": "done" }] },
        ])
    );
}

#[test]
fn only_an_assistant_makes_the_legacy_call() {
    let said = |role: &str| {
        let call = json!({ "name": "f", "arguments": "{}" });
        let message = openai(&json!({ "role": role, "content": "words", "function_call": call }));
        conversation([message].iter())["messages"].clone()
    };
    assert_eq!(said("assistant")[0]["content"][1]["type"], "tool_use");
    assert_eq!(said("user"), json!([{ "role": "user", "content": [{ "type": "text", "text": "words" }] }]));
}

#[test]
fn a_conversation_of_this_dialect_becomes_a_message_for_each_result() {
    let talk = [
        json!({ "role": "user", "content": [
            { "type": "text", "text": "look" },
            { "type": "image", "source": { "type": "url", "url": "https://example.org/a.png" } },
        ] }),
        json!({ "role": "assistant", "content": [
            { "type": "thinking", "thinking": "hm", "signature": "sig" },
            { "type": "text", "text": "I look." },
            { "type": "tool_use", "id": "a", "name": "f", "input": {}, "cache_control": { "type": "ephemeral" } },
            { "type": "tool_use", "id": "b", "name": "g", "input": { "x": [1] } },
        ] }),
        json!({ "role": "user", "content": [
            { "type": "tool_result", "tool_use_id": "b", "content": [{ "type": "text", "text": "beta" }] },
            { "type": "text", "text": "and?" },
            { "type": "tool_result", "tool_use_id": "a" },
        ] }),
    ];
    let talk: Vec<Message> = talk.iter().map(read).collect();
    let call = |id: &str, name: &str, arguments: &str| json!({ "id": id, "type": "function", "function": { "name": name, "arguments": arguments } });
    assert_eq!(
        Value::from(to_openai(talk.iter())),
        json!([
            { "role": "user", "content": [
                { "type": "text", "text": "look" },
                { "type": "image_url", "image_url": { "url": "https://example.org/a.png" } },
            ] },
            { "role": "assistant", "content": "I look.", "tool_calls": [call("a", "f", "{}"), call("b", "g", "{\"x\":[1]}")] },
            { "role": "tool", "tool_call_id": "b", "content": "beta" },
            { "role": "tool", "tool_call_id": "a", "content": "" },
            { "role": "user", "content": "and?" },
        ])
    );
    // And back in its own dialect, with what only that one knows.
    let request = conversation(talk.iter());
    assert_eq!(request["messages"][1]["content"], talk[1].to_anthropic()["content"]);
}
