//! `memory queue`, and commands behind a journal.

use std::process::Command;

use serde_json::json;

use crate::support::{Answer, Bed, answer, change, conversations};

fn behind(bed: &Bed, args: &[&str]) -> Command {
    let mut command = bed.command();
    command.env("SESSION_BUFFER_PATH", bed.path("journal.sqlite")).args(args);
    command
}

fn run(bed: &Bed, args: &[&str]) -> Answer {
    answer(&mut behind(bed, args), b"")
}

#[test]
fn s3_16_the_program_takes_its_journal_from_the_environment() {
    let bed = Bed::new();
    let file = bed.file("conversation.jsonl", conversations());
    let imported = run(&bed, &["import", &file]);
    assert_eq!(imported.code, 0, "{}", imported.stderr);
    assert!(bed.path("journal.sqlite").exists() && !bed.path("journal.sqlite-wal").exists());
    bed.is_one_file();
    // A command without the journal finds what was sent when the first one ended.
    assert_eq!(bed.json(&["stats"])["owner"]["messages"], 7);
    assert!(bed.run(&["search", "parcel"]).stdout.contains("E-4471-B"));
    let listed = run(&bed, &["--json", "queue"]);
    assert_eq!(listed.json(), json!({ "waiting": 0, "refused": [] }));
    assert!(run(&bed, &["stats"]).stdout.contains("journal    0 waiting, 0 refused"));
    let mut wrong = behind(&bed, &["sessions"]);
    let wrong = answer(wrong.env("SESSION_FLUSH_SECONDS", "soon"), b"");
    assert!(wrong.refused(2).contains("SESSION_FLUSH_SECONDS"));
}

#[test]
fn without_a_journal_there_is_no_queue() {
    let bed = Bed::new();
    assert!(bed.run(&["queue"]).refused(2).contains("SESSION_BUFFER_PATH"));
}

#[test]
fn s3_16_what_is_said_of_a_journal_that_is_not_there_is_told() {
    let bed = Bed::new();
    let mut command = bed.command();
    let told = answer(command.env("SESSION_FLUSH_BATCH", "3").args(["remember", "Ada likes tea"]), b"");
    assert_eq!(told.code, 0, "{}", told.stderr);
    assert!(told.stderr.contains("SESSION_FLUSH_BATCH changes nothing without a journal"), "{}", told.stderr);
    let file = bed.file("memory.yaml", "memory:\n  journal: { flush_batch: 3 }\n");
    for args in [&["sessions"][..], &["config", "check"]] {
        let mut command = bed.command();
        let told = answer(command.args(["--config", &file]).args(args), b"");
        assert_eq!(told.code, 2, "{}", told.stdout);
        assert!(format!("{}{}", told.stdout, told.stderr).contains("journal.flush_batch"), "{}", told.stderr);
    }
}

#[test]
fn a_journal_in_the_file_of_the_database_is_refused_and_the_database_is_kept() {
    let bed = Bed::new();
    let run = |args: &[&str]| {
        answer(bed.command().env("SESSION_BUFFER_PATH", bed.path("folder/../memory.sqlite")).args(args), b"")
    };
    std::fs::create_dir(bed.path("folder")).unwrap();
    bed.json(&["remember", "Ada likes tea"]);
    for args in [&["sessions"][..], &["remember", "x"], &["queue"], &["queue", "recover"], &["chat"]] {
        assert!(run(args).refused(2).contains("name a file of its own by SESSION_BUFFER_PATH"), "{args:?}");
    }
    // A file of settings says the same, and stops nobody who does without the journal.
    let settings = "memory: { persistent: { connection_string: memory.sqlite }, journal: { path: memory.sqlite } }";
    let file = bed.file("memory.yaml", settings);
    let run_by = |args: &[&str]| {
        let owner = ["--config", &file, "--tenant", "acme", "--subject", "ada"];
        answer(bed.bare().args(owner).args(args), b"")
    };
    assert!(run_by(&["sessions"]).refused(2).contains("name a file of its own"));
    let checked = run_by(&["config", "check"]);
    assert_eq!(checked.code, 2, "{}", checked.stderr);
    assert!(checked.stdout.contains("the journal would be in the file of the database"), "{}", checked.stdout);
    let from = ["move", "--from", "memory.sqlite", "--to", "other.sqlite"];
    for run in [&run as &dyn Fn(&[&str]) -> Answer, &run_by] {
        for args in [&["owners"][..], &["facts"], &["backup", "copy.sqlite"], &from] {
            let done = run(args);
            assert_eq!(done.code, 0, "{args:?}: {}", done.stderr);
        }
        std::fs::remove_file(bed.path("copy.sqlite")).unwrap();
    }
    assert_eq!(bed.json(&["records"])["total"], 1);
    std::fs::write(bed.database(), "no database at all").unwrap();
    assert!(run(&["queue", "recover"]).refused(2).contains("name a file of its own"));
    assert_eq!(std::fs::read_to_string(bed.database()).unwrap(), "no database at all");
}

