//! Members of chat JSON that a message of a model has not, pieces of content, and messages that say nothing.

use std::io::Cursor;

use memory_core::message::Slot;
use memory_core::{Block, Message, Role, Scope, SessionId};
use serde_json::{Map, Value, json};

use super::{items, messages, told, whole_source};
use crate::import::item::{Item, LeftOut};
use crate::import::{Import, Tally};

/// Returns what a model is sent of the only message of a line, and its metadata.
fn read(line: &Value) -> (Value, Value) {
    let items = items(&line.to_string());
    let messages = messages(&items);
    assert_eq!(messages.len(), 1, "{:?}", told(&items));
    (messages[0].to_openai(), Value::Object(messages[0].metadata.clone()))
}

#[test]
fn what_no_chat_message_has_is_kept_beside_it_and_no_model_is_sent_it() {
    let (sent, metadata) = read(&json!({
        "role": "user", "content": "hi", "id": "msg_001", "timestamp": 1_790_000_000, "created_at": "2026-09-21T14:13:20Z",
        "session": "o", "session_id": "p", "model": "gpt-4o", "parentId": null, "at": null, "metadata": {"tag": "x"},
    }));
    assert_eq!(sent, json!({"role": "user", "content": "hi"}));
    let expected =
        json!({"id": "msg_001", "timestamp": 1_790_000_000, "session_id": "p", "model": "gpt-4o", "tag": "x"});
    assert_eq!(metadata, expected);
    // What the metadata says itself stays.
    let (_, metadata) =
        read(&json!({"role": "user", "content": "hi", "model": "outer", "metadata": {"model": "inner"}}));
    assert_eq!(metadata, json!({"model": "inner"}));
    let (sent, metadata) = read(&json!({"role": "user", "content": "hi", "metadata": null}));
    assert_eq!((sent, metadata), (json!({"role": "user", "content": "hi"}), json!({})));
}

#[test]
fn the_members_of_a_chat_message_stay() {
    let call = json!({"id": "c", "type": "function", "function": {"name": "f", "arguments": "{}"}});
    let whole = json!({
        "role": "assistant", "content": "hm", "name": "ada", "refusal": null, "tool_calls": [call], "function_call": {"name": "f"},
        "audio": {"id": "a"}, "annotations": [], "reasoning": {"effort": "low"}, "reasoning_content": "why",
    });
    assert_eq!(read(&whole), (whole, json!({})));
    let answer = json!({
        "id": "msg_1", "type": "message", "role": "assistant", "model": "m", "stop_reason": "end_turn", "stop_sequence": null,
        "content": [{"type": "thinking", "thinking": "hm", "signature": "s"}, {"type": "text", "text": "Hello."}],
    });
    let items = items(&answer.to_string());
    let message = messages(&items)[0];
    assert_eq!(message.to_anthropic(), json!({"role": "assistant", "content": answer["content"]}));
    let metadata = json!({"id": "msg_1", "type": "message", "model": "m", "stop_reason": "end_turn"});
    assert_eq!(Value::Object(message.metadata.clone()), metadata);
}

#[test]
fn a_message_that_says_nothing_is_left_out_whatever_stands_beside_it() {
    let empty = [
        json!({"role": "assistant", "content": "", "session": "e", "id": "msg_2", "model": "gpt-4o"}),
        json!({"role": "assistant", "content": null, "session": "e", "refusal": null, "tool_calls": [], "annotations": []}),
        json!({"role": "user", "content": [{"type": "input_text", "text": " "}], "session": "e"}),
    ];
    for line in empty {
        assert_eq!(told(&items(&line.to_string())), ["e without empty messages"], "{line}");
    }
    let call = json!({"id": "c", "type": "function", "function": {"name": "f", "arguments": "{}"}});
    let speaking = [
        json!({"role": "assistant", "content": null, "tool_calls": [call]}),
        json!({"role": "assistant", "content": null, "refusal": "No."}),
        json!({"role": "assistant", "content": null, "audio": {"id": "a"}}),
        json!({"role": "assistant", "content": "", "function_call": {"name": "f", "arguments": "{}"}}),
        json!({"role": "tool", "content": "", "tool_call_id": "c"}),
    ];
    for line in speaking {
        assert_eq!(messages(&items(&line.to_string())).len(), 1, "{line}");
    }
}

