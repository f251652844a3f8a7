use proptest::collection::{btree_map, vec};
use proptest::option;
use proptest::prelude::*;
use serde_json::{Map, Value, json};

use super::conversation;
use super::write::plain;
use crate::error::Error;
use crate::id::MessageId;
use crate::message::{Block, Defaults, Form, Message, Role, Trust};
use crate::time::Timestamp;

fn defaults() -> Defaults {
    Defaults { id: MessageId::of_content(b"id"), at: Timestamp(7) }
}

fn read(value: &Value) -> Message {
    Message::from_openai(value, defaults()).unwrap()
}

fn any_json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
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

/// Members that no chat message defines, the empty name and names of neighbours among them.
fn unknown() -> BoxedStrategy<Map<String, Value>> {
    let name = prop_oneof!["x_[a-z]{0,2}", Just(String::new()), Just("index".to_owned()), Just("audio".to_owned())];
    btree_map(name, any_json(), 0..3).prop_map(|map| map.into_iter().collect()).boxed()
}

fn with(members: Value, unknown: Map<String, Value>) -> Value {
    let Value::Object(mut all) = members else { panic!("an object") };
    all.extend(unknown);
    Value::Object(all)
}

fn piece() -> impl Strategy<Value = Value> {
    let known = prop_oneof![
        ".{0,8}".prop_map(|text| json!({ "type": "text", "text": text })),
        ".{0,8}".prop_map(|text| json!({ "type": "refusal", "refusal": text })),
        ".{0,8}".prop_map(|text| json!({ "type": "input_text", "text": text })),
        ".{0,8}".prop_map(|text| json!({ "type": "output_text", "text": text, "annotations": [] })),
        ".{0,8}".prop_map(|url| json!({ "type": "image_url", "image_url": { "url": url, "detail": "low" } })),
        ".{0,8}".prop_map(|data| json!({ "type": "input_audio", "input_audio": { "data": data } })),
        any_json().prop_map(|value| json!({ "type": "x_new", "text": value })),
        any_json()
            .prop_map(|value| json!({ "type": value, "x": 1 }))
            .prop_filter("a known type", |piece| { !["text", "refusal"].iter().any(|known| piece["type"] == *known) }),
    ];
    (known, unknown()).prop_map(|(piece, unknown)| with(piece, unknown))
}

fn call() -> impl Strategy<Value = Value> {
    let text = || ".{0,6}";
    let function = (text(), text(), unknown())
        .prop_map(|(name, words, unknown)| with(json!({ "name": name, "arguments": words }), unknown))
        .boxed();
    let custom = (text(), text(), unknown())
        .prop_map(|(name, words, unknown)| with(json!({ "name": name, "input": words }), unknown))
        .boxed();
    let known = prop_oneof![
        (text(), function.clone())
            .prop_map(|(id, function)| json!({ "id": id, "type": "function", "function": function })),
        (text(), function.clone()).prop_map(|(id, function)| json!({ "id": id, "function": function })),
        (text(), custom.clone()).prop_map(|(id, custom)| json!({ "id": id, "type": "custom", "custom": custom })),
        (text(), function, custom)
            .prop_map(|(id, f, c)| json!({ "id": id, "type": "custom", "custom": c, "function": f })),
        Just(json!({ "function": { "name": "f", "arguments": { "a": 1 } } })),
        any_json().prop_map(|value| json!({ "type": "x_search", "id": value })),
        Just(json!({ "id": "c", "type": null, "function": { "name": "f", "arguments": "" } })),
    ];
    (known, unknown()).prop_map(|(call, unknown)| with(call, unknown))
}

fn role() -> impl Strategy<Value = &'static str> {
    prop::sample::select(&["system", "developer", "user", "assistant", "tool", "function"][..])
}

