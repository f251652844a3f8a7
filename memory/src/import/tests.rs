//! Each format from a small file of our own text, and files that are broken.

use std::io::Read;
use std::sync::Arc;

use memory_core::{Block, Role, Scope, Timestamp};
use serde_json::{Value, json};

use super::queue::queue;
use super::read::read;
use super::{Format, Item, Source};

mod branched;
mod broken;
mod changing;
mod claude;
mod counts;
#[cfg(feature = "sqlite")]
mod erased;
mod failed;
mod files;
#[cfg(feature = "sqlite")]
mod hostile;
mod members;
mod nameless;
mod places;
mod records;
mod together;
mod trust;

/// The longest line that the tests read.
const LONGEST: usize = 10_000;
const NOW: Timestamp = Timestamp(1_700_000_000_000_000);

fn items_of(input: impl Read, format: Option<Format>) -> Vec<Item> {
    items_from(input, &Source { format, ..source() })
}

fn items_from(input: impl Read, source: &Source) -> Vec<Item> {
    let (sink, mut items) = queue(100_000);
    let _ = read(input, source, &Arc::default(), &sink);
    drop(sink);
    std::iter::from_fn(|| items.blocking_next()).collect()
}

fn source() -> Source {
    Source { longest: LONGEST, ..whole_source() }
}

/// Returns a source whose lines may be as long as in a program.
fn whole_source() -> Source {
    Source::new(&Scope::new("acme", "ada").unwrap(), "chat_history", NOW).with_stem("file")
}

fn items(text: &str) -> Vec<Item> {
    items_of(text.as_bytes(), None)
}

/// Returns `line session role text` of each message, and `line ! why` of each rejection.
fn told(items: &[Item]) -> Vec<String> {
    let told = items.iter().map(|item| match item {
        Item::Message { line, session, message, .. } => {
            format!("{line} {session} {} {}", message.role.name(), message.text())
        }
        Item::Rejected { line, why, .. } => format!("{line} ! {why}"),
        Item::LeftOut { session, what, .. } => format!("{session} without {}", what.name()),
        Item::File { line, name } => format!("{line} file {name}"),
        Item::NoConversation { name } => format!("no conversation in {name}"),
        Item::Note(text) => format!("note {text}"),
        other => format!("{other:?}"),
    });
    told.collect()
}

fn messages(items: &[Item]) -> Vec<&memory_core::Message> {
    let messages = items.iter().filter_map(|item| match item {
        Item::Message { message, .. } => Some(message.as_ref()),
        _ => None,
    });
    messages.collect()
}

#[test]
fn reads_a_message_a_line_with_our_members_beside_the_standard_ones() {
    let id = "018f0000-0000-7000-8000-000000000001";
    let lines = [
        json!({"role": "user", "content": "one"}),
        json!({"role": "assistant", "content": "two", "session": "b", "at": "2024-05-01T00:00:00Z", "id": id}),
        json!({"role": "user", "content": "three", "created_at": 1_714_521_600.5, "metadata": {"tag": "x"}, "own": 1}),
    ];
    let text = lines.map(|line| line.to_string()).join("\r\n\n");
    let items = items(&text);
    assert_eq!(
        told(&items),
        ["1 chat_history user one", "3 b assistant two", "5 chat_history user three"].map(str::to_owned)
    );
    let messages = messages(&items);
    assert_eq!(messages[0].at, NOW);
    assert!(matches!(items[0], Item::Message { time_is_inferred: true, .. }));
    assert_eq!((messages[1].id.to_string().as_str(), messages[1].at), (id, "2024-05-01".parse().unwrap()));
    assert_eq!(messages[2].at, Timestamp(1_714_521_600_500_000));
    assert_eq!((messages[2].metadata["tag"].as_str(), messages[2].metadata["own"].as_i64()), (Some("x"), Some(1)));
}

#[test]
fn reads_conversations_a_line_and_messages_of_one_array() {
    let line = |name: Value| json!({"id": name, "messages": [{"role": "user", "content": "a"}, 7]}).to_string();
    let lines = format!("{}\n{}", line(json!("x")), line(Value::Null));
    let expected = [
        "1 x user a",
        "1 ! not a message: it is no JSON object",
        "2 file/2 user a",
        "2 ! not a message: it is no JSON object",
    ];
    assert_eq!(told(&items(&lines)), expected);
    let array = "[{\"role\":\"user\",\"content\":\"a\"},\n{\"role\":\"user\",\"content\":\"b\"}]";
    assert_eq!(told(&items(array)), ["1 chat_history user a", "2 chat_history user b"]);
    let printed = "\u{feff}\n{\n \"messages\": [\n {\"role\": \"user\", \"content\": \"a\"}]}\n";
    assert_eq!(told(&items(printed)), ["4 file/2 user a"]);
}

