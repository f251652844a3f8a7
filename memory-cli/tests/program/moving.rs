//! `memory move`: the copy is the same, line by line, also after a kill; what cannot be the same is told.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::Stdio;

use serde_json::Value;

use crate::support::{Answer, Bed, answer, conversations, said};

/// Returns the lines of an export but for its head, which holds the time.
fn export(bed: &Bed, database: &Path, subject: &str) -> Vec<String> {
    let mut command = bed.bare();
    command.arg("--db").arg(database).args(["--tenant", "acme", "--subject", subject, "export"]);
    let export = answer(&mut command, b"");
    assert_eq!(export.code, 0, "{}", export.stderr);
    export.stdout.lines().skip(1).map(str::to_owned).collect()
}

fn move_to(bed: &Bed, target: &Path, more: &[&str]) -> Answer {
    let mut command = bed.bare();
    command.args(["--json", "move", "--from"]).arg(bed.database()).arg("--to").arg(target).args(more);
    answer(&mut command, b"")
}

fn total(answer: &Answer) -> Value {
    let last = answer.stdout.lines().last().unwrap_or_else(|| panic!("{}", answer.stderr));
    serde_json::from_str::<Value>(last).unwrap()["moved"].clone()
}

/// Says so much that the beginning is summarised.
fn chat(bed: &Bed) {
    let lines: String = (0..40).map(|n| format!("Item {n}: {}\n", "a few words more ".repeat(15))).collect();
    let chat = bed.run_with(&["chat", "--session", "long", "--budget", "1000"], lines.as_bytes());
    assert_eq!(chat.code, 0, "{}", chat.stderr);
}

/// A database with two owners: conversations with a summary and a forgotten message, records with use and versions.
fn filled() -> Bed {
    let bed = Bed::new();
    bed.import(&conversations());
    chat(&bed);
    for text in ["Charlie likes tea", "Charlie lives in Kyiv", "Charlie has two cats"] {
        bed.json(&["remember", text]);
    }
    bed.json(&["remember", "Charlie likes tea", "--importance", "0.7"]);
    bed.json(&["search", "tea"]);
    let id = bed.json(&["search", "rain tomatoes", "-k", "1"])["hits"][0]["id"].as_str().unwrap().to_owned();
    bed.json(&["forget", "--id", &id]);
    bed.of("bob").import(&said("chat_history", 1, "user", "Bob asks about bicycles"));
    bed
}

const ADA: [&str; 4] = ["--tenant", "acme", "--subject", "ada"];

#[test]
fn a_copy_exports_the_same_lines_and_answers_searches() {
    let (bed, target) = (filled(), Bed::new());
    let moved = move_to(&bed, &target.database(), &["--all-owners"]);
    assert_eq!(moved.code, 0, "{}{}", moved.stdout, moved.stderr);
    let total = total(&moved);
    assert_eq!(
        (&total["owners"], &total["differing"], &total["records"], &total["pending"]),
        (&2.into(), &0.into(), &3.into(), &0.into())
    );
    let ada = export(&bed, &bed.database(), "ada").concat();
    for part in ["\"covers\"", "\"archived_by\"", "\"message\":null", "\"version\":2"] {
        assert!(ada.contains(part), "{part} is among the lines");
    }
    let counts = ada.matches("\"access_count\":").count();
    assert!(counts > ada.matches("\"access_count\":0").count(), "a use is among the lines");
    for owner in ["ada", "bob"] {
        let lines = export(&bed, &bed.database(), owner);
        assert!(lines.len() > 1);
        assert_eq!(lines, export(&target, &target.database(), owner));
    }
    assert_eq!(
        target.json(&["search", "parcel", "-k", "1"])["hits"],
        bed.json(&["search", "parcel", "-k", "1"])["hits"]
    );
    let again = move_to(&bed, &target.database(), &["--all-owners"]);
    assert_eq!((again.code, self::total(&again)), (0, total));
}

