//! A disk that cannot be written to: the program says so in a line, and nothing stored is lost.

use std::fs::{self, Permissions};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::os::unix::process::CommandExt;
use std::process::Command;

use serde_json::json;

use crate::support::{Bed, answer, conversations, said};

/// Somebody who owns nothing.
const NOBODY: u32 = 65_534;

#[test]
fn a_read_only_database_is_read_and_kept() {
    let bed = Bed::new();
    bed.import(&conversations());
    bed.is_one_file();
    let before = fs::read(bed.database()).unwrap();
    let folder = bed.path("");
    // Whoever may write everywhere becomes somebody else, who needs a program that can be read.
    let program = bed.path("memory-program");
    // Copied by another process: a file that this one holds open for writing is not run while a child of another test has it too.
    let copied = Command::new("cp").arg("-p").arg(env!("CARGO_BIN_EXE_memory")).arg(&program).status().unwrap();
    assert!(copied.success());
    let is_root = fs::metadata(&folder).unwrap().uid() == 0;
    let run = |args: &[&str]| {
        let mut command = Command::new(&program);
        if is_root {
            command.uid(NOBODY).gid(NOBODY);
        }
        command.env_clear().arg("--db").arg(bed.database()).args(["--tenant", "acme", "--subject", "ada"]);
        answer(command.env("MEMORY_EMBEDDER", "none").args(args), b"")
    };
    fs::set_permissions(bed.database(), Permissions::from_mode(0o444)).unwrap();
    fs::set_permissions(&folder, Permissions::from_mode(0o555)).unwrap();
    let refused = run(&["remember", "x"]);
    let reading = [&["sessions"][..], &["search", "order"], &["context", "order"], &["stats"], &["export"]].map(run);
    fs::set_permissions(&folder, Permissions::from_mode(0o755)).unwrap();
    fs::set_permissions(bed.database(), Permissions::from_mode(0o644)).unwrap();
    let line = refused.refused(1);
    assert_eq!(line, "sqlite was opened for reading alone");
    for answer in &reading {
        assert!(answer.code == 0 && answer.stderr.is_empty() && !answer.stdout.is_empty(), "{}", answer.stderr);
    }
    assert!(reading[3].stdout.contains(", only read"), "{}", reading[3].stdout);
    assert!(fs::read(bed.database()).unwrap() == before, "the file is as it was");
    assert_eq!(bed.json(&["sessions"])["sessions"].as_array().unwrap().len(), 2);
}

#[test]
fn a_database_is_read_alone_where_its_path_says_so() {
    let bed = Bed::new();
    bed.import(&conversations());
    let before = fs::read(bed.database()).unwrap();
    let path = format!("{}?mode=ro", bed.database().display());
    let run = |args: &[&str]| {
        answer(bed.bare().args(["--db", &path, "--tenant", "acme", "--subject", "ada"]).args(args), b"")
    };
    assert_eq!(run(&["sessions"]).code, 0);
    assert_eq!(run(&["remember", "x"]).refused(1), "sqlite was opened for reading alone");
    assert!(fs::read(bed.database()).unwrap() == before, "the file is as it was");
    bed.is_one_file();
}

#[test]
fn a_database_and_the_folder_made_for_it_are_private_whatever_the_umask() {
    for umask in ["000", "022"] {
        let bed = Bed::new();
        let mut command = Command::new("sh");
        command.env_clear().env("XDG_DATA_HOME", bed.path("data")).args(["-c", "umask \"$0\"; exec \"$@\"", umask]);
        command.arg(env!("CARGO_BIN_EXE_memory")).args(["--tenant", "acme", "--subject", "ada", "remember", "tea"]);
        assert_eq!(answer(&mut command, b"").code, 0);
        let mode = |path: &str| fs::metadata(bed.path(path)).unwrap().mode() & 0o777;
        assert_eq!((mode("data/memory"), mode("data/memory/memory.sqlite")), (0o700, 0o600), "umask {umask}");
    }
}

/// Runs a command whose output a full disk does not take, and returns its code and what it said on stderr.
#[cfg(target_os = "linux")]
fn unwritten(command: &mut Command) -> (Option<i32>, String) {
    let full = fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
    let told = command.stdout(full).output().unwrap();
    (told.status.code(), String::from_utf8(told.stderr).unwrap())
}

#[cfg(target_os = "linux")]
#[test]
fn help_and_results_that_a_full_disk_does_not_take_are_an_error() {
    let bed = Bed::new();
    for args in [&["--help"][..], &["--version"], &["search", "--help"], &["sessions"], &["completions", "bash"]] {
        let (code, line) = unwritten(bed.bare().args(["--tenant", "acme", "--subject", "ada"]).args(args));
        assert_eq!(code, Some(1), "{args:?}: {line}");
        assert!(line.starts_with("error: the output cannot be written: ") && line.lines().count() == 1, "{line}");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn an_eval_whose_figures_cannot_be_written_leaves_one_file() {
    let bed = Bed::new();
    // More than is held back before it is written.
    let (code, line) = unwritten(bed.command().args(["eval", "sample", "--misses", "--legs", "text,text,text"]));
    assert_eq!(code, Some(1), "{line}");
    bed.is_one_file();
}

#[test]
fn a_full_disk_ends_an_import_in_a_line_and_the_same_command_goes_on() {
    let bed = Bed::new();
    bed.import(&conversations());
    let long = "words that fill the disk ".repeat(100);
    let text: String = (0..2_500).map(|n| said("full", n, "user", &format!("{n} {long}"))).collect();
    let file = bed.file("large.jsonl", &text);
    // No file may grow beyond 2 MiB, as if the disk were full; the signal that comes with it is ignored.
    let script = "trap '' XFSZ; ulimit -f 4096; exec \"$0\" \"$@\"";
    let mut command = Command::new("sh");
    command.args(["-c", script]).arg(env!("CARGO_BIN_EXE_memory")).arg("--db").arg(bed.database());
    let stopped = answer(command.args(["--tenant", "acme", "--subject", "ada", "import", &file]), b"");
    assert_eq!((stopped.code, stopped.stdout.as_str()), (1, ""), "{}", stopped.stderr);
    let lines: Vec<&str> = stopped.stderr.lines().collect();
    assert!(lines[0].ends_with("items are in; the same command goes on from there"), "{lines:?}");
    assert!(lines.len() == 2 && lines[1].starts_with("error: sqlite failed to append messages: "), "{lines:?}");
    let stored: u64 = lines[0].split(' ').next().unwrap().parse().unwrap();
    let answer = bed.json(&["import", &file]);
    let (added, already) = (answer["added"].as_u64().unwrap(), answer["already"].as_u64().unwrap());
    assert!(already >= stored && added > 0 && added + already == 2_500, "{stored} {answer}");
    assert_eq!(bed.json(&["stats"])["owner"]["messages"], json!(2_507));
}