#[test]
fn a_conversation_that_is_named_by_a_number_is_kept_apart_from_others() {
    let said = |name: Value| json!({"role": "user", "content": "a", "conversation_id": name}).to_string();
    let lines = [json!(17), json!(4), Value::Null, json!(17.0)].map(said).join("\n");
    let expected = ["1 17 user a", "2 4 user a", "3 chat_history user a", "4 17 user a"];
    assert_eq!(told(&items(&lines)), expected);
    // A float this large may stand for several numbers.
    for name in [json!(1.5), json!(9_007_199_254_740_992.0), json!(true), json!([17])] {
        let refused = "1 ! the member conversation_id is no name: write a text or a whole number";
        assert_eq!(told(&items(&said(name))), [refused]);
    }
    let elsewhere = json!({"role": "user", "content": "a", "session": {"id": 1}, "session_id": "b"});
    assert_eq!(told(&items(&elsewhere.to_string())), ["1 b user a"]);
    let list = |member: &str| json!({member: 8, "messages": [{"role": "user", "content": "a"}]}).to_string();
    assert_eq!(told(&items(&list("session"))), ["1 8 user a"]);
    // Lines of a set are numbered in every file.
    assert_eq!(told(&items(&list("id"))), ["1 file/1 user a"]);
}

#[test]
fn the_same_file_gives_the_same_ids_and_equal_messages_different_ones() {
    let text = "{\"role\":\"user\",\"content\":\"a\"}\n".repeat(3);
    let (first, second) = (items(&text), items(&text));
    let ids = |items: &[Item]| messages(items).iter().map(|message| message.id).collect::<Vec<_>>();
    assert_eq!(ids(&first), ids(&second));
    let mut distinct = ids(&first);
    distinct.dedup();
    assert_eq!(distinct.len(), 3);
}

fn chatgpt() -> Value {
    let node = |id: &str, parent: Value, children: Value, message: Value| {
        (id.to_owned(), json!({"id": id, "parent": parent, "children": children, "message": message}))
    };
    let said = |role: &str, content: Value, at: f64| json!({"author": {"role": role}, "content": content, "create_time": at, "recipient": "all"});
    let text = |text: &str| json!({"content_type": "text", "parts": [text]});
    let image = json!({"content_type": "image_asset_pointer", "asset_pointer": "file://1"});
    let mut call = said("assistant", json!({"content_type": "code", "text": "1 + 1"}), 14.0);
    call["recipient"] = json!("python");
    call["id"] = json!("018f0000-0000-7000-8000-000000000009");
    let mut tool = said("tool", json!({"content_type": "execution_output", "text": "2"}), 15.0);
    tool["author"]["name"] = json!("python");
    let nodes = [
        node("root", Value::Null, json!(["sys"]), Value::Null),
        node("sys", json!("root"), json!(["q"]), said("system", text(""), 10.0)),
        node("q", json!("sys"), json!(["old", "new"]), said("user", json!({"parts": ["what is it?", image]}), 11.5)),
        node("old", json!("q"), json!([]), said("assistant", text("an answer not kept"), 12.0)),
        node("new", json!("q"), json!(["call"]), said("assistant", text("an answer"), 13.0)),
        node("call", json!("new"), json!(["tool"]), call),
        node("tool", json!("call"), json!([]), tool),
    ];
    let mapping: serde_json::Map<String, Value> = nodes.into_iter().collect();
    json!({"title": "Sums", "create_time": 9.0, "id": "conv-1", "current_node": "tool", "mapping": mapping})
}

#[test]
fn reads_the_branch_of_a_chatgpt_conversation_that_the_person_sees() {
    let items = items(&json!([chatgpt()]).to_string());
    let expected = [
        "conv-1 without messages of other branches",
        "conv-1 without images",
        "1 conv-1 user what is it?\n[image]",
        "1 conv-1 assistant an answer",
        "1 conv-1 assistant ",
    ];
    assert_eq!(told(&items), expected);
    let messages = messages(&items);
    assert_eq!(messages[0].at, Timestamp(11_500_000));
    assert_eq!(messages[0].metadata["title"], "Sums");
    assert_eq!(messages[0].metadata["assets"][0]["asset_pointer"], "file://1");
    let [Block::ToolCall { id, name, arguments, .. }, Block::ToolResult { id: answered, content, .. }] =
        messages[2].aside.as_slice()
    else {
        panic!("{:?}", messages[2].aside)
    };
    assert_eq!((name.as_str(), arguments.as_str(), id), ("python", "1 + 1", answered));
    assert_eq!(content.as_slice(), [Block::text("2")]);
}