#[test]
fn one_owner_moves_alone() {
    let (bed, target) = (filled(), Bed::new());
    let moved = move_to(&bed, &target.database(), &ADA);
    assert_eq!(moved.code, 0, "{}", moved.stderr);
    assert_eq!(export(&target, &target.database(), "bob").len(), 1);
    assert_eq!(export(&target, &target.database(), "ada"), export(&bed, &bed.database(), "ada"));
}

#[test]
fn what_was_said_summarised_or_forgotten_since_moves_with_the_next_run() {
    let (bed, target) = (filled(), Bed::new());
    assert_eq!(move_to(&bed, &target.database(), &ADA).code, 0);
    bed.import(&said("garden", 5_000, "user", "And what about the cucumbers?"));
    chat(&bed);
    let id = bed.json(&["search", "E-4471-B", "-k", "1"])["hits"][0]["id"].as_str().unwrap().to_owned();
    bed.json(&["forget", "--id", &id]);
    let moved = move_to(&bed, &target.database(), &ADA);
    assert_eq!(moved.code, 0, "{}{}", moved.stdout, moved.stderr);
    assert_eq!(export(&target, &target.database(), "ada"), export(&bed, &bed.database(), "ada"));
    assert!(!export(&target, &target.database(), "ada").concat().contains("E-4471-B"));
}

#[test]
fn a_kill_at_any_point_leaves_a_move_that_the_next_one_completes() {
    let bed = Bed::new();
    let lines: String =
        (0..3_000).map(|n| said(&format!("s{}", n % 4), n, "user", &format!("word{n} boats"))).collect();
    bed.import(&lines);
    for n in 0..40 {
        bed.json(&["remember", &format!("Fact number{n} about boats")]);
    }
    let whole = export(&bed, &bed.database(), "ada");
    let mut killed = 0;
    for point in 0..8_usize {
        let target = Bed::new();
        let mut command = bed.bare();
        command.args(["move", "--progress", "lines", "--from"]).arg(bed.database());
        command.arg("--to").arg(target.database()).args(ADA);
        let mut child = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
        let mut told = BufReader::new(child.stderr.take().unwrap()).lines();
        for _ in 0..point {
            let _ = told.next();
        }
        std::thread::sleep(std::time::Duration::from_millis(point as u64 % 3 * 2));
        child.kill().unwrap();
        killed += u32::from(child.wait().unwrap().code() != Some(0));
        let moved = move_to(&bed, &target.database(), &ADA);
        assert_eq!(moved.code, 0, "point {point}: {}{}", moved.stdout, moved.stderr);
        assert_eq!(export(&target, &target.database(), "ada"), whole, "point {point}");
    }
    assert!(killed >= 6, "{killed} of 8 were killed before their end");
}

#[cfg(unix)]
#[test]
fn a_move_goes_on_to_its_end_where_nobody_reads_what_it_tells() {
    let (bed, target) = (Bed::new(), Bed::new());
    // What is told of all of them is more than is held back at once.
    let subjects: Vec<String> = (0..24).map(|number| format!("{number}-{}", "x".repeat(240))).collect();
    for subject in &subjects {
        bed.of(subject).json(&["remember", "likes tea"]);
    }
    let mut command = bed.bare();
    command.args(["--json", "move", "--all-owners", "--from"]).arg(bed.database()).arg("--to").arg(target.database());
    assert_eq!(crate::support::unread(&mut command, b"").0, Some(0));
    let mut owners = target.bare();
    owners.arg("--db").arg(target.database()).args(["--json", "owners"]);
    assert_eq!(answer(&mut owners, b"").json()["owners"].as_array().unwrap().len(), subjects.len());
}

