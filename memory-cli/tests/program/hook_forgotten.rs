//! What was forgotten is not stored again by hooks, whatever transcripts still hold.

use std::path::PathBuf;

use crate::hook::{hook, line};
use crate::support::Bed;
use serde_json::json;

/// A session whose transcript holds a question and an answer, with ids of its own.
struct Talk<'bed> {
    bed: &'bed Bed,
    session: &'static str,
    lines: Vec<String>,
}

impl<'bed> Talk<'bed> {
    fn new(bed: &'bed Bed, session: &'static str, begin: usize) -> Self {
        let texts = ["The parcel E-4471-B goes to Porto.", "Noted."];
        let lines = texts.iter().zip(begin..).map(|(text, number)| line(number, "user", text)).collect();
        Self { bed, session, lines }
    }

    /// Lets the agent stop, and returns what the memory shows of the session afterwards.
    fn stops(&self) -> Vec<String> {
        let (shown, complaints) = self.stops_with_complaints();
        assert_eq!(complaints, "");
        shown
    }

    /// Lets the agent stop, and returns what the memory shows of the session afterwards, and what the hook said on stderr.
    fn stops_with_complaints(&self) -> (Vec<String>, String) {
        let path = self.bed.file(&format!("{}.jsonl", self.session), self.lines.join("\n"));
        let event = json!({ "hook_event_name": "Stop", "session_id": self.session, "transcript_path": path });
        let answer = hook(self.bed, &event);
        assert_eq!((answer.code, answer.stdout.as_str()), (0, ""));
        let shown = self.bed.run(&["--json", "show", self.session]);
        if shown.code != 0 {
            return (Vec::new(), answer.stderr);
        }
        let shown = shown.json();
        let texts = shown["shown"].as_array().unwrap().iter().map(|row| row["text"].as_str().unwrap().to_owned());
        (texts.collect(), answer.stderr)
    }
}

#[test]
fn what_was_forgotten_is_not_stored_again_and_what_is_said_afterwards_is() {
    let bed = Bed::new();
    let forgettings = [("s1", &["forget", "--session", "s1"][..]), ("s2", &["forget", "--all", "--yes"])];
    for (place, (session, forget)) in forgettings.into_iter().enumerate() {
        let mut talk = Talk::new(&bed, session, 10 * place);
        assert_eq!(talk.stops().len(), 2, "{session}");
        assert_eq!(bed.run(forget).code, 0);
        for _ in 0..2 {
            assert_eq!(talk.stops(), [""; 0], "{session}");
        }
        talk.lines.push(line(10 * place + 5, "user", "And the letter?"));
        for _ in 0..2 {
            assert_eq!(talk.stops(), ["And the letter?"], "{session}");
        }
    }
    // Nothing was forgotten of this one, and its owner has forgotten others.
    assert_eq!(Talk::new(&bed, "s3", 30).stops().len(), 2);
}

#[test]
fn what_was_forgotten_does_not_come_back_in_the_session_that_goes_on_with_it() {
    let bed = Bed::new();
    let talk = Talk::new(&bed, "s1", 1);
    assert_eq!(talk.stops().len(), 2);
    assert_eq!(bed.run(&["forget", "--session", "s1"]).code, 0);
    let mut resumed = Talk { session: "s2", ..talk };
    resumed.lines.push(line(5, "user", "And the letter?"));
    assert_eq!(resumed.stops(), ["And the letter?"]);
    assert_eq!(resumed.stops(), ["And the letter?"]);
}

#[test]
fn a_forgotten_session_of_which_no_mark_is_left_goes_on_with_the_next_message() {
    let bed = Bed::new();
    let mut talk = Talk::new(&bed, "s1", 1);
    let lose_marks = || std::fs::remove_file(marks(&bed)).unwrap();
    assert_eq!(talk.stops().len(), 2);
    assert_eq!(bed.run(&["forget", "--session", "s1"]).code, 0);
    lose_marks();
    assert_eq!(talk.stops(), [""; 0]);
    talk.lines.push(line(5, "user", "And the letter?"));
    assert_eq!(talk.stops(), ["And the letter?"]);
    lose_marks();
    talk.lines.push(line(6, "user", "It is here."));
    assert_eq!(talk.stops(), ["And the letter?", "It is here."]);
}

/// Returns the file that tells what hooks stored before.
fn marks(bed: &Bed) -> PathBuf {
    let files = std::fs::read_dir(bed.path("memory")).unwrap().map(|file| file.unwrap().path());
    let marks: Vec<PathBuf> = files.filter(|file| file.extension().is_some_and(|end| end == "json")).collect();
    assert_eq!(marks.len(), 1, "{marks:?}");
    marks[0].clone()
}

#[test]
fn damaged_marks_are_set_aside_and_what_is_said_from_then_on_is_stored() {
    let bed = Bed::new();
    let (talk, mut other) = (Talk::new(&bed, "s1", 1), Talk::new(&bed, "s3", 20));
    assert_eq!((talk.stops().len(), other.stops().len()), (2, 2));
    assert_eq!(bed.run(&["forget", "--session", "s1"]).code, 0);
    let marks = marks(&bed);
    std::fs::write(&marks, "{").unwrap();
    // A transcript that goes on with what was forgotten: only the marks told that.
    let old = |line: &String| line.replace("2026-11-22", "2020-11-22");
    let mut resumed = Talk { session: "s2", lines: talk.lines.iter().map(old).collect(), bed: &bed };
    let (shown, complaints) = resumed.stops_with_complaints();
    assert_eq!(shown, [""; 0]);
    let aside = marks.with_extension("damaged");
    assert!(complaints.contains(&format!("it is {} now", aside.display())), "{complaints}");
    assert!(complaints.contains("what was forgotten may come back"), "{complaints}");
    assert_eq!(std::fs::read_to_string(&aside).unwrap(), "{");
    for (number, text) in [(5, "And the letter?"), (6, "It is here.")] {
        resumed.lines.push(line(number, "user", text).replace("2026-11-22", "2200-11-22"));
        assert_eq!(resumed.stops().last().unwrap(), text);
    }
    assert_eq!(resumed.stops(), ["And the letter?", "It is here."]);
    // A conversation that the memory holds goes on behind what is stored, and a new one is stored from its first word.
    other.lines.push(line(25, "user", "And the book?"));
    assert_eq!(other.stops().len(), 3);
    let mut new = Talk::new(&bed, "s4", 40);
    new.lines = new.lines.iter().map(|line| line.replace("2026-11-22", "2200-11-22")).collect();
    assert_eq!(new.stops().len(), 2);
}
