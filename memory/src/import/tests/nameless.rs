//! The sessions of conversations that have no name.

use std::fs;
use std::sync::Arc;

use serde_json::{Value, json};

use super::{items, items_from, source, told};
use crate::import::files::read_all;
use crate::import::queue::queue;

/// Returns a conversation of these messages, printed for people.
fn printed(texts: &[&str]) -> String {
    let messages: Vec<Value> = texts.iter().map(|text| json!({"role": "user", "content": text})).collect();
    serde_json::to_string_pretty(&json!({"messages": messages})).unwrap()
}

/// Returns the sessions of what is read.
fn sessions(text: &str) -> Vec<String> {
    let mut sessions: Vec<String> =
        told(&items(text)).iter().map(|told| told.split(' ').nth(1).unwrap().to_owned()).collect();
    sessions.dedup();
    sessions
}

#[test]
fn a_conversation_is_named_by_the_line_that_it_begins_on_and_keeps_the_name_when_it_grows() {
    let (short, long) = (printed(&["a"]), printed(&["a", "b", "c"]));
    for text in [&short, &long] {
        assert_eq!(sessions(text), ["file/1"], "{text}");
        assert_eq!(sessions(&format!("\n\n{text}")), ["file/3"], "{text}");
        // Behind another one, in a list, and in a list behind its bracket.
        let behind = 1 + short.lines().count();
        assert_eq!(sessions(&format!("{short}\n{text}")), ["file/1".to_owned(), format!("file/{behind}")]);
        assert_eq!(sessions(&format!("[\n{short},\n{text}\n]")), ["file/2".to_owned(), format!("file/{}", behind + 1)]);
        assert_eq!(sessions(&format!("[{text}]")), ["file/1"]);
    }
    let line = json!({"messages": [{"role": "user", "content": "a"}]});
    assert_eq!(sessions(&format!("{line}\n{line}\n")), ["file/1", "file/2"]);
    assert_eq!(sessions(&format!("[{line},\n{line}]")), ["file/1", "file/2"]);
}

#[test]
fn an_element_behind_one_that_is_too_long_is_named_by_its_own_line() {
    let long = json!({"messages": [{"role": "user", "content": "x".repeat(super::LONGEST)}]});
    let text = format!("[\n{long},\n\n{}]", printed(&["a"]));
    let told = told(&items(&text));
    assert!(told.last().unwrap().contains(" file/4 user a"), "{told:?}");
}

#[test]
fn a_session_that_is_given_names_conversations_without_a_name_too() {
    let given = source().naming_conversations();
    let line = |text: &str| json!({"messages": [{"role": "user", "content": text}]}).to_string();
    let named = json!({"id": "own", "messages": [{"role": "user", "content": "c"}]});
    let text = [line("a"), named.to_string(), line("b"), line("a")].join("\n");
    let expected = ["1 chat_history user a", "2 own user c", "3 chat_history.2 user b", "4 chat_history.3 user a"];
    assert_eq!(told(&items_from(text.as_bytes(), &given)), expected);
    // Of several files too, each conversation is a session.
    let folder = tempfile::tempdir().unwrap();
    let paths = ["a.json", "b.json"].map(|name| folder.path().join(name));
    paths.iter().for_each(|path| fs::write(path, printed(&["a"])).unwrap());
    for _ in 0..2 {
        let (sink, mut items) = queue(100);
        read_all(&paths, &given, &Arc::default(), &sink).unwrap();
        drop(sink);
        let items: Vec<_> = std::iter::from_fn(|| items.blocking_next()).collect();
        let told = told(&items);
        assert!(told[1].ends_with(" chat_history user a") && told[3].ends_with(" chat_history.2 user a"), "{told:?}");
    }
}
