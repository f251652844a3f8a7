use serde_json::json;

use super::*;
use crate::time::Timestamp;

fn row(message: Message) -> StoredMessage {
    StoredMessage::of_tests(1, 1, message)
}

fn of_blocks(role: Role, blocks: Vec<Block>) -> StoredMessage {
    row(Message::of_blocks(role, blocks, Timestamp(0)))
}

fn piece(value: Value) -> Block {
    Block::Other { slot: Slot::Content, value }
}

fn call(id: &str) -> Block {
    Block::ToolCall { id: id.into(), name: "f".into(), arguments: "{}".into(), extra: Default::default() }
}

fn result(id: &str) -> Block {
    Block::tool_result(id, vec![Block::text("found")])
}

#[test]
fn pieces_that_nobody_knows_leave_a_message_where_it_is() {
    for blocks in [vec![piece(json!({ "type": "image", "id": "a" }))], vec![call("a"), result("a")]] {
        assert_eq!(Standing::of(&of_blocks(Role::User, blocks.clone())), Standing::Start);
        assert_eq!(Standing::of(&of_blocks(Role::Assistant, blocks)), Standing::Reply);
    }
}

#[test]
fn calls_and_results_are_known_in_each_dialect() {
    let tool_use = piece(json!({ "type": "tool_use", "id": "a" }));
    let tool_result = piece(json!({ "type": "tool_result", "tool_use_id": "a" }));
    let custom = |value: Value| Block::Other { slot: Slot::ToolCalls, value };
    for (block, expected) in [
        (call("a"), Standing::Call(vec![Some("a")])),
        (tool_use, Standing::Call(vec![Some("a")])),
        (custom(json!({ "id": "a" })), Standing::Call(vec![Some("a")])),
        (custom(json!({ "name": "f" })), Standing::Call(vec![None])),
        (result("a"), Standing::Result(vec![Some("a")])),
        (tool_result, Standing::Result(vec![Some("a")])),
    ] {
        assert_eq!(Standing::of(&of_blocks(Role::Assistant, vec![block])), expected);
    }
}

#[test]
fn who_speaks_calls_and_answers_is_told_by_what_a_message_holds() {
    let (words, blank) = (|| Block::text("words"), || Block::text(" "));
    for (role, blocks, expected) in [
        (Role::User, vec![words()], [true, false, false]),
        (Role::Assistant, vec![words()], [true, false, false]),
        (Role::System, vec![words()], [false, false, false]),
        (Role::Assistant, vec![words(), call("a")], [false, true, false]),
        (Role::Tool, vec![result("a")], [false, false, true]),
        (Role::User, vec![result("a"), words()], [true, false, true]),
        (Role::User, vec![result("a"), blank()], [false, false, true]),
        (Role::User, vec![result("a")], [false, false, true]),
        (Role::Assistant, vec![result("a"), words()], [false, false, true]),
    ] {
        let row = of_blocks(role, blocks.clone());
        let message = row.message.as_deref().unwrap();
        assert_eq!([speaks(&row), makes_calls(message), answers_calls(message)], expected, "{role:?} {blocks:?}");
    }
}

#[test]
fn only_an_assistant_makes_the_legacy_call() {
    let of = |role: Role| {
        let mut message = Message::new(role, "words", Timestamp(0));
        message.extra.insert("function_call".to_owned(), json!({ "name": "f", "arguments": "{}" }));
        row(message)
    };
    assert_eq!(Standing::of(&of(Role::Assistant)), Standing::Call(vec![None]));
    assert_eq!(Standing::of(&of(Role::User)), Standing::Start);
    assert_eq!(Standing::of(&of(Role::Function)), Standing::Result(vec![None]));
}

#[test]
fn what_stands_aside_unfolds_if_its_calls_and_results_answer_one_another() {
    let can =
        |role: Role, aside: Vec<Block>| can_unfold(&Message { aside, ..Message::new(role, "words", Timestamp(0)) });
    for (aside, expected) in [
        (vec![], false),
        (vec![Block::text("thoughts")], true),
        (vec![call("a"), result("a")], true),
        (vec![call("a"), call("b"), result("b"), result("a")], true),
        (vec![call("a")], false),
        (vec![result("a")], false),
        (vec![call("a"), result("b")], false),
        (vec![call("a"), call("b"), result("a")], false),
    ] {
        assert_eq!(can(Role::Assistant, aside.clone()), expected, "{aside:?}");
        assert!(!can(Role::Tool, aside));
    }
}
