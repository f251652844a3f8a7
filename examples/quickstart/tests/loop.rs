//! The example as a person runs it.

use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

/// Says `lines` to the agent and returns what it answered.
#[cfg(test)]
mod agent {
    use super::*;

    pub(super) fn say(file: &Path, lines: &str) -> String {
        let mut command = Command::new(env!("CARGO_BIN_EXE_quickstart"));
        let mut child = command.arg(file).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        child.stdin.take().unwrap().write_all(lines.as_bytes()).unwrap();
        let output = child.wait_with_output().unwrap();
        assert!(output.status.success());
        String::from_utf8(output.stdout).unwrap()
    }
}

#[test]
fn s0_21_s4_17b_a_name_that_was_told_is_in_the_next_context_also_after_a_restart() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("memory.sqlite");
    let first = agent::say(&file, "my name is Charlie\nwhat is my name?\n");
    let answers: Vec<&str> = first.lines().collect();
    assert_eq!(answers.len(), 4);
    assert!(answers[2].contains("my name is Charlie / what is my name?"), "{first}");
    let second = agent::say(&file, "and now?\n");
    assert!(second.contains("my name is Charlie"), "{second}");
}
