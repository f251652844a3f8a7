//! The commands that the pages show are commands that there are.

use std::fs;
use std::path::{Path, PathBuf};

use clap::Parser as _;

use super::Cli;

/// Commands that only a program with a server has.
const OF_A_SERVER: [&str; 4] = ["mcp", "hook", "token", "serve"];

/// Returns the words of a line as a shell reads them, up to a comment.
fn words(line: &str) -> Vec<String> {
    let (mut words, mut word, mut is_quoted, mut is_begun) = (Vec::new(), String::new(), false, false);
    for character in line.chars() {
        match character {
            '\'' => (is_quoted, is_begun) = (!is_quoted, true),
            '#' if !is_quoted && !is_begun => break,
            ' ' if !is_quoted && is_begun => {
                words.push(std::mem::take(&mut word));
                is_begun = false;
            }
            ' ' if !is_quoted => {}
            other => {
                word.push(other);
                is_begun = true;
            }
        }
    }
    if is_begun {
        words.push(word);
    }
    words
}

/// Returns the pages that people read.
fn pages(root: &Path) -> Vec<PathBuf> {
    let docs = fs::read_dir(root.join("docs")).unwrap().map(|file| file.unwrap().path());
    let docs = docs.filter(|path| path.extension().is_some_and(|end| end == "md"));
    let pages = ["README.md", "CONTRIBUTING.md", "memory-cli/README.md"].map(|page| root.join(page));
    pages.into_iter().chain(docs).collect()
}

/// Reads a call of the program.
fn parse(words: &[String]) {
    let needs_server = words.get(1).is_some_and(|name| OF_A_SERVER.contains(&name.as_str()));
    if cfg!(feature = "server") || !needs_server {
        let error = Cli::try_parse_from(words).err();
        assert!(error.is_none(), "{words:?}: {error:?}");
    }
}

#[test]
fn every_command_of_the_pages_is_one_that_there_is() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let (mut called, mut named) = (0, 0);
    for page in pages(&root) {
        let text = fs::read_to_string(&page).unwrap();
        let blocks = text.split("```sh\n").skip(1).filter_map(|rest| rest.split("```").next());
        for words in blocks.flat_map(str::lines).map(words) {
            if words.first().is_some_and(|word| word == "memory") {
                parse(&words);
                called += 1;
            }
            if let Some(behind) = words.iter().position(|word| word == "--").and_then(|place| words.get(place..)) {
                let program = [String::from("memory")].into_iter();
                parse(&program.chain(behind.iter().skip(1).cloned()).collect::<Vec<_>>());
                called += 1;
            }
            let packages = words.windows(2).filter(|two| two[0] == "-p").map(|two| root.join(&two[1]));
            let scripts = words.iter().filter(|word| word.starts_with("scripts/")).map(|word| root.join(word));
            for path in packages.chain(scripts) {
                assert!(path.exists(), "{}: there is no {}", page.display(), path.display());
                named += 1;
            }
        }
    }
    assert!(called >= 14 && named >= 5, "{called} {named}");
}

#[test]
fn a_line_of_a_shell_is_read_up_to_its_comment() {
    assert_eq!(words("memory search 'a b#c'  --explain   # why"), ["memory", "search", "a b#c", "--explain"]);
}
