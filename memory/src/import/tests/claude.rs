//! The export of Claude: its words, what stands aside, its branches, and what versions of it differ in.

use memory_core::{Block, Role, Timestamp};
use serde_json::{Value, json};

use super::{items, messages, told};

fn said(uuid: &str, parent: Option<&str>, sender: &str, content: &Value) -> Value {
    let mut message =
        json!({"uuid": uuid, "sender": sender, "content": content, "created_at": "2026-02-14T10:04:22.5Z"});
    if let Some(parent) = parent {
        message["parent_message_uuid"] = json!(parent);
    }
    message
}

fn text(text: &str) -> Value {
    json!([{"type": "text", "text": text}])
}

fn conversation(messages: &Value) -> String {
    json!([{"uuid": "c-1", "name": "Bread", "created_at": "2026-02-14T10:04:00Z", "chat_messages": messages}])
        .to_string()
}

#[test]
fn the_words_of_claude_are_kept_in_order_with_title_time_and_id() {
    let id = "018f0000-0000-7000-8000-000000000001";
    let file = conversation(&json!([
        said(id, None, "human", &text("How long?")),
        said("m-2", None, "assistant", &text("An hour."))
    ]));
    let items = items(&file);
    assert_eq!(told(&items), ["1 c-1 user How long?", "1 c-1 assistant An hour."]);
    let messages = messages(&items);
    assert_eq!((messages[0].id.to_string().as_str(), &messages[0].metadata["title"]), (id, &json!("Bread")));
    assert_eq!(messages[1].at, "2026-02-14T10:04:22.5Z".parse::<Timestamp>().unwrap());
    assert_eq!(messages[1].origin.as_deref(), Some("import:claude"));
}

#[test]
fn thoughts_calls_and_results_stand_aside_in_the_answer() {
    let content = json!([
        {"type": "thinking", "thinking": "Perhaps an hour."},
        {"type": "tool_use", "id": "toolu_1", "name": "search", "input": {"q": "dough"}},
        {"type": "tool_result", "tool_use_id": "toolu_1", "content": [{"type": "text", "text": "60 minutes"}]},
        {"type": "token_budget"},
        {"type": "text", "text": "An hour."}
    ]);
    let items = items(&conversation(&json!([said("m", None, "assistant", &content)])));
    assert_eq!(told(&items), ["1 c-1 assistant An hour."]);
    let aside = &messages(&items)[0].aside;
    assert!(matches!(&aside[0], Block::Reasoning { text, .. } if text == "Perhaps an hour."));
    let Block::ToolCall { id, name, arguments, .. } = &aside[1] else { panic!("{aside:?}") };
    assert_eq!((id.as_str(), name.as_str(), arguments.as_str()), ("toolu_1", "search", "{\"q\":\"dough\"}"));
    assert_eq!(aside[2], Block::tool_result("toolu_1", vec![Block::text("60 minutes")]));
}

#[test]
fn the_branch_that_ends_at_the_leaf_is_read_and_others_are_told() {
    let root = "00000000-0000-4000-8000-000000000000";
    let mut value: Value = serde_json::from_str(&conversation(&json!([
        said("q", Some(root), "human", &text("first")),
        said("old", Some("q"), "assistant", &text("not kept")),
        said("new", Some("q"), "assistant", &text("kept")),
        said("root 2", Some(root), "human", &text("asked anew")),
    ])))
    .unwrap();
    value[0]["current_leaf_message_uuid"] = json!("new");
    let without = "c-1 without messages of other branches";
    assert_eq!(told(&items(&value.to_string())), [without, without, "1 c-1 user first", "1 c-1 assistant kept"]);
    value[0]["current_leaf_message_uuid"] = Value::Null;
    assert_eq!(told(&items(&value.to_string()))[3], "1 c-1 user asked anew", "the newest leaf");
    value[0]["chat_messages"][0]["parent_message_uuid"] = json!("new");
    assert!(!items(&value.to_string()).is_empty(), "a circle ends");
}

#[test]
fn older_exports_with_text_alone_and_files_with_words_are_read() {
    let file = conversation(&json!([
        {"uuid": "a", "sender": "human", "text": "old words", "attachments": [
            {"file_name": "notes.txt", "extracted_content": "flour and salt"}, {"file_name": "scan.pdf"}
        ], "files": [{"file_kind": "image", "file_name": "loaf.png"}]},
        {"uuid": "b", "sender": "assistant", "text": ""},
        {"uuid": "c", "sender": "nobody", "text": "x"}
    ]));
    let expected = [
        "c-1 without files",
        "c-1 without images",
        "1 c-1 user old words\n[file: notes.txt]\nflour and salt\n[file: scan.pdf]\n[image: loaf.png]",
        "c-1 without empty messages",
        "1 ! message 3 of Bread (c-1) has no sender that is known",
    ];
    assert_eq!(told(&items(&file)), expected);
}

#[test]
fn what_is_too_large_to_stand_aside_is_left_out_and_the_words_stay() {
    let huge = json!([
        {"type": "tool_result", "content": "x".repeat(2 << 20)}, {"type": "thinking", "thinking": "short"},
        {"type": "text", "text": "An hour."}
    ]);
    let file = conversation(&json!([said("m", None, "assistant", &huge)]));
    let items = super::items_from(file.as_bytes(), &super::whole_source());
    assert_eq!(told(&items), ["c-1 without thoughts and tool results", "1 c-1 assistant An hour."]);
    let message = messages(&items)[0];
    assert_eq!((message.aside.len(), message.role), (1, Role::Assistant));
}

#[test]
fn a_conversation_of_the_wrong_types_is_refused_in_a_line_or_read_as_far_as_it_goes() {
    for odd in [json!(7), json!("x"), json!(null), json!({}), json!([[]]), json!([7, "x", null, {}])] {
        for file in
            [json!([{"uuid": "c", "chat_messages": odd}]), json!([{"uuid": odd, "name": odd, "chat_messages": []}])]
        {
            assert!(messages(&items(&file.to_string())).is_empty(), "{file}");
        }
        let file = conversation(
            &json!([{"uuid": odd, "sender": "human", "text": "x", "content": odd, "attachments": odd, "files": odd, "created_at": odd, "parent_message_uuid": odd}]),
        );
        assert_eq!(messages(&items(&file)).len(), 1, "{file}");
    }
}
