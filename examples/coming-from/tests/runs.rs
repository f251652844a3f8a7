//! The examples as a person runs them.

use std::process::Command;

#[cfg(test)]
mod program {
    use super::*;

    /// Runs a program, and returns what it wrote.
    pub(super) fn run(program: &str, folder: Option<&str>) -> String {
        let output = Command::new(program).args(folder).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    }
}

#[test]
fn a_buffer_is_a_session() {
    let told = program::run(env!("CARGO_BIN_EXE_muxi"), None);
    assert_eq!(told, "recent: 2\nfound: My rose is called Aurora.\n");
}

#[test]
fn three_tiers_are_one_memory() {
    let told = program::run(env!("CARGO_BIN_EXE_tiers"), None);
    assert!(told.starts_with("told twice: Reinforced\nsynopsis: "), "{told}");
    assert!(told.ends_with("the context has the note: true\ntokens: at most 4000\n"), "{told}");
}

#[test]
fn a_chat_memory_is_a_session() {
    let told = program::run(env!("CARGO_BIN_EXE_llamaindex"), None);
    assert_eq!(told, "get: 3 messages\nget_all: 2 messages\nmoved: 2 messages\n");
}

#[test]
fn a_vault_is_records_behind_a_gate_and_a_session_buffer_is_a_journal() {
    let folder = tempfile::tempdir().unwrap();
    let told = program::run(env!("CARGO_BIN_EXE_kari"), folder.path().to_str());
    let lines = [
        "said: Queued",
        "left: 0",
        "told: Stored, then Reinforced",
        "found: true",
        "left after a week: 0.70",
        "purged: true",
    ];
    assert_eq!(told.lines().collect::<Vec<_>>(), lines);
}

#[test]
fn agents_keep_sessions_and_share_a_board() {
    let told = program::run(env!("CARGO_BIN_EXE_agents"), None);
    let lines = ["needs a summary: true", "summarised: 5 notes, 5 are left", "the train leaves at nine", "found: 1"];
    assert_eq!(told.lines().collect::<Vec<_>>(), lines);
}
