//! What a package brings beside the program: completions and manual pages.

use std::fs;

use crate::support::{Bed, answer};

#[test]
fn each_shell_gets_completions_that_know_commands_and_options() {
    let bed = Bed::new();
    for shell in ["bash", "zsh", "fish", "powershell"] {
        // Whatever is wrong with the settings: a shell asks for them at its start.
        let written =
            answer(bed.bare().env("MEMORY_CONFIG", "/nowhere/settings.yaml").args(["completions", shell]), b"");
        assert_eq!(written.code, 0, "{shell}: {}", written.stderr);
        for word in ["import", "search", "explain"] {
            assert!(written.stdout.contains(word), "{shell} completes no {word}");
        }
    }
    let refused = answer(bed.bare().args(["completions", "cmd"]), b"");
    assert_eq!((refused.code, refused.stderr.lines().count()), (2, 1), "{}", refused.stderr);
}

#[test]
fn the_manual_has_a_page_for_the_program_and_for_each_command() {
    let bed = Bed::new();
    let folder = bed.path("man");
    let written = answer(bed.bare().arg("man").arg(&folder), b"");
    assert_eq!(written.code, 0, "{}", written.stderr);
    for page in ["memory.1", "memory-import.1", "memory-search.1", "memory-forget.1"] {
        let text = fs::read_to_string(folder.join(page)).unwrap();
        assert!(text.contains(".SH NAME") && text.contains(".SH OPTIONS"), "{page}: {text}");
    }
    let file = bed.file("taken", "not a folder");
    let refused = answer(bed.bare().args(["man", &file]), b"");
    assert_eq!((refused.code, refused.stderr.lines().count()), (2, 1), "{}", refused.stderr);
}