#[test]
fn what_is_whole_of_a_damaged_journal_is_saved() {
    let bed = Bed::new();
    let file = bed.file("conversation.jsonl", conversations());
    assert_eq!(run(&bed, &["import", &file]).code, 0);
    let whole = run(&bed, &["queue", "recover"]);
    assert!(whole.code == 0 && whole.stdout.contains("it is whole"), "{}{}", whole.stdout, whole.stderr);
    std::fs::write(bed.path("journal.sqlite"), "no database at all").unwrap();
    assert!(run(&bed, &["sessions"]).refused(1).contains("damaged"));
    let saved = run(&bed, &["queue", "recover"]);
    assert_eq!(saved.code, 3, "{}{}", saved.stdout, saved.stderr);
    assert!(saved.stdout.contains("journal.sqlite.damaged-1"), "{}", saved.stdout);
    assert_eq!(run(&bed, &["sessions"]).code, 0);
}

/// The id of the message that is refused, and of one that is stored.
const ID: &str = "01890a5d-ac96-774b-bcce-b302099a8057";

/// Leaves a message in the journal: the one database that it is meant for has another of its id.
fn refused(bed: &Bed) {
    let line = |text: &str| format!("{}\n", json!({ "session": "talk", "id": ID, "role": "user", "content": text }));
    let (first, second) = (bed.file("one.jsonl", line("the first")), bed.file("two.jsonl", line("another")));
    assert_eq!(run(bed, &["import", &first]).code, 0);
    // Whether it can be stored is known only when it is sent, at the end of the command.
    run(bed, &["import", &second]);
    // It waits for that a few seconds, and the next command goes on.
    let mut lists = std::iter::repeat_with(|| run(bed, &["--json", "queue"]).json()).take(10);
    let listed = lists.find(|listed| listed["waiting"] == 0).expect("nothing waits any more");
    assert_eq!(listed["refused"].as_array().unwrap().len(), 1, "{listed}");
}

#[test]
fn a_message_that_is_refused_is_listed_and_may_be_discarded() {
    let bed = Bed::new();
    refused(&bed);
    let listed = run(&bed, &["--json", "queue"]).json();
    let id = listed["refused"][0]["id"].as_str().unwrap();
    assert!(run(&bed, &["queue"]).stdout.contains(id));
    assert_eq!(run(&bed, &["queue", "retry"]).code, 3);
    assert_eq!(run(&bed, &["queue", "discard", id]).code, 0);
    assert_eq!(run(&bed, &["--json", "queue"]).json()["refused"], json!([]));
    assert!(bed.run(&["show", "talk"]).stdout.contains("the first"));
}

#[test]
fn a_message_that_was_not_refused_is_told_where_it_is_to_be_sent_again_or_discarded() {
    let bed = Bed::new();
    refused(&bed);
    let unknown = "0196b7a5-36b8-7b39-b8b8-6a3fbb3a4e5c";
    for change in ["retry", "discard"] {
        let told = run(&bed, &["queue", change, unknown]);
        assert_eq!((told.code, told.stdout.as_str()), (2, ""), "{}", told.stderr);
        assert!(told.stderr.contains(&format!("error: no message {unknown} was refused\n")), "{}", told.stderr);
    }
    let partly = run(&bed, &["queue", "retry", ID, unknown]);
    assert_eq!(partly.code, 3);
    assert!(partly.stderr.contains("warning: no message 0196b7a5-"), "{}", partly.stderr);
    let partly = run(&bed, &["queue", "discard", ID, unknown, ID]);
    assert_eq!((partly.code, partly.stdout.as_str()), (3, "1 message discarded\n"), "{}", partly.stderr);
    assert!(partly.stderr.contains("warning: no message 0196b7a5-"), "{}", partly.stderr);
}

#[test]
fn a_refused_message_is_discarded_also_if_its_conversation_was_forgotten_since() {
    let bed = Bed::new();
    refused(&bed);
    bed.json(&["forget", "--session", "talk"]);
    let told = run(&bed, &["queue", "discard", ID]);
    assert_eq!((told.code, told.stdout.as_str()), (0, "1 message discarded\n"), "{}", told.stderr);
}

#[test]
fn a_message_that_a_retry_sent_before_it_was_cut_off_may_be_sent_again() {
    let bed = Bed::new();
    refused(&bed);
    // It is stored then, and refused no more.
    assert_eq!(run(&bed, &["queue", "discard", ID]).code, 0);
    let again = run(&bed, &["--json", "queue", "retry", ID]);
    assert_eq!((again.code, again.json()), (0, json!({ "queued": 0, "refused": 0 })), "{}", again.stderr);
}

#[test]
fn messages_whose_database_the_damage_hides_are_saved_only_for_the_one_that_is_named() {
    let bed = Bed::new();
    refused(&bed);
    assert_eq!(change(&bed.path("journal.sqlite"), "UPDATE whole SET truth = 'other'"), 1);
    assert!(run(&bed, &["sessions"]).refused(1).contains("damaged"));
    assert!(run(&bed, &["queue", "recover"]).refused(1).contains("name it"));
    let saved = run(&bed, &["--json", "queue", "recover", "--meant-here"]);
    assert_eq!((saved.code, saved.json()["kept"].as_u64()), (3, Some(1)), "{}", saved.stderr);
    assert_eq!(run(&bed, &["--json", "queue"]).json()["refused"].as_array().unwrap().len(), 1);
}