#[test]
fn the_thoughts_and_tools_before_an_answer_of_chatgpt_stand_aside_in_it() {
    let mut value = chatgpt();
    let thoughts = json!({"content_type": "thoughts", "thoughts": [{"summary": "Adding", "content": "One and one."}]});
    let recap = json!({"content_type": "reasoning_recap", "content": "Thought for 3s"});
    let said = |content: Value| json!({"author": {"role": "assistant"}, "content": content, "create_time": 16, "recipient": "all"});
    for (id, parent, content) in
        [("t", "tool", thoughts), ("r", "t", recap), ("a", "r", json!({"content_type": "text", "parts": ["Two."]}))]
    {
        value["mapping"][id] = json!({"parent": parent, "message": said(content)});
    }
    value["current_node"] = json!("a");
    let items = items(&json!([value]).to_string());
    let messages = messages(&items);
    let last = messages.last().unwrap();
    assert_eq!((messages.len(), last.text().as_str(), last.aside.len()), (3, "Two.", 4));
    assert!(matches!(&last.aside[2], Block::Reasoning { text, .. } if text == "Adding\nOne and one."));
    assert!(matches!(&last.aside[3], Block::Reasoning { text, .. } if text == "Thought for 3s"));
}

#[test]
fn a_title_of_any_length_is_kept_to_its_beginning() {
    let mut value = chatgpt();
    value["title"] = json!("é".repeat(1 << 16));
    assert_eq!(
        messages(&items_from(json!([value]).to_string().as_bytes(), &whole_source()))[0].metadata["title"],
        "é".repeat(300)
    );
}

#[test]
fn a_chatgpt_conversation_without_a_current_node_ends_at_its_newest_leaf_and_a_circle_ends() {
    let mut value = chatgpt();
    value["current_node"] = Value::Null;
    assert_eq!(messages(&items(&json!([value]).to_string())).len(), 3);
    value["mapping"]["q"]["parent"] = json!("tool");
    assert_eq!(messages(&items(&json!([value]).to_string())).len(), 3);
}

fn locomo() -> Value {
    json!({
        "qa": [{"question": "q", "answer": "a", "evidence": ["D1:1"], "category": 1}],
        "conversation": {
            "speaker_a": "Ana", "speaker_b": "Ben",
            "session_10_date_time": "12:09 am on 13 September, 2023",
            "session_10": [{"speaker": "Ben", "dia_id": "D10:1", "text": "Later."}],
            "session_2_date_time": "1:56 pm on 8 May, 2023",
            "session_2": [
                {"speaker": "Ana", "dia_id": "D2:1", "text": "Look!", "blip_caption": "a photo of a boat"},
                {"speaker": "Ben", "dia_id": "D2:2", "text": "Nice."},
                {"speaker": "Ben", "dia_id": "D2:3"}
            ],
            "session_3": [{"speaker": "Ben", "dia_id": "D3:1", "text": "When?"}]
        },
        "sample_id": "conv-1"
    })
}

#[test]
fn reads_locomo_by_session_with_speakers_and_captions() {
    let items = items(&json!([locomo()]).to_string());
    let expected = [
        "1 conv-1/session_2 user Look! [shares a photo of a boat]",
        "1 conv-1/session_2 user Nice.",
        "1 ! turn 3 of conv-1/session_2 has no speaker or no text",
        "1 ! conv-1/session_3 has no date",
        "1 conv-1/session_10 user Later.",
    ];
    assert_eq!(told(&items), expected);
    let messages = messages(&items);
    assert_eq!(messages[0].speaker.as_deref(), Some("Ana"));
    assert_eq!(
        (&messages[0].metadata["dia_id"], &messages[0].metadata["caption"]),
        (&json!("D2:1"), &json!("a photo of a boat"))
    );
    assert_eq!(messages[1].at, "2023-05-08T13:56:01Z".parse().unwrap());
}

#[test]
fn reads_longmemeval_and_keeps_the_first_date_of_a_session_held_twice() {
    let turn = |role: &str, text: &str| json!({"role": role, "content": text, "has_answer": false});
    let question = |dates: [&str; 2]| {
        json!({
            "question_id": "1", "question": "q", "haystack_dates": dates, "haystack_session_ids": ["s1", "s2"],
            "haystack_sessions": [[turn("user", "hello"), turn("assistant", "hi")], [turn("user", "bye")]]
        })
    };
    let file = json!([
        question(["2023/05/20 (Sat) 02:21", "2023/05/21 (Sun) 10:00"]),
        question(["2023/05/20 (Sat) 02:21", "2023/06/01 (Thu) 10:00"])
    ]);
    let items = items(&file.to_string());
    let expected = [
        "1 s1 user hello",
        "1 s1 assistant hi",
        "1 s2 user bye",
        "note session s2 is in the file under two dates: 2023/05/21 (Sun) 10:00 stays, 2023/06/01 (Thu) 10:00 is left out",
        "s2 without repetitions under another date",
    ];
    assert_eq!(told(&items), expected);
    assert_eq!(messages(&items)[1].role, Role::Assistant);
    assert_eq!(messages(&items)[1].at, "2023-05-20T02:21:01Z".parse().unwrap());
}
