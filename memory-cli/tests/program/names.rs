//! Names and texts from files cannot steer a terminal; JSON says them as they are.

use serde_json::{Value, json};

use crate::support::{Answer, Bed, answer};

/// A name with what clears a screen, sets a title, begins a line and turns the direction of writing.
const NAME: &str = "s\u{1b}[2J\n\u{9b}2J\u{202e}gnp\u{2066}\u{200f}\u{2028}\u{1b}]0;pwn\u{7}";

fn is_steering(c: char) -> bool {
    let turns = matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{206f}' | '\u{2028}' | '\u{2029}');
    turns || (c.is_control() && c != '\n')
}

/// Asserts that nothing that was said steers a terminal, and that no line begins within a name. What is shown as it was said
/// has lines of its own.
fn check(what: &str, said: &Answer) {
    let Answer { stdout, stderr, .. } = said;
    for text in [stdout, stderr] {
        assert!(!text.chars().any(is_steering), "{what}: {text:?}");
        let has_bodies =
            what.contains("context") || what.contains("show") || what.contains("records") || what.contains("chat");
        assert!(has_bodies || !text.contains("\n\\u{9b}"), "{what}: {text:?}");
    }
}

fn said(session: &str, text: &str) -> String {
    let message =
        json!({ "session": session, "role": "user", "content": text, "name": NAME, "metadata": { NAME: NAME } });
    format!("{message}\n")
}

fn filled() -> Bed {
    let bed = Bed::new().of(NAME);
    bed.import(&(said(NAME, "one apple") + &said(NAME, &format!("two\npears {NAME}"))));
    bed.json(&["remember", &format!("apples {NAME}"), "--kind", NAME, "--tag", NAME]);
    bed
}

#[test]
fn nothing_from_data_steers_the_terminal() {
    let bed = filled();
    let commands: [&[&str]; 17] = [
        &["sessions"],
        &["sessions", NAME],
        &["records"],
        &["records", "--kind", NAME],
        &["owners"],
        &["show", NAME],
        &["stats"],
        &["search", "apple", "--explain"],
        &["search", ""],
        &["search", NAME, "--session", NAME, "--explain"],
        &["context", "apple", "--session", NAME],
        &["context", "pears", "--session", "s"],
        &["search", "x", "--session", NAME, "--filter", NAME],
        &["import", NAME],
        &["export", "--session", "gnp"],
        &["forget", "--session", &NAME[..9]],
        &[NAME],
    ];
    for args in commands {
        let answer = bed.run(args);
        check(&format!("{args:?}"), &answer);
        assert!(!(answer.stdout + &answer.stderr).is_empty());
    }
    let chat = bed.run_with(&["chat", "--session", NAME], format!("apple {NAME}\n/search apple\n/{NAME}\n").as_bytes());
    check("chat", &chat);
    let wrong = format!("{}{{\"session\": 7}}\n[{NAME}\n", said(NAME, "three"));
    check("import", &bed.run_with(&["import", "-"], wrong.as_bytes()));
    let titles =
        json!([{ "title": NAME, "conversation_id": NAME, "mapping": { NAME: { "id": NAME } }, "current_node": NAME }]);
    let file = bed.file("conversations.json", titles.to_string());
    check("chatgpt", &bed.run(&["import", &file]));
}

#[test]
fn what_was_said_keeps_its_lines() {
    let bed = filled();
    let words = bed.run(&["context", "--session", NAME]).stdout;
    assert!(words.contains("] two\npears s\\u{1b}[2J\n"), "{words}");
}

#[test]
fn json_says_names_as_they_are() {
    let bed = filled();
    assert_eq!(bed.json(&["sessions"])["sessions"][0]["session"], NAME);
    let found = bed.json(&["search", "pears"]);
    assert_eq!(
        (&found["hits"][0]["speaker"], &found["hits"][0]["text"]),
        (&json!(NAME), &json!(format!("two\npears {NAME}")))
    );
    assert_eq!(bed.json(&["stats"])["owner"]["subject"], NAME);
    let export = bed.run(&["export"]).stdout;
    let row: Value = serde_json::from_str(export.lines().nth(1).unwrap()).unwrap();
    assert_eq!(row["row"]["session"], NAME);
}

#[test]
fn an_export_with_such_names_is_imported_and_shown_safely() {
    let bed = Bed::new();
    let export = filled().run(&["export"]).stdout;
    let imported = answer(bed.command().args(["import", "--trust-roles", "-"]), export.as_bytes());
    assert_eq!(imported.code, 0, "{}", imported.stderr);
    for args in [&["sessions"][..], &["search", ""], &["search", "apple", "--explain"]] {
        check(&format!("{args:?}"), &bed.run(args));
    }
}
