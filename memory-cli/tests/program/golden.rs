//! What 240 conversations look like on a screen of 80 and of 40 columns, and in a pipe, kept in `tests/golden`.
//!
//! A file that is missing is made by the test, which then fails, so that somebody looks at it. To make all of them anew:
//! `rm memory-cli/tests/golden/*; cargo test -p memory-cli --test program golden`

use std::path::PathBuf;
use std::process::Command;

use unicode_width::UnicodeWidthStr;

use crate::many::{CONVERSATIONS, titled, untitled};
use crate::support::{Bed, answer};

/// What is looked at: a name for the file, and the command.
const SCREENS: [(&str, &[&str]); 11] = [
    ("sessions", &["sessions"]),
    ("sessions-title", &["sessions", "--sort", "title", "-n", "30"]),
    ("sessions-words", &["sessions", "parcel", "-n", "4"]),
    ("search", &["search", "answer 10 of conversation", "--session", "chat-237", "--filter", "seq = 20"]),
    ("search-title", &["search", "starter feed", "--session", "000000b4", "--filter", "seq = 2"]),
    ("search-wide", &["search", "浅草と渋谷", "--kind", "record"]),
    (
        "context",
        &["context", "Is the practice of the dentist Dr. Marsh closed?", "--session", "chat-3", "--recall", "1"],
    ),
    ("show", &["show", "0000000a"]),
    ("show-around", &["show", "chat-1", "--around", "4", "-n", "3"]),
    ("show-hostile", &["show", "chat-7"]),
    ("records", &["records"]),
];

const RECORDS: [&[&str]; 4] = [
    &[
        "remember",
        "Parcels are left with the neighbour at number 12.",
        "--kind",
        "preference",
        "--tag",
        "post",
        "--tag",
        "home",
    ],
    &["remember", "来月、東京へ三日間行く予定。浅草と渋谷と鎌倉に行きたい。", "--importance", "0.9"],
    &["remember", "The dentist is Dr. Marsh.\nHer practice is closed on Wednesdays."],
    &["remember", "Runs four times a week.", "--agent", "coach"],
];

fn filled() -> Bed {
    let bed = Bed::new();
    let (one, other) = (bed.file("titled.json", titled()), bed.file("untitled.jsonl", untitled()));
    for file in [one, other] {
        assert_eq!(bed.run(&["import", &file]).code, 0);
    }
    RECORDS.iter().for_each(|args| assert_eq!(bed.run(args).code, 0));
    bed
}

fn run(command: &mut Command, args: &[&str]) -> String {
    let answer = answer(command.args(args), b"");
    assert_eq!(answer.code, 0, "{args:?}: {}", answer.stderr);
    scrubbed(&answer.stdout)
}

/// Replaces what is another in every run: the time at which it told its records. Leaves out how long things took, and what
/// was ranked below.
fn scrubbed(text: &str) -> String {
    let is_time = |part: &str| part.len() == 16 && part.starts_with("20") && part.get(4..5) == Some("-");
    let mut lines: Vec<String> = Vec::new();
    let mut is_left_out = false;
    for line in text.split('\n') {
        let is_of_run =
            ["found     ", "stages    ", "took      ", "left out  "].iter().any(|label| line.starts_with(label));
        is_left_out = is_of_run || (is_left_out && line.starts_with(' '));
        if is_left_out || line.ends_with(" s") {
            continue;
        }
        let mut line = line.to_owned();
        for at in 0..line.len() {
            if line.get(at..at + 16).is_some_and(|part| is_time(part) && part > "2024-12") {
                line.replace_range(at..at + 16, "0000-00-00 00:00");
            }
        }
        lines.push(line);
    }
    lines.join("\n")
}

/// Compares what is shown with what was looked at. A file that is missing is made.
fn compare(name: &str, shown: &str, differing: &mut Vec<String>) {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/golden").join(format!("{name}.txt"));
    match std::fs::read_to_string(&path) {
        Ok(golden) if golden == shown => {}
        Ok(golden) => differing.push(format!("{name} was\n{golden}\nand is\n{shown}")),
        Err(_) => {
            std::fs::write(&path, shown).unwrap();
            differing.push(format!("{name} was made: look at it"));
        }
    }
}

/// Removes the codes of colour.
fn bare(text: &str) -> String {
    let mut parts = text.split('\u{1b}');
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |text, part| text + part.split_once('m').unwrap().1)
}

#[test]
fn golden_screens_are_as_they_were_looked_at() {
    let bed = filled();
    let mut differing = Vec::new();
    for (name, args) in SCREENS {
        for width in ["80", "40"] {
            let shown = run(bed.command().env("COLUMNS", width), args);
            let most: usize = width.parse().unwrap();
            for line in shown.lines() {
                assert!(line.width() <= most, "{name}, {width} columns: {line}");
            }
            let coloured = run(bed.command().env("COLUMNS", width).args(["--color", "always"]), args);
            assert_eq!(bare(&coloured), shown, "{name}: colour says what words do not");
            let without = run(bed.command().env("COLUMNS", width).env("NO_COLOR", "1"), args);
            assert_eq!(without, shown, "{name}: NO_COLOR");
            compare(&format!("{name}-{width}"), &shown, &mut differing);
        }
        compare(&format!("{name}-pipe"), &run(&mut bed.command(), args), &mut differing);
    }
    let coloured = run(bed.command().env("COLUMNS", "40").args(["--color", "always"]), SCREENS[3].1);
    compare("search-40-colour", &coloured, &mut differing);
    assert!(differing.is_empty(), "{}", differing.join("\n"));
}

#[test]
fn golden_conversations_are_all_listed_and_shown_whole() {
    let bed = filled();
    let list = bed.json(&["sessions"]);
    let sessions = list["sessions"].as_array().unwrap();
    assert_eq!((sessions.len(), &list["total"]), (CONVERSATIONS, &CONVERSATIONS.into()));
    assert!(sessions.iter().all(|session| session["title"].is_string()));
    for session in sessions.iter().step_by(29) {
        let name = session["session"].as_str().unwrap();
        let shown = bed.json(&["show", name]);
        let seqs: Vec<u64> =
            shown["shown"].as_array().unwrap().iter().map(|row| row["seq"].as_u64().unwrap()).collect();
        assert_eq!(seqs, (1..=session["messages"].as_u64().unwrap()).collect::<Vec<_>>(), "{name}");
        assert_eq!(shown["title"], session["title"]);
    }
}
