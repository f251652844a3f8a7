//! Where something stands that cannot be taken: its line, its element, its message, and the title of its conversation.

use serde_json::{Value, json};

use super::{Item, chatgpt, items, items_of, told};
use crate::import::Format;

/// Returns `line, place within it: why` of each rejection.
fn placed(items: &[Item]) -> Vec<String> {
    let rejected = items.iter().filter_map(|item| match item {
        Item::Rejected { line, within, why } => Some(format!("{line}, {within}: {why}")),
        _ => None,
    });
    rejected.collect()
}

fn said(content: &str) -> Value {
    json!({"role": "user", "content": content})
}

#[test]
fn a_conversation_of_a_list_on_one_line_is_told_by_its_number_and_title() {
    let mut nameless = chatgpt();
    for member in ["id", "title"] {
        nameless[member] = Value::Null;
    }
    let list = json!([chatgpt(), {"title": "Bread", "id": "c-2"}, 7, nameless]);
    let expected = [
        "1, element 2: Bread is not a conversation of ChatGPT: it has no mapping",
        "1, element 3: not a conversation of ChatGPT: it has no mapping",
        "1, element 4: the conversation has neither an id nor a title",
    ];
    assert_eq!(placed(&items(&list.to_string())), expected);
    let claude = json!([{"name": "Bread", "uuid": "c-1", "chat_messages": []}, {"name": "Soup", "uuid": "c-2"}]);
    let why = "1, element 2: Soup is not a conversation of Claude: it has no chat_messages";
    assert_eq!(placed(&items(&claude.to_string())), [why]);
}

#[test]
fn a_message_of_a_conversation_is_told_by_its_number_and_its_title() {
    let mut odd = chatgpt();
    odd["mapping"]["new"]["message"]["author"]["role"] = json!("nobody");
    let why = "1, element 1, message 3: node new of Sums (conv-1) has no role that is known";
    assert_eq!(placed(&items(&json!([odd]).to_string())), [why]);
    let mut long = chatgpt();
    long["mapping"]["new"]["message"]["content"]["parts"] = json!(["x".repeat(5 << 20)]);
    let told = placed(&super::items_from(json!([long]).to_string().as_bytes(), &super::whole_source()));
    assert!(told[0].starts_with("1, element 1, message 3: the message has "), "{told:?}");
    assert!(told[0].ends_with(", in the conversation Sums"), "{told:?}");
    let lines = [json!({"id": "x", "messages": [said("a"), 7]}), json!({"role": "nobody", "content": "a"})];
    let expected = ["1, message 2: not a message: it is no JSON object", "2, : a chat message has an unknown role"];
    assert_eq!(placed(&items(&lines.map(|line| line.to_string()).join("\n"))), expected);
}

#[test]
fn a_message_of_claude_is_told_by_its_place_in_the_file_not_in_the_branch() {
    let said = |id: &str, parent: &str, sender: &str| json!({"uuid": id, "parent_message_uuid": parent, "sender": sender, "text": id});
    let root = "00000000-0000-4000-8000-000000000000";
    let messages = [said("a", root, "human"), said("b", "a", "assistant"), said("c", "a", "nobody")];
    let list = json!([{"name": "Bread", "uuid": "c-1", "current_leaf_message_uuid": "c", "chat_messages": messages}]);
    let why = "1, element 1: message 3 of Bread (c-1) has no sender that is known";
    assert_eq!(placed(&items(&list.to_string())), [why]);
}

#[test]
fn a_conversation_without_a_name_is_its_own_also_where_others_stand_on_its_line() {
    let list = json!([{"messages": [said("a")]}, {"messages": [said("a")]}, {"messages": [said("b")]}]);
    let expected = ["1 file/1 user a", "1 file/1.2 user a", "1 file/1.3 user b"];
    assert_eq!(told(&items(&list.to_string())), expected);
    let ids: Vec<_> = super::messages(&items(&list.to_string())).iter().map(|message| message.id).collect();
    assert!(ids[0] != ids[1]);
}

#[test]
fn a_file_whose_first_conversation_is_broken_is_told_by_the_others() {
    let list = json!([{"title": "Bread"}, {}, chatgpt()]);
    let told = items(&list.to_string());
    let expected = [
        "1, element 1: Bread is not a conversation of ChatGPT: it has no mapping",
        "1, element 2: not a conversation of ChatGPT: it has no mapping",
    ];
    assert_eq!(placed(&told), expected);
    assert_eq!(super::messages(&told).len(), 3);
    let lines = format!("{{\"a\":1}}\n{}\n", said("kept"));
    assert_eq!(placed(&items(&lines)), ["1, : not a message: it has no role and no messages"]);
    // Elements of no format at all are refused, however many there are.
    let unknown = items(&"{}\n".repeat(250));
    assert_eq!(unknown.len(), 250);
    assert!(told_all(&unknown, "not a format that is known"));
}

fn told_all(items: &[Item], why: &str) -> bool {
    placed(items).iter().enumerate().all(|(index, told)| *told == format!("{}, : {why}", index + 1))
}

#[test]
fn a_mistake_in_json_is_told_where_it_stands_not_where_reading_ended() {
    let broken = "not JSON from here on: it is not well formed";
    let good = said("a");
    for (text, expected) in [
        // A line ends within a text, and blank lines follow.
        (
            format!("[{good},\n{{\"role\":\"user\",\"content\":\"a\n\n\n\"}}]"),
            format!("2, element 2: {broken} at the end of the line"),
        ),
        (format!("[{good},\n nul\n\n\n]"), format!("2, element 2: {broken} at the end of the line")),
        (format!("[\n{good}\n{good}]"), format!("3, element 2: {broken} at column 1")),
        (format!("[{good}]\n{good}\n"), format!("2, : {broken} at column 1")),
        ("{\n\"role\": nobody\n}".to_owned(), format!("2, : {broken} at column 10")),
        ("{\n\n\n\"role\": nobody\n}".to_owned(), format!("4, : {broken} at column 10")),
        (format!("[{good},\n"), "1, element 2: not JSON from here on: it ends too soon".to_owned()),
        (format!("[{good}, {{\"role\""), "1, element 2: not JSON from here on: it ends too soon".to_owned()),
        (format!("[{good},\n7\n]"), "2, element 2: not a message: it is no JSON object".to_owned()),
    ] {
        assert_eq!(placed(&items(&text)), [expected], "{text}");
    }
    let latin = [b"[\n{\"role\":\"user\",\"content\":\"caf".as_slice(), b"\xe9\"}]"].concat();
    let told = placed(&items_of(latin.as_slice(), None));
    assert!(told[0].starts_with("2, element 1: not JSON from here on: it is not UTF-8 at column "), "{told:?}");
}

#[test]
fn an_export_that_is_cut_is_told_at_its_last_line_whether_that_has_an_end_or_not() {
    let head = "{\"memory_export\":1,\"tenant\":\"acme\",\"subject\":\"ada\"}";
    for end in ["", "\n"] {
        let text = format!("{head}\n{{\"row\":{{}}}}\n{{\"row\":{{}}}}{end}");
        let told = placed(&items_of(text.as_bytes(), Some(Format::Export)));
        assert_eq!(told.last().unwrap(), "3, : the export ends too soon: its last line is missing");
    }
}
