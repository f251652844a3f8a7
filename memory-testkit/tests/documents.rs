//! What the documents say of the code is so.

use std::fs;
use std::path::Path;

#[test]
fn the_worked_example_of_the_readme_is_the_one_that_is_played() {
    let (readme, example) = (include_str!("../README.md"), include_str!("../examples/tiny_cache.rs"));
    assert!(readme.contains(&format!("```rust,no_run\n{example}```")), "copy examples/tiny_cache.rs into the README");
    let lines = example.lines().count();
    assert!(lines <= 150, "{lines} lines are no small example");
}

#[test]
fn every_proof_that_the_pages_of_faults_and_of_reliability_name_is_there() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let mut code = String::new();
    for folder in fs::read_dir(root).unwrap().map(|entry| entry.unwrap().path()) {
        if folder.file_name().unwrap().to_str().unwrap().starts_with("memory") {
            ["src", "tests"].iter().for_each(|part| read(&folder.join(part), &mut code));
        }
    }
    let [faults, goals] =
        ["docs/faults.md", "docs/reliability.md"].map(|page| fs::read_to_string(root.join(page)).unwrap());
    let is_row = |line: &&str| line.starts_with("| ") && !line.starts_with("| what") && !line.starts_with("| goal");
    let lines: Vec<&str> = faults.lines().chain(goals.lines()).filter(is_row).collect();
    assert!(lines.len() > 50);
    for line in lines {
        let proof = line.trim_end_matches('|').rsplit('|').next().unwrap().trim();
        let names: Vec<&str> = proof.split('`').skip(1).step_by(2).collect();
        assert!(!names.is_empty() || proof.starts_with("no test: "), "{line}");
        for name in names {
            assert!(is_called(&code, name), "nothing is called {name}");
        }
    }
}

#[test]
fn every_proof_that_the_page_of_complaints_names_is_in_its_file() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let page = fs::read_to_string(root.join("docs/complaints.md")).unwrap();
    let mut ids = Vec::new();
    for line in page.lines().filter(|line| line.starts_with("| ") && !line.starts_with("| |")) {
        let cells: Vec<&str> = line.trim_matches('|').split('|').map(str::trim).collect();
        let [id, _, proof]: [&str; 3] = cells.try_into().unwrap();
        let (mut file, mut code, mut tests) = ("", String::new(), 0);
        for name in proof.split('`').skip(1).step_by(2) {
            if name.contains('/') {
                (file, code) = (name, fs::read_to_string(root.join(name)).unwrap());
            } else if name.contains('_') {
                assert!(is_called(&code, name), "{id}: nothing in {file} is called {name}");
                tests += 1;
            }
        }
        assert!(tests > 0 || proof.starts_with("no test"), "{line}");
        ids.push(id);
    }
    let (designs, users) = ((1..=43).map(|number| format!("C{number}")), (1..=25).map(|number| number.to_string()));
    assert_eq!(ids, designs.chain(users).collect::<Vec<String>>());
}

#[test]
fn the_page_of_upgrades_has_every_migration() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let page = fs::read_to_string(root.join("docs/upgrade.md")).unwrap();
    for folder in ["memory-sqlite/migrations", "memory-postgres/migrations"] {
        let part = page.split(folder).nth(1).unwrap().split("\n\n").next().unwrap();
        let names = fs::read_dir(root.join(folder)).unwrap().map(|entry| entry.unwrap().file_name());
        let mut names: Vec<String> = names.map(|name| format!("`{}`", name.to_str().unwrap())).collect();
        names.sort();
        let mut told: Vec<String> =
            part.split('`').filter(|word| word.ends_with(".sql")).map(|word| format!("`{word}`")).collect();
        told.sort();
        assert_eq!(told, names, "{folder}");
    }
}

#[test]
fn every_file_that_the_pages_of_the_architecture_and_of_the_rows_name_is_there() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    for page in ["ARCHITECTURE.md", "docs/rows.md"] {
        let text = fs::read_to_string(root.join(page)).unwrap();
        let mut count = 0;
        // What stands between backticks within one line; the drawings between three of them hold none.
        for name in text.lines().flat_map(|line| line.split('`').skip(1).step_by(2)) {
            let is_path = name.contains('/') && !name.starts_with('/') && !name.contains([' ', '(', '*']);
            for path in is_path.then(|| alternatives(name)).into_iter().flatten() {
                assert!(root.join(&path).exists(), "{page}: there is no {path}");
                count += 1;
            }
        }
        assert!(count > 80, "{page}: {count}");
    }
}

/// Returns whether a test, or a scenario, has this name.
fn is_called(code: &str, name: &str) -> bool {
    ["fn NAME(", "fn NAME<", "\"NAME\"", "::NAME\""].iter().any(|part| code.contains(&part.replace("NAME", name)))
}

/// Returns the paths that `a/{b,c}.rs` stands for.
fn alternatives(name: &str) -> Vec<String> {
    let Some((before, rest)) = name.split_once('{') else { return vec![name.to_owned()] };
    let (list, after) = rest.split_once('}').unwrap_or((rest, ""));
    list.split(',').map(|part| format!("{before}{part}{after}")).collect()
}

/// Reads every source under `folder`.
fn read(folder: &Path, code: &mut String) {
    for path in fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path()) {
        if path.is_dir() {
            read(&path, code);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            code.push_str(&fs::read_to_string(path).unwrap_or_default());
        }
    }
}
