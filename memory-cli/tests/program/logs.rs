//! What `RUST_LOG` makes the program say on stderr.

use crate::support::{Answer, Bed, answer};

const SAID: &str = "my-canary-lives-in-Lisbon";

/// Runs a command with `RUST_LOG`.
fn logged(bed: &Bed, level: &str, args: &[&str]) -> Answer {
    let said = answer(bed.command().env("RUST_LOG", level).args(args), b"");
    assert_eq!(said.code, 0, "{}", said.stderr);
    said
}

#[test]
fn s4_14_nothing_is_logged_unless_it_is_asked_for() {
    let bed = Bed::new();
    assert_eq!(bed.run(&["remember", SAID]).complaints(), "");
    assert_eq!(bed.run(&["search", "canary"]).complaints(), "");
}

#[test]
fn s4_14_logs_tell_what_happens_by_level_and_nothing_of_what_was_said() {
    let bed = Bed::new();
    logged(&bed, "info", &["remember", SAID]);
    let searched = logged(&bed, "debug", &["search", "canary"]).stderr;
    assert!(searched.contains("answered a question"), "{searched}");
    for field in ["backend=\"sqlite\"", "part=\"text\"", "operation=\"search\"", "outcome=\"ok\"", "micros="] {
        assert!(searched.contains(field), "{field}: {searched}");
    }
    assert!(searched.contains("search:store{"), "spans say what a call is for: {searched}");
    let forgotten = logged(&bed, "info", &["forget", "--all", "--yes"]).stderr;
    assert!(forgotten.contains("INFO") && forgotten.contains("something was forgotten"), "{forgotten}");
    assert!(!forgotten.contains("DEBUG"), "{forgotten}");
}

#[test]
fn s4_14_even_at_trace_no_line_holds_content_an_owner_or_another_crate() {
    let bed = Bed::new().of("subject-canary");
    let file = bed.file("talk.json", format!(r#"[{{"role":"user","content":"{SAID}"}}]"#));
    let said: Vec<Answer> = [
        &["import", &file][..],
        &["remember", SAID],
        &["search", SAID],
        &["context", SAID],
        &["stats"],
        &["forget", "--all", "--yes"],
    ]
    .iter()
    .map(|args| logged(&bed, "trace", args))
    .collect();
    let lines: Vec<&str> =
        said.iter().flat_map(|said| said.stderr.lines()).filter(|line| line.contains("Z ")).collect();
    assert!(lines.len() > 20);
    for line in lines {
        assert!(!line.contains("canary") && !line.contains("Lisbon"), "{line}");
        assert!(!line.contains("sqlx") && line.contains("memory"), "{line}");
    }
}

#[test]
fn a_level_that_is_none_is_a_warning_and_stops_nothing() {
    let bed = Bed::new();
    let said = logged(&bed, "memory=loud", &["remember", SAID]);
    assert!(said.stderr.starts_with("warning: RUST_LOG cannot be read"), "{}", said.stderr);
}