#[test]
fn an_owner_forgotten_on_one_side_is_neither_brought_back_nor_erased_unasked() {
    let (bed, target) = (filled(), Bed::new());
    assert_eq!(move_to(&bed, &target.database(), &ADA).code, 0);
    target.json(&["forget", "--all", "--yes"]);
    let moved = move_to(&bed, &target.database(), &ADA);
    assert_eq!((moved.code, total(&moved)["differing"].as_u64()), (3, Some(1)));
    assert!(moved.stderr.contains("forgotten in the target"), "{}", moved.stderr);
    assert_eq!(export(&target, &target.database(), "ada").len(), 1);
    bed.json(&["forget", "--all", "--yes"]);
    assert_eq!(move_to(&bed, &target.database(), &ADA).code, 0);
    // An erasure moves as well, where the target holds nothing.
    let fresh = Bed::new();
    assert_eq!(move_to(&bed, &fresh.database(), &["--all-owners"]).code, 0);
    let older = filled();
    let back = move_to(&older, &fresh.database(), &ADA);
    assert_eq!(back.code, 3, "{}", back.stderr);
    assert!(back.stderr.contains("forgotten in the target"), "{}", back.stderr);
}

#[test]
fn what_was_forgotten_in_the_source_since_is_told_and_mirrored() {
    let (bed, target) = (filled(), Bed::new());
    assert_eq!(move_to(&bed, &target.database(), &ADA).code, 0);
    bed.json(&["forget", "--session", "garden", "--yes"]);
    let id = bed.json(&["search", "Kyiv", "-k", "1"])["hits"][0]["id"].as_str().unwrap().to_owned();
    bed.json(&["forget", "--id", &id]);
    let moved = move_to(&bed, &target.database(), &ADA);
    assert_eq!((moved.code, total(&moved)["differing"].as_u64()), (3, Some(1)));
    for part in ["the target alone holds 1 sessions (garden)", "the target alone holds 1 records"] {
        assert!(moved.stderr.contains(part), "{}", moved.stderr);
    }
    assert!(export(&target, &target.database(), "ada").concat().contains("Kyiv"), "nothing is removed unasked");

    let mirrored = move_to(&bed, &target.database(), &[&ADA[..], &["--mirror"]].concat());
    assert_eq!((mirrored.code, total(&mirrored)["removed"].as_u64()), (0, Some(2)), "{}", mirrored.stderr);
    let lines = export(&target, &target.database(), "ada");
    assert_eq!(lines, export(&bed, &bed.database(), "ada"));
    assert!(!lines.concat().contains("Kyiv") && !lines.concat().contains("tomatoes"));
    let hits = target.json(&["search", "tomatoes"])["hits"].clone();
    assert!(hits.as_array().unwrap().iter().all(|hit| hit["session"] != "garden"), "{hits}");
}

#[test]
fn a_mirror_of_an_owner_whom_the_source_does_not_know_removes_nothing() {
    let (bed, target) = (filled(), Bed::new());
    assert_eq!(move_to(&bed, &target.database(), &ADA).code, 0);
    let before = export(&target, &target.database(), "ada");
    let empty = Bed::new();
    empty.of("bob").import(&said("chat_history", 1, "user", "Bob asks about bicycles"));
    let mirrored = move_to(&empty, &target.database(), &[&ADA[..], &["--mirror"]].concat());
    assert_eq!((mirrored.code, total(&mirrored)["removed"].as_u64()), (3, Some(0)), "{}", mirrored.stderr);
    assert!(mirrored.stderr.contains("the source holds nothing"), "{}", mirrored.stderr);
    assert_eq!(export(&target, &target.database(), "ada"), before);
}

