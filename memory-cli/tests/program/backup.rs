//! A copy of the whole database while others use it, and the list of who is in it.

use std::process::Stdio;

use serde_json::json;

use crate::support::{Bed, answer, conversations, said};

#[test]
fn a_backup_is_a_database_with_everything_in_it() {
    let bed = Bed::new();
    bed.import(&conversations());
    bed.of("ben").json(&["remember", "Ben has a bike"]);
    let copy = bed.path("copy.sqlite");
    let made = bed.json(&["backup", copy.to_str().unwrap()]);
    assert_eq!((&made["kind"], &made["file"]), (&json!("database"), &json!(copy.to_str().unwrap())));
    assert_eq!(made["bytes"], std::fs::metadata(&copy).unwrap().len());
    bed.json(&["forget", "--all", "--yes"]);
    let of_copy = |args: &[&str]| {
        let owner = ["--tenant", "acme", "--subject", "ada", "--json"];
        answer(bed.bare().arg("--db").arg(&copy).args(owner).args(args), b"").json()
    };
    assert_eq!(of_copy(&["search", "parcel"])["hits"].as_array().unwrap().len(), 2);
    assert_eq!(of_copy(&["stats"])["indexes"][0]["pending"], 0);
    assert_eq!(of_copy(&["owners"])["owners"].as_array().unwrap().len(), 2);
    assert_eq!(bed.json(&["search", "parcel"])["hits"], json!([]));
}

#[test]
fn a_backup_overwrites_nothing_and_leaves_nothing_half_done() {
    let bed = Bed::new();
    bed.import(&conversations());
    let file = bed.file("there.sqlite", "mine");
    assert!(bed.run(&["backup", &file]).refused(2).contains("is there already"));
    assert_eq!(std::fs::read_to_string(&file).unwrap(), "mine");
    let nowhere = bed.path("none/copy.sqlite");
    assert!(bed.run(&["backup", nowhere.to_str().unwrap()]).refused(2).contains("cannot be made"));
    let missing = bed.path("missing.sqlite");
    let copy = bed.path("copy.sqlite");
    let answer = answer(bed.bare().arg("--db").arg(&missing).arg("backup").arg(&copy), b"");
    assert!(answer.refused(2).contains("there is no database"));
    let parts: Vec<_> = std::fs::read_dir(bed.path("")).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert!(parts.iter().all(|name| !name.to_str().unwrap().contains("part")), "{parts:?}");
}

#[test]
fn what_a_killed_backup_left_is_removed_by_the_next_one_into_the_folder() {
    let bed = Bed::new();
    bed.import(&conversations());
    let ends = [".memory-part", ".memory-part-journal", ".memory-part.lock"];
    for copy in ["copy.sqlite", "yesterday.sqlite"] {
        ends.iter().for_each(|end| drop(bed.file(&format!("{copy}{end}"), "of every owner")));
    }
    let copy = bed.path("copy.sqlite");
    bed.json(&["backup", copy.to_str().unwrap()]);
    let names: Vec<_> = std::fs::read_dir(bed.path("")).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert!(names.iter().all(|name| !name.to_str().unwrap().contains("part")), "{names:?}");
    let shown = answer(bed.bare().arg("--db").arg(&copy).args(["owners", "--json"]), b"").json();
    assert_eq!(shown["owners"][0]["messages"], 7);
}

#[test]
fn two_backups_do_not_write_the_same_file() {
    let bed = Bed::new();
    bed.import(&conversations());
    let (part, lock) = (bed.file("copy.sqlite.memory-part", "half"), bed.file("copy.sqlite.memory-part.lock", ""));
    let other = std::fs::File::options().read(true).write(true).open(&lock).unwrap();
    other.lock().unwrap();
    let copy = bed.path("copy.sqlite");
    assert!(bed.run(&["backup", copy.to_str().unwrap()]).refused(1).contains("another backup"));
    assert_eq!(std::fs::read_to_string(&part).unwrap(), "half");
    // Another file beside it is written meanwhile.
    bed.json(&["backup", bed.path("other.sqlite").to_str().unwrap()]);
    assert_eq!(std::fs::read_to_string(&part).unwrap(), "half");
    drop(other);
    bed.json(&["backup", copy.to_str().unwrap()]);
}

