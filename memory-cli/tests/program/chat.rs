//! A chat whose messages are JSON: with several lines, calls and results.

use serde_json::{Value, json};

use crate::support::Bed;

fn events(stdout: &str) -> Vec<Value> {
    stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn a_chat_takes_messages_with_several_lines_and_calls() {
    let bed = Bed::new();
    let id = "018f0000-0000-7000-8000-0000000000aa";
    let call = json!({"id": "c1", "type": "function", "function": {"name": "weather", "arguments": "{\"day\":1}"}});
    let lines = [
        json!({"role": "system", "content": "You help with the garden."}),
        json!({"role": "user", "content": "Two lines:\nshall I water the tomatoes?", "id": id, "at": "2025-03-02T10:01:00Z"}),
        json!({"role": "assistant", "content": null, "tool_calls": [call]}),
        json!({"role": "tool", "tool_call_id": "c1", "content": "rain"}),
        json!({"role": "assistant", "content": [{"type": "text", "text": "No."}]}),
    ];
    let input: String = lines.iter().map(|line| format!("{line}\n")).collect();
    let chat = bed.run_with(&["--json", "chat"], input.as_bytes());
    assert_eq!(chat.code, 0, "{}", chat.stderr);
    let events = events(&chat.stdout);
    let kinds: Vec<&str> = events.iter().map(|event| event["event"].as_str().unwrap()).collect();
    assert_eq!(kinds, ["stored", "stored", "context", "stored", "stored", "stored"]);
    assert_eq!(events[2]["messages"][1]["content"], "Two lines:\nshall I water the tomatoes?");
    let shown = bed.json(&["show", "chat_history"]);
    assert_eq!(shown["messages"], 5);
    assert_eq!((&shown["shown"][1]["id"], &shown["shown"][1]["at"]), (&json!(id), &json!("2025-03-02T10:01:00Z")));
    assert_eq!(shown["shown"][2]["message"]["tool_calls"][0], call);
    // A message with its id may be told again.
    let again = bed.run_with(&["--json", "chat"], format!("{}\n", lines[1]).as_bytes());
    assert_eq!(again.code, 0, "{}", again.stderr);
    assert_eq!(bed.json(&["show", "chat_history"])["messages"], 5);
}

#[test]
fn the_number_of_a_message_that_is_told_again_is_the_one_that_it_has() {
    let bed = Bed::new();
    let ids = ["a1", "a2", "a3"].map(|end| format!("018f0000-0000-7000-8000-0000000000{end}"));
    let at = "2025-03-02T10:01:00Z";
    let said = |place: usize| json!({"role": "assistant", "content": "Hello.", "id": ids[place], "at": at});
    let chat = |places: &[usize]| {
        let input: String = places.iter().map(|place| format!("{}\n", said(*place))).collect();
        let chat = bed.run_with(&["--json", "chat"], input.as_bytes());
        assert_eq!(chat.code, 0, "{}", chat.stderr);
        let told = |event: Value| json!([event["id"], event["seq"], event["outcome"]]);
        events(&chat.stdout).into_iter().map(told).collect::<Vec<Value>>()
    };
    let told = |place: usize, seq: Value, outcome: &str| json!([ids[place], seq, outcome]);
    // The same words under another id are another message.
    let first = [told(0, json!(1), "added"), told(1, json!(2), "added"), told(0, json!(1), "already")];
    assert_eq!(chat(&[0, 1, 0]), first);
    assert_eq!(
        chat(&[1, 2, 0]),
        [told(1, json!(2), "already"), told(2, json!(3), "added"), told(0, json!(1), "already")]
    );
    assert_eq!(bed.run_with(&["chat"], format!("/forget {}\n", ids[1]).as_bytes()).code, 0);
    assert_eq!(chat(&[1, 0]), [told(1, Value::Null, "forgotten"), told(0, json!(1), "already")]);
}

#[test]
fn a_line_that_is_no_message_is_refused_and_the_others_are_taken() {
    let bed = Bed::new();
    let input = b"{\"role\":\n{\"role\":\"king\",\"content\":\"x\"}\n{\"role\":\"user\"}\n{\"role\":\"user\",\"content\":\"x\",\"id\":\"7\"}\nplain\n";
    let chat = bed.run_with(&["--json", "chat"], input);
    assert_eq!(chat.code, 3);
    let errors: Vec<&str> = chat.stderr.lines().filter(|line| line.starts_with("error: ")).collect();
    assert_eq!(errors.len(), 4, "{}", chat.stderr);
    assert!(errors[0].contains("begins like JSON") && errors[1].contains("unknown role"), "{errors:?}");
    assert_eq!(bed.json(&["show", "chat_history"])["shown"][0]["text"], "plain");
}

#[test]
fn a_line_of_a_person_may_begin_with_a_brace() {
    let bed = Bed::new();
    assert_eq!(bed.run_with(&["chat"], b"{\"role\": \"system\"}\n").code, 0);
    assert_eq!(bed.json(&["show", "chat_history"])["shown"][0]["role"], "user");
}

#[test]
fn a_time_or_an_id_that_is_no_text_is_refused_and_not_passed_over() {
    let bed = Bed::new();
    let said = |text: &str, name: &str, value: Value| {
        let mut message = json!({"role": "user", "content": text});
        message[name] = value;
        format!("{message}\n")
    };
    let input = said("x", "at", json!(1_714_557_603)) + &said("x", "id", json!(7)) + &said("kept", "at", Value::Null);
    let chat = bed.run_with(&["--json", "chat"], input.as_bytes());
    assert_eq!(chat.code, 3);
    for member in ["at", "id"] {
        assert!(chat.stderr.contains(&format!("error: the member {member} is no text\n")), "{}", chat.stderr);
    }
    let shown = bed.json(&["show", "chat_history"]);
    assert_eq!((&shown["messages"], &shown["shown"][0]["text"]), (&json!(1), &json!("kept")));
}

#[test]
fn the_first_line_of_a_file_with_a_byte_order_mark_is_a_message_like_the_others() {
    let bed = Bed::new();
    let line = json!({"role": "assistant", "content": "Hello."});
    assert_eq!(bed.run_with(&["--json", "chat"], format!("\u{feff}{line}\r\n").as_bytes()).code, 0);
    let shown = &bed.json(&["show", "chat_history"])["shown"][0];
    assert_eq!((&shown["role"], &shown["text"]), (&json!("assistant"), &json!("Hello.")));
}

#[test]
fn a_line_that_is_longer_than_any_message_is_refused_and_the_next_one_is_taken() {
    let bed = Bed::new();
    let chat = bed.run_with(&["chat"], format!("{}\nhello\n", "a".repeat(33 << 20)).as_bytes());
    assert_eq!(chat.code, 3);
    assert!(chat.stderr.starts_with("error: the line is longer than this program reads\n"), "{}", chat.stderr);
    assert_eq!(bed.json(&["show", "chat_history"])["shown"][0]["text"], "hello");
}

#[test]
fn a_search_within_a_chat_tells_whether_something_did_not_answer() {
    let bed = Bed::new();
    let chat = bed.run_with(&["--json", "chat"], b"/remember Ada likes tea\n/search tea\n");
    let found = events(&chat.stdout).pop().unwrap();
    assert_eq!((&found["event"], &found["degraded"]), (&json!("found"), &json!([])));
}

#[cfg(unix)]
#[test]
fn lines_are_stored_to_the_last_one_where_nobody_reads_the_contexts() {
    let bed = Bed::new();
    assert_eq!(crate::support::unread(bed.command().arg("chat"), b"one\ntwo\nthree\n").0, Some(0));
    assert_eq!(bed.json(&["show", "chat_history"])["messages"], 3);
}
