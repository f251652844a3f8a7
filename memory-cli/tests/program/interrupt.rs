//! Ctrl-C stops an import between two batches, a chat between two lines, and other commands anywhere.

use std::io::{BufRead, BufReader, Read, Write};
use std::process::Stdio;

use serde_json::{Value, json};

use crate::support::{Bed, said, signal};

/// Begins to import lines from a pipe that stays open, stops the program when it has said that so many are stored, and
/// returns its answer and what else it said.
fn import_and_stop(bed: &Bed, lines: &str, committed: usize) -> (Value, String) {
    let mut import = bed.command();
    import.args(["--json", "import", "-", "--progress", "lines"]);
    let mut child = import.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut input = child.stdin.take().unwrap();
    let mut told = BufReader::new(child.stderr.take().unwrap());
    input.write_all(lines.as_bytes()).unwrap();
    let mut line = String::new();
    while line != format!("committed {committed}\n") {
        line.clear();
        assert!(told.read_line(&mut line).unwrap() > 0, "the import ended by itself");
    }
    signal("-INT", &child);
    let mut answer = String::new();
    child.stdout.take().unwrap().read_to_string(&mut answer).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(130));
    drop(input);
    line.clear();
    told.read_to_string(&mut line).unwrap();
    (serde_json::from_str(&answer).unwrap(), line)
}

#[test]
fn an_import_that_is_stopped_says_what_is_stored_and_the_same_command_goes_on() {
    let bed = Bed::new();
    let lines: String = (0..300).map(|n| said("s", n, "user", &format!("message {n}"))).collect();
    // The rest of a batch does not wait for ever for more of a pipe.
    let (value, told) = import_and_stop(&bed, &lines, 300);
    assert_eq!((&value["added"], &value["interrupted"]), (&json!(300), &json!(true)));
    assert!(told.contains("the same command goes on from there"), "{told}");
    bed.is_one_file();
    let again = bed.import(&lines);
    assert_eq!((&again["added"], &again["already"], &again["interrupted"]), (&json!(0), &json!(300), &json!(false)));
}

#[test]
fn what_an_import_counts_that_is_stopped_between_two_batches_is_stored() {
    let bed = Bed::new();
    // A conversation each: one that was only read would be counted.
    let lines: String = (0..400).map(|n| said(&format!("s{n}"), n, "system", "Be brief.")).collect();
    let (value, told) = import_and_stop(&bed, &lines, 256);
    assert!(told.contains("what is counted above is stored"), "{told}");
    let stored = &bed.json(&["stats"])["owner"];
    let count = |value: &Value| value.as_u64().unwrap();
    assert!(count(&value["sessions"]) <= count(&stored["sessions"]), "{value} {stored}");
    assert!(count(&value["added"]) <= count(&stored["messages"]), "{value} {stored}");
    let quoted = format!("{} messages of the roles system", value["added"]);
    assert!(value["notes"][0].as_str().unwrap().starts_with(&quoted), "{value}");
    let again = bed.import(&lines);
    assert_eq!(count(&again["added"]) + count(&again["already"]), 400);
}

#[test]
fn a_chat_that_is_stopped_has_kept_its_lines() {
    let bed = Bed::new();
    let mut chat = bed.command();
    chat.args(["--json", "chat"]);
    let mut child = chat.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    let mut input = child.stdin.take().unwrap();
    input.write_all(b"My name is Charlie.\n").unwrap();
    let mut events = BufReader::new(child.stdout.take().unwrap());
    let mut event = String::new();
    while !event.contains("\"event\":\"context\"") {
        event.clear();
        assert!(events.read_line(&mut event).unwrap() > 0, "the chat ended by itself");
    }
    signal("-INT", &child);
    assert_eq!(child.wait().unwrap().code(), Some(130));
    drop(input);
    bed.is_one_file();
    assert_eq!(bed.json(&["sessions"])["sessions"][0]["messages"], 1);
}

#[cfg(feature = "server")]
#[test]
fn the_import_of_a_graph_that_is_stopped_says_so_and_the_same_command_goes_on() {
    let bed = Bed::new();
    let entity = |number: usize| json!({ "type": "entity", "name": format!("e{number}"), "entityType": "t", "observations": [] });
    let lines: String = (0..2_000).map(|number| format!("{}\n", entity(number))).collect();
    let file = bed.file("memory.jsonl", lines);
    let mut import = bed.command();
    import.args(["mcp", "import", &file]);
    let mut child = import.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    let stored = || {
        let owners = bed.run(&["--json", "owners"]);
        if owners.code == 0 { owners.json()["owners"][0]["records"].as_u64().unwrap_or(0) } else { 0 }
    };
    while stored() < 3 {
        assert!(child.try_wait().unwrap().is_none(), "the import ended by itself");
    }
    signal("-INT", &child);
    let mut told = String::new();
    child.stderr.take().unwrap().read_to_string(&mut told).unwrap();
    assert_eq!(
        (child.wait().unwrap().code(), told.as_str()),
        (Some(130), "stopped; what was stored stays, and the same command goes on\n")
    );
    bed.is_one_file();
    let again = bed.json(&["mcp", "import", &file]);
    let count = |name: &str| again[name].as_u64().unwrap();
    assert!(count("already") >= 3 && count("entities") > 0, "{again}");
    assert_eq!(count("already") + count("entities"), 2_000);
}