#[cfg(unix)]
#[test]
fn a_backup_is_private() {
    use std::os::unix::fs::MetadataExt as _;

    let bed = Bed::new();
    bed.import(&conversations());
    let copy = bed.path("copy.sqlite");
    bed.json(&["backup", copy.to_str().unwrap()]);
    assert_eq!(std::fs::metadata(&copy).unwrap().mode() & 0o777, 0o600);
}

#[test]
fn a_backup_is_whole_while_somebody_writes() {
    let bed = Bed::new();
    bed.import(&said("s", 0, "user", "first"));
    let lines: String = (0..3_000).map(|n| said("s", n + 1, "user", &format!("message {n}"))).collect();
    let file = bed.file("lines.jsonl", lines);
    let mut import = bed.command();
    import.args(["import", &file]).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let mut child = import.spawn().unwrap();
    let copies: Vec<_> = (0..3).map(|number| bed.path(&format!("copy-{number}.sqlite"))).collect();
    for copy in &copies {
        bed.json(&["backup", copy.to_str().unwrap()]);
    }
    assert!(child.wait().unwrap().success());
    for copy in &copies {
        let owner = ["--tenant", "acme", "--subject", "ada", "--json", "show", "s"];
        let shown = answer(bed.bare().arg("--db").arg(copy).args(owner), b"").json();
        let seqs: Vec<u64> =
            shown["shown"].as_array().unwrap().iter().map(|row| row["seq"].as_u64().unwrap()).collect();
        assert_eq!(seqs, (1..=shown["messages"].as_u64().unwrap()).collect::<Vec<_>>());
    }
}

#[test]
fn a_backup_of_what_is_no_file_is_an_export() {
    let bed = Bed::new();
    let export = bed.path("export.jsonl");
    let owner = ["--tenant", "acme", "--subject", "ada", "--json"];
    let made = answer(bed.bare().args(["--db", "memory:"]).args(owner).arg("backup").arg(&export), b"").json();
    assert_eq!(made["kind"], "export");
    assert!(std::fs::read_to_string(&export).unwrap().starts_with("{\"memory_export\":1"));
    let nobody = answer(bed.bare().args(["--db", "memory:", "backup"]).arg(bed.path("other.jsonl")), b"");
    assert!(nobody.refused(2).contains("--tenant NAME --subject NAME") && !bed.path("other.jsonl").exists());
}

#[test]
fn a_backup_leaves_the_journal_to_whoever_has_it_and_says_so() {
    let bed = Bed::new();
    let journal = bed.path("journal.sqlite");
    let backup = |name: &str| {
        let mut command = bed.bare();
        command.env("SESSION_BUFFER_PATH", &journal).args(["--db", "memory:", "--tenant", "acme", "--subject", "ada"]);
        answer(command.arg("backup").arg(bed.path(name)), b"")
    };
    let none = backup("none.jsonl");
    assert_eq!((none.code, none.stderr.as_str()), (0, ""));
    assert!(!journal.exists());
    bed.file("journal.sqlite", "somebody's");
    let left = backup("left.jsonl");
    assert!(left.code == 0 && left.stderr.contains("what may wait in the journal"), "{}", left.stderr);
    assert_eq!(std::fs::read_to_string(&journal).unwrap(), "somebody's");
}

#[test]
fn owners_are_listed_with_counts_and_nothing_else() {
    let bed = Bed::new();
    bed.import(&conversations());
    bed.of("ben").json(&["remember", "Ben has a bike"]);
    bed.of("eve").json(&["remember", "Eve was here"]);
    bed.of("eve").json(&["forget", "--all", "--yes"]);
    let list = answer(bed.bare().arg("--db").arg(bed.database()).args(["owners", "--json"]), b"").json();
    assert_eq!(
        list["owners"],
        json!([
            {"tenant": "acme", "subject": "ada", "sessions": 2, "messages": 7, "records": 0},
            {"tenant": "acme", "subject": "ben", "sessions": 0, "messages": 0, "records": 1},
        ])
    );
    let words = bed.run(&["owners"]).stdout;
    assert!(words.starts_with("ada of acme\n  2 sessions, 7 messages, 0 records\nben of acme\n"), "{words}");
    assert!(words.ends_with("2 owners\n") && !words.contains("bike"), "{words}");
    let missing = answer(bed.bare().args(["--db", "none.sqlite", "owners"]), b"");
    assert!(missing.refused(2).contains("there is no database"));
}