#[test]
fn the_words_of_the_responses_form_are_read_and_pieces_of_an_unknown_kind_are_told() {
    let line = json!({"role": "user", "session": "r", "content": [
        {"type": "input_text", "text": "Where is my parcel?"}, {"type": "output_text", "text": "In Porto.", "annotations": []},
        {"type": "input_image", "image_url": "https://example.org/a.png"}, {"type": "image_url", "image_url": {"url": "x"}},
    ]});
    let items = items(&line.to_string());
    let expected = ["r without pieces of an unknown kind", "1 r user Where is my parcel?\nIn Porto."];
    assert_eq!(told(&items), expected);
    assert_eq!(messages(&items)[0].to_openai()["content"], line["content"]);
    let known = json!({"role": "assistant", "content": [
        {"type": "redacted_thinking", "data": "x"}, {"type": "text", "text": "Hello."},
        {"type": "server_tool_use", "id": "s", "name": "web_search", "input": {}},
    ]});
    assert_eq!(told(&super::items(&known.to_string())), ["1 chat_history assistant Hello."]);
    let result =
        json!({"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t", "content": [{"type": "new"}]}]});
    let is_told = |item: &Item| matches!(item, Item::LeftOut { what: LeftOut::UnknownPiece, .. });
    assert_eq!(super::items(&result.to_string()).iter().filter(|item| is_told(item)).count(), 1);
}

async fn import(memory: &crate::Memory, text: String) -> Tally {
    let ada = memory.of(&Scope::new("acme", "ada").unwrap());
    let mut import = Import::begin(ada, Cursor::new(text.into_bytes()), whole_source()).unwrap();
    while import.step().await.unwrap().is_some() {}
    import.finish()
}

#[tokio::test]
async fn what_an_earlier_version_stored_otherwise_is_found_again_and_stays_as_it_is() {
    let memory = crate::open("memory:").await.unwrap().build().await.unwrap();
    let piece = json!({"type": "input_text", "text": "Where is it?"});
    let id = "018f0000-0000-7000-8000-000000000001";
    let line = json!({
        "role": "user", "content": [piece], "session": "s", "id": id, "at": "2026-09-21T14:13:20Z", "model": "m", "title": "Parcels",
        "parentId": null, "metadata": {"tag": "x"},
    });
    let before = Block::Other { slot: Slot::Content, value: piece };
    let at = "2026-09-21T14:13:20Z".parse().unwrap();
    let mut before = Message::of_blocks(Role::User, vec![before], at).with_id(id.parse().unwrap());
    before.form = memory_core::message::Form::Parts;
    before.trust = memory_core::Trust::Untrusted;
    before.metadata = Map::from_iter([("tag".to_owned(), json!("x"))]);
    before.extra = Map::from_iter([
        ("model".to_owned(), json!("m")),
        ("parentId".to_owned(), Value::Null),
        ("title".to_owned(), json!("Parcels")),
    ]);
    let ada = memory.of(&Scope::new("acme", "ada").unwrap());
    ada.session(&SessionId::new("s").unwrap()).append(vec![before.clone()]).await.unwrap();
    let tally = import(&memory, line.to_string()).await;
    assert_eq!((tally.added, tally.already, tally.rejected), (0, 1, 0), "{:?}", tally.rejections);
    assert_eq!(ada.messages(&[before.id]).await.unwrap()[0].message.as_deref(), Some(&before));
    // A conversation that was branched off from it has an id of its own for it.
    let mut branch = line.clone();
    branch["session"] = json!("t");
    let tally = import(&memory, branch.to_string()).await;
    assert_eq!((tally.added, tally.rejected), (1, 0), "{:?}", tally.rejections);
    // Other words under the id are refused as ever.
    let mut other = line;
    other["content"] = json!("Here.");
    let tally = import(&memory, other.to_string()).await;
    assert_eq!((tally.added, tally.already, tally.rejected), (0, 0, 1));
}
