//! Conversations as a list, with titles, and what they and their messages look like.

use serde_json::{Value, json};

use crate::support::{Bed, conversations, said};

fn names(list: &Value) -> Vec<&str> {
    list["sessions"].as_array().unwrap().iter().map(|one| one["session"].as_str().unwrap()).collect()
}

fn titled(session: &str, minute: usize, title: &str, text: &str) -> String {
    let mut line: Value = serde_json::from_str(&said(session, minute, "user", text)).unwrap();
    line["metadata"] = json!({ "title": title });
    format!("{line}\n")
}

fn filled() -> Bed {
    let bed = Bed::new();
    bed.import(
        &(conversations() + &titled("trip", 5, "A trip to Porto", "hello") + &said("trip", 6, "assistant", "hi")),
    );
    bed
}

#[test]
fn sessions_are_listed_newest_first_by_title_or_by_length() {
    let bed = filled();
    assert_eq!(names(&bed.json(&["sessions"])), ["garden", "chat_history", "trip"]);
    assert_eq!(names(&bed.json(&["sessions", "--sort", "recent"])), ["garden", "chat_history", "trip"]);
    assert_eq!(names(&bed.json(&["sessions", "--sort", "title"])), ["trip", "chat_history", "garden"]);
    assert_eq!(names(&bed.json(&["sessions", "--sort", "length", "-n", "1"])), ["garden"]);
    let some = bed.json(&["sessions", "-n", "2"]);
    assert_eq!((names(&some).len(), &some["total"]), (2, &json!(3)));
    assert!(bed.run(&["sessions", "-n", "2"]).stdout.ends_with("2 of 3 sessions: -n 0 lists all\n"));
}

#[test]
fn a_session_is_called_by_its_title_or_by_what_a_person_said_first() {
    let bed = filled();
    let list = bed.json(&["sessions"]);
    let titles: Vec<&Value> = list["sessions"].as_array().unwrap().iter().map(|one| &one["title"]).collect();
    let said = "My name is Charlie and my parcel E-4471-B never arrived.";
    assert_eq!(titles, [&json!("Shall I water the tomatoes tomorrow?"), &json!(said), &json!("A trip to Porto")]);
    let long = "word ".repeat(40);
    bed.import(&crate::support::said("long", 1, "user", &long));
    let words = bed.run(&["sessions"]).stdout;
    assert!(words.contains("word word…\n  2025-03-01 00:01, 1 message, long\n"), "{words}");
    bed.import(&titled("trip", 9_000, "A trip to Lisbon", "It is Lisbon now."));
    assert_eq!(bed.json(&["sessions", "-n", "1"])["sessions"][0]["title"], "A trip to Lisbon");
}

#[test]
fn sessions_are_found_by_the_words_of_their_titles_and_names() {
    let bed = filled();
    assert_eq!(names(&bed.json(&["sessions", "porto TRIP"])), ["trip"]);
    assert_eq!(names(&bed.json(&["sessions", "gard"])), ["garden"]);
    assert_eq!(names(&bed.json(&["sessions", "zebra"])), Vec::<&str>::new());
    assert_eq!(bed.run(&["sessions", "zebra"]).stdout, "0 sessions\n");
}

#[test]
fn a_conversation_is_shown_whole_or_around_a_message() {
    let bed = filled();
    let seqs = |args: &[&str]| {
        let shown = bed.json(&[&["show"], args].concat());
        shown["shown"].as_array().unwrap().iter().map(|row| row["seq"].as_u64().unwrap()).collect::<Vec<_>>()
    };
    assert_eq!(seqs(&["garden"]), [1, 2, 3, 4, 5]);
    assert_eq!(seqs(&["garden", "-n", "2"]), [4, 5]);
    assert_eq!(seqs(&["garden", "--around", "3", "-n", "3"]), [2, 3, 4]);
    assert_eq!(seqs(&["garden", "--around", "#1", "-n", "3"]), [1, 2, 3]);
    assert_eq!(seqs(&["garden", "--around", "5"]), [1, 2, 3, 4, 5]);
    let hit = bed.json(&["search", "tomatoes tomorrow", "-k", "1"])["hits"][0].clone();
    let id = hit["id"].as_str().unwrap();
    assert_eq!(seqs(&["garden", "--around", id, "-n", "1"]), [2]);
    assert_eq!(seqs(&[id, "-n", "3"]), [1, 2, 3]);
    let words = bed.run(&["show", "garden", "--around", "2", "-n", "2"]).stdout;
    let (head, rest) = words.split_once("\n\n").unwrap();
    assert_eq!(
        head,
        "Shall I water the tomatoes tomorrow?\ngarden, until 2025-03-02 10:04, 5 messages, #2 to #3 of them"
    );
    assert!(rest.starts_with("> #2  2025-03-02 10:01  user\n  Shall I water the tomatoes tomorrow?\n\n#3"), "{rest}");
    assert!(rest.ends_with("#3  2025-03-02 10:02  assistant\n  weather {\"day\":1}\n"), "{rest}");
}

#[test]
fn a_message_and_a_record_are_shown_by_their_ids() {
    let bed = filled();
    let hit = bed.json(&["search", "tomatoes tomorrow", "-k", "1"])["hits"][0].clone();
    let message = bed.json(&["show", hit["id"].as_str().unwrap()]);
    assert_eq!((&message["seq"], &message["message"]["role"]), (&json!(2), &json!("user")));
    let words = bed.run(&["show", hit["id"].as_str().unwrap()]).stdout;
    assert!(words.contains("\nsession   garden\n") && words.contains("\ntrust     user\n"), "{words}");
    let id = bed.json(&["remember", "Ada likes figs", "--tag", "food"])["id"].as_str().unwrap().to_owned();
    let record = bed.json(&["show", &id]);
    assert_eq!(
        (&record["unit"], &record["current"], &record["tags"]),
        (&json!("record"), &json!(true), &json!(["food"]))
    );
    assert!(bed.run(&["show", &id]).stdout.contains("[food]"));
}

#[test]
fn a_session_is_meant_by_the_beginning_of_its_name_and_forgotten_by_all_of_it() {
    let bed = filled();
    bed.import(&said("garden-2", 3, "user", "roses"));
    assert_eq!(bed.json(&["show", "chat"])["session"], "chat_history");
    assert_eq!(bed.json(&["show", "garden"])["session"], "garden");
    let hits = bed.json(&["search", "roses", "--session", "garden-"]);
    assert_eq!(hits["hits"].as_array().unwrap().len(), 1);
    assert_eq!(bed.json(&["context", "--session", "tri"])["receipt"]["history"]["window_messages"], 2);
    let several = bed.run(&["show", "gard"]);
    assert_eq!(several.refused(2), "gard begins the names of 2 sessions: garden, garden-2");
    assert!(bed.run(&["show", "gardn"]).refused(2).contains("did you mean garden?"));
    assert!(bed.run(&["forget", "--session", "tri"]).refused(2).contains("did you mean trip?"));
    assert_eq!(bed.json(&["show", "trip"])["messages"], 2);
}

#[test]
fn what_is_forgotten_keeps_its_place_in_what_is_shown() {
    let bed = filled();
    let shown = bed.json(&["show", "garden"]);
    bed.json(&["forget", "--id", shown["shown"][1]["id"].as_str().unwrap()]);
    assert!(bed.run(&["show", "garden"]).stdout.contains("\n#2  forgotten\n\n#3"));
    assert_eq!(bed.json(&["show", "garden"])["shown"][1]["forgotten"], true);
    assert_eq!(bed.json(&["sessions"])["sessions"][0]["title"], "No need, it will rain on the tomatoes.");
}