fn chat_message() -> impl Strategy<Value = Value> {
    let maybe_text = || prop_oneof![Just(Value::Null), ".{0,8}".prop_map(Value::from)];
    let content = prop_oneof![maybe_text(), vec(piece(), 0..4).prop_map(Value::from)];
    let calls = prop_oneof![Just(Value::Null), vec(call(), 0..3).prop_map(Value::from)];
    let members = (
        option::of(content),
        option::of(maybe_text()),
        option::of(maybe_text()),
        option::of(maybe_text()),
        option::of(prop_oneof![maybe_text(), any_json()]),
        option::of(calls),
        option::of(any_json()),
    );
    let names = ["content", "name", "refusal", "tool_call_id", "reasoning", "tool_calls", "function_call"];
    (role(), members, option::of(maybe_text()), unknown()).prop_map(move |(role, members, thoughts, unknown)| {
        let (content, name, refusal, answered, reasoning, calls, function) = members;
        let mut all = unknown;
        all.insert("role".to_owned(), role.into());
        let values = [content, name, refusal, answered, reasoning, calls, function, thoughts];
        for (name, value) in names.into_iter().chain(["reasoning_content"]).zip(values) {
            if let Some(value) = value {
                all.insert(name.to_owned(), value);
            }
        }
        Value::Object(all)
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn chat_json_comes_back_as_it_went_in(value in chat_message()) {
        let message = read(&value);
        prop_assert_eq!(&message.to_openai(), &value);
        prop_assert_eq!(&read(&message.to_openai()), &message);
        if let Some(plain) = plain(&message) {
            prop_assert_eq!(json!(plain), plain.value());
            prop_assert_eq!(plain.value(), value);
        }
    }

    #[test]
    fn stored_bytes_keep_what_chat_json_said(value in chat_message()) {
        let message = read(&value);
        prop_assert_eq!(Message::decode("test", &message.encode()).unwrap().to_openai(), value);
    }

    #[test]
    fn any_value_is_read_or_refused_and_never_changed(value in any_json(), role in role(), members in unknown()) {
        let odd = with(json!({ "role": role, "content": value, "tool_calls": value, "tool_call_id": value }), members);
        match Message::from_openai(&odd, defaults()) {
            Ok(message) => prop_assert_eq!(message.to_openai(), odd),
            Err(error) => prop_assert!(error.to_string().starts_with("invalid call")),
        }
    }
}

#[test]
fn known_members_become_blocks() {
    let message = read(&json!({
        "role": "assistant", "name": "ada", "content": "Let me see.", "reasoning_content": "hm", "refusal": null,
        "tool_calls": [
            { "id": "c1", "type": "function", "function": { "name": "find", "arguments": "{}", "strict": true } },
            { "id": "c2", "type": "custom", "custom": { "name": "run", "input": "ls" } },
        ],
    }));
    assert_eq!(message.role, Role::Assistant);
    assert_eq!(message.trust, Trust::Assistant);
    assert_eq!(message.speaker.as_deref(), Some("ada"));
    assert_eq!(message.calls().collect::<Vec<_>>(), ["c1", "c2"]);
    assert_eq!(message.text(), "Let me see.\nfind {}\nrun ls");
    assert_eq!(message.extra.keys().collect::<Vec<_>>(), ["refusal"]);
    assert!(message.blocks.iter().any(|block| matches!(block, Block::Reasoning { text, .. } if text == "hm")));
    assert_eq!((message.id, message.at), (defaults().id, defaults().at));
}

#[test]
fn the_words_of_the_responses_form_are_read_and_come_back_as_they_went_in() {
    for kind in ["input_text", "output_text"] {
        let value = json!({ "role": "user", "content": [{ "type": kind, "text": "Where is it?", "annotations": [] }] });
        let message = read(&value);
        assert_eq!((message.text().as_str(), message.to_openai()), ("Where is it?", value));
        assert_eq!(conversation([&message].into_iter()), [json!({ "role": "user", "content": "Where is it?" })]);
    }
}

#[test]
fn a_tool_message_answers_its_call() {
    let message = read(&json!({ "role": "tool", "tool_call_id": "c1", "content": [{ "type": "text", "text": "42" }] }));
    assert_eq!(message.results().collect::<Vec<_>>(), ["c1"]);
    assert_eq!(message.text(), "42");
}

#[test]
fn the_four_ways_to_say_nothing_stay_apart() {
    let nothing = [json!({ "role": "assistant" }), json!({ "role": "assistant", "content": null })];
    let empty = [json!({ "role": "assistant", "content": "" }), json!({ "role": "assistant", "content": [] })];
    let forms: Vec<_> =
        nothing.iter().chain(&empty).map(|value| (read(value).form, read(value).blocks.len())).collect();
    assert_eq!(forms, [(Form::Plain, 0), (Form::Null, 0), (Form::Plain, 1), (Form::Parts, 0)]);
    for value in nothing.iter().chain(&empty) {
        assert_eq!(read(value).to_openai(), *value);
    }
}

#[test]
fn messages_made_by_hand_become_chat_json() {
    let said = Message::new(Role::User, "hi", Timestamp(0)).with_speaker("bo").to_openai();
    assert_eq!(said, json!({ "role": "user", "name": "bo", "content": "hi" }));
    let refusal = |text: &str| Block::Refusal { text: text.to_owned(), is_piece: false, extra: Map::new() };
    let two =
        Message::of_blocks(Role::Assistant, vec![refusal("no"), Block::text("a"), refusal("never")], Timestamp(0));
    let expected = json!({ "role": "assistant", "content": "a", "refusal": "no\nnever" });
    assert_eq!(two.to_openai(), expected);
    let blocks = vec![Block::tool_result("c", vec![Block::text("a"), Block::text("b")])];
    let pieces = json!([{ "type": "text", "text": "a" }, { "type": "text", "text": "b" }]);
    let answer = Message::of_blocks(Role::Tool, blocks, Timestamp(0)).to_openai();
    assert_eq!(answer, json!({ "role": "tool", "tool_call_id": "c", "content": pieces }));
}

#[test]
fn what_is_no_chat_message_is_invalid() {
    let call = |call: Value| json!({ "role": "assistant", "tool_calls": [call] });
    let function = |function: Value| call(json!({ "id": "c", "type": "function", "function": function }));
    let bad = [
        Value::Null,
        json!([]),
        json!("hi"),
        json!({}),
        json!({ "role": null }),
        json!({ "role": 1 }),
        json!({ "role": "User" }),
        json!({ "role": "user", "content": 1 }),
        json!({ "role": "user", "content": { "type": "text", "text": "a" } }),
        json!({ "role": "user", "content": ["a"] }),
        json!({ "role": "user", "content": [{ "type": "text" }] }),
        json!({ "role": "user", "content": [{ "type": "text", "text": 1 }] }),
        json!({ "role": "user", "content": "a", "name": 1 }),
        json!({ "role": "assistant", "refusal": true }),
        json!({ "role": "assistant", "tool_calls": {} }),
        json!({ "role": "tool", "content": "a", "tool_call_id": 1 }),
        call(json!("c")),
        call(json!({ "id": 1, "type": "function", "function": { "name": "f", "arguments": "" } })),
        function(json!("f")),
        function(json!({ "name": 1, "arguments": "" })),
        function(json!({ "name": "f", "arguments": 1 })),
    ];
    for value in bad {
        let error = Message::from_openai(&value, defaults()).unwrap_err();
        assert!(matches!(error, Error::Invalid { .. }), "{value}");
    }
}

#[test]
fn errors_hold_no_payload() {
    let secret = json!({ "role": "secret", "content": { "secret": "secret" }, "name": ["secret"] });
    for role in ["secret", "user"] {
        let value = with(secret.clone(), Map::from_iter([("role".to_owned(), role.into())]));
        assert!(!Message::from_openai(&value, defaults()).unwrap_err().to_string().contains("secret"));
    }
}