#[test]
fn a_session_that_was_forgotten_in_the_target_is_not_brought_back_unasked() {
    let (bed, target) = (filled(), Bed::new());
    assert_eq!(move_to(&bed, &target.database(), &ADA).code, 0);
    target.json(&["forget", "--session", "garden", "--yes"]);
    let moved = move_to(&bed, &target.database(), &ADA);
    assert_eq!(moved.code, 3);
    assert!(moved.stderr.contains("the session garden was forgotten in the target"), "{}", moved.stderr);
    assert!(!export(&target, &target.database(), "ada").concat().contains("tomatoes"));
    let mirrored = move_to(&bed, &target.database(), &[&ADA[..], &["--mirror"]].concat());
    assert_eq!(mirrored.code, 0, "{}", mirrored.stderr);
    assert_eq!(export(&target, &target.database(), "ada"), export(&bed, &bed.database(), "ada"));
}

#[test]
fn another_past_in_the_target_is_told_and_left_alone() {
    let (bed, target) = (filled(), Bed::new());
    target.import(&said("garden", 1, "user", "Another garden altogether"));
    let before = target.json(&["context", "--session", "garden"]);
    let moved = move_to(&bed, &target.database(), &ADA);
    assert_eq!(moved.code, 3, "{}", moved.stdout);
    assert!(moved.stderr.contains("the session garden has another past"), "{}", moved.stderr);
    assert_eq!(target.json(&["context", "--session", "garden"])["messages"], before["messages"]);
    assert!(target.json(&["search", "parcel"])["hits"][0]["text"].as_str().unwrap().contains("E-4471-B"));
}

#[test]
fn conversations_alone_move_where_records_are_to_stay() {
    let (bed, target) = (filled(), Bed::new());
    let moved = move_to(&bed, &target.database(), &["--all-owners", "--conversations"]);
    let total = total(&moved);
    assert_eq!((moved.code, &total["records"], &total["records_left"]), (0, &0.into(), &3.into()));
    let said = |line: &String| line.starts_with("{\"row\"");
    let lines = |bed: &Bed| export(bed, &bed.database(), "ada").into_iter().filter(said).collect::<Vec<_>>();
    assert_eq!(lines(&bed), lines(&target));
}

#[test]
fn a_wrong_move_is_refused_before_anything_is_made() {
    let bed = Bed::new();
    let target = bed.path("target.sqlite");
    let table: [(&[&str], &str); 7] = [
        (
            &["--from", "missing.sqlite", "--to", "target.sqlite", "--all-owners"],
            "--from: there is no database missing.sqlite",
        ),
        (&["--from", "a.sqlite", "--to", "sqlite:a.sqlite", "--all-owners"], "the same database"),
        (&["--from", "qdrant://h", "--to", "target.sqlite", "--all-owners"], "holds indexes, not conversations"),
        (&["--from", "mysql://h", "--to", "target.sqlite", "--all-owners"], "--from: no kind of database"),
        (&["--from", "a.sqlite", "--to", "memory:", "--all-owners"], "gone when the command ends"),
        (&["--from", "a.sqlite", "--to", "target.sqlite", "--all-owners", "--session", "talk"], "leave out --session"),
        (&["--from", "a.sqlite"], "--to"),
    ];
    for (args, part) in table {
        let refused = answer(bed.bare().arg("move").args(args), b"");
        let line = refused.refused(2);
        assert!(line.contains(part), "{args:?}: {line}");
    }
    assert!(!target.exists());
}

#[test]
fn one_file_under_two_names_is_not_moved_onto_itself() {
    let bed = filled();
    let second = bed.path("second.sqlite");
    std::fs::hard_link(bed.database(), &second).unwrap();
    let refused = move_to(&bed, &second, &["--all-owners"]);
    assert!(refused.refused(2).contains("the same database"));
}

#[test]
fn a_password_is_never_shown() {
    let bed = Bed::new();
    let url = "mysql://ada:hidden-pass@h/d";
    for args in [&["--db", url, "stats"][..], &["move", "--from", url, "--to", "x", "--all-owners"]] {
        let refused = answer(bed.bare().args(args), b"");
        assert!(!refused.stderr.contains("hidden-pass") && !refused.stdout.contains("hidden-pass"));
    }
}
