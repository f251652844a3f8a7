//! Forgetting is for good, and takes exactly what was named.

use std::io::{BufRead, BufReader, Read, Write};
use std::process::Stdio;

use serde_json::{Value, json};

use crate::support::{Bed, conversations, said};

fn filled() -> (Bed, String, String) {
    let bed = Bed::new();
    bed.import(&conversations());
    let record = bed.json(&["remember", "Charlie ordered a parcel of seeds"]);
    let found = bed.json(&["search", "E-4471-B", "-k", "1"]);
    let id = |value: &Value| value.as_str().unwrap().to_owned();
    (bed, id(&found["hits"][0]["id"]), id(&record["id"]))
}

fn hits(bed: &Bed, query: &str) -> usize {
    bed.json(&["search", query])["hits"].as_array().unwrap().len()
}

#[test]
fn an_id_is_forgotten_whether_it_is_a_message_or_a_record() {
    let (bed, message, record) = filled();
    assert_eq!(hits(&bed, "parcel"), 3);
    let receipt = bed.json(&["forget", "--id", &message, "--id", &record]);
    assert_eq!((&receipt["removed"], &receipt["complete"], &receipt["epoch"]), (&json!(2), &json!(true), &Value::Null));
    assert_eq!(hits(&bed, "parcel"), 1);
    let line = format!("there is no message or record {message}");
    assert_eq!(bed.run(&["forget", "--id", &message]).refused(2), line);
    let again = bed.import(&conversations());
    assert_eq!((&again["added"], &again["already"], &again["forgotten"]), (&json!(0), &json!(6), &json!(1)));
    assert_eq!(hits(&bed, "parcel"), 1);
}

#[test]
fn a_session_is_forgotten_by_its_name_and_no_other() {
    let (bed, ..) = filled();
    let receipt = bed.json(&["forget", "--session", "garden"]);
    assert_eq!((&receipt["removed"], &receipt["complete"]), (&json!(5), &json!(true)));
    let sessions = bed.json(&["sessions"]);
    assert_eq!(sessions["sessions"].as_array().unwrap().len(), 1);
    assert_eq!((hits(&bed, "tomatoes"), hits(&bed, "parcel")), (0, 3));
    assert_eq!(bed.run(&["forget", "--session", "garden"]).refused(2), "there is no session garden");
}

#[test]
fn a_mistyped_name_is_told_with_the_one_that_was_meant() {
    let (bed, message, _) = filled();
    let line = "there is no session graden; did you mean garden?";
    assert_eq!(bed.run(&["forget", "--session", "graden"]).refused(2), line);
    assert_eq!(bed.run(&["export", "--session", "graden"]).refused(2), line);
    for args in [&["search", "rain", "--session", "graden"][..], &["context", "--session", "graden"]] {
        let answer = bed.run(args);
        assert_eq!((answer.code, answer.stderr), (0, format!("note: {line}\n")), "{args:?}");
    }
    // The beginning of a name is near to it, however much of it is left out; a command that changes something does not guess.
    let line = "there is no session chat; did you mean chat_history?";
    for args in [&["forget", "--session", "chat"][..], &["export", "--session", "chat"], &["fork", "chat", "new"]] {
        assert_eq!(bed.run(args).refused(2), line, "{args:?}");
    }
    let tried = bed.run(&["facts", "try", "--session", "chat"]);
    assert_eq!((tried.code, tried.stderr), (0, format!("note: {line}\n")));
    assert_eq!(bed.run(&["forget", "--session", "something else"]).refused(2), "there is no session something else");
    let unknown = "0196b7a5-36b8-7b39-b8b8-6a3fbb3a4e5c";
    let partly = bed.run(&["forget", "--id", unknown, "--id", &message]);
    assert_eq!((partly.code, partly.stdout.as_str()), (3, "1 item forgotten\n"));
    assert_eq!(partly.stderr, format!("warning: there is no message or record {unknown}\n"));
    let chat = bed.run_with(&["chat"], format!("/forget {unknown}\n").as_bytes());
    assert_eq!((chat.code, chat.stderr), (3, format!("error: there is no message or record {unknown}\n")));
}

#[test]
fn everything_of_one_owner_is_forgotten_and_nothing_of_another() {
    let (bed, ..) = filled();
    let bed = bed.of("ben");
    bed.import(&conversations());
    let bed = bed.of("ada");
    let receipt = bed.json(&["forget", "--all", "--yes"]);
    assert_eq!((&receipt["complete"], &receipt["removed"]), (&json!(true), &json!(8)));
    assert!(receipt["epoch"].as_u64().unwrap() > 0);
    assert_eq!((hits(&bed, "parcel tomatoes"), bed.json(&["stats"])["owner"]["records"].as_u64()), (0, Some(0)));
    let bed = bed.of("ben");
    assert_eq!(bed.json(&["stats"])["owner"]["messages"], 7);
    assert_eq!(hits(&bed, "parcel"), 2);
}

#[test]
fn an_import_whose_owner_is_erased_meanwhile_does_not_say_that_it_is_in() {
    let bed = Bed::new();
    let lines =
        |from: usize| -> String { (from..from + 300).map(|n| said("s", n, "user", &format!("message {n}"))).collect() };
    let mut import = bed.command();
    import.args(["import", "-", "--progress", "lines"]);
    let mut child = import.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut input = child.stdin.take().unwrap();
    let mut told = BufReader::new(child.stderr.take().unwrap());
    input.write_all(lines(0).as_bytes()).unwrap();
    let mut line = String::new();
    while line != "committed 300\n" {
        line.clear();
        assert!(told.read_line(&mut line).unwrap() > 0, "the import ended by itself");
    }
    let erased = bed.run(&["forget", "--all", "--yes"]);
    assert!(matches!(erased.code, 0 | 3), "{}", erased.stderr);
    // It may have ended before all of this is read.
    drop(input.write_all(lines(300).as_bytes()));
    drop(input);
    line.clear();
    told.read_to_string(&mut line).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(1), "{line}");
    assert!(line.contains("was erased while it was imported") && !line.contains("goes on from there"), "{line}");
    assert_eq!(bed.import(&lines(0))["added"], 300);
}
