//! The page "coming from": every name on its left is found by the search of the documentation, and stands in an example.

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::Path;

const WORKSPACE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/..");

/// The names that the designs list.
const LISTED: &[&str] = &[
    "BufferMemory",
    "ChatMemoryBuffer",
    "ChatSummaryMemoryBuffer",
    "MemoryManager",
    "get_context",
    "SimpleComposableMemory",
    "WorkingMemory",
    "VectorMemory",
    "MilvusClient",
    "persistent",
    "RingBuffer",
    "with_threshold",
    "MemoryEntry",
    "Blackboard",
    "BlackboardEntry",
    "with_ttl",
    "put",
    "get",
    "recall",
    "create_agent_buffer",
    "add_to_agent",
    "add_to_blackboard",
    "with_embeddings",
    "get_messages",
    "add_message",
    "set_messages",
    "delete_messages",
    "chat_store_key",
    "ingest",
    "query",
    "prune",
    "NeuroVault",
    "SessionBuffer",
    "replay",
    "generate_synopsis",
    "rank_and_dedupe",
    "fit_to_window",
];

/// Adds the text of every source file below a folder.
fn read_below(folder: &Path, text: &mut String) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            read_below(&path, text)?;
        } else if path.extension().is_some_and(|end| end == "rs") {
            text.push_str(&fs::read_to_string(&path)?);
        }
    }
    Ok(())
}

/// Returns the names in the first column of the page's tables, without what stands in parentheses.
fn names(page: &str) -> BTreeSet<String> {
    let rows = page.lines().filter_map(|line| line.strip_prefix("//! | "));
    let mut names = BTreeSet::new();
    for cell in rows.filter_map(|row| row.split(" | ").next()) {
        // Every second part stands between backticks.
        for code in cell.split('`').skip(1).step_by(2) {
            let outside = code.split(')').filter_map(|part| part.split('(').next());
            let parts = outside.flat_map(|part| part.split([':', '.', ' ']));
            names.extend(parts.filter(|name| !name.is_empty()).map(str::to_owned));
        }
    }
    names
}

/// Returns whether something public has a name, or is found by it.
fn is_found(name: &str, source: &str) -> bool {
    let kinds = ["fn", "async fn", "struct", "enum", "trait"];
    let ends = ["(", "<", " ", ":"];
    let is_item = |kind: &&str| ends.iter().any(|end| source.contains(&format!("pub {kind} {name}{end}")));
    source.contains(&format!("#[doc(alias = \"{name}\")]")) || kinds.iter().any(is_item)
}

#[test]
fn the_names_of_the_designs_stand_on_the_page_are_found_and_have_an_example() {
    let page = fs::read_to_string(format!("{WORKSPACE}/memory/src/coming_from.rs")).unwrap();
    let (mut source, mut examples) = (String::new(), String::new());
    for folder in ["memory/src", "memory-core/src"] {
        read_below(&Path::new(WORKSPACE).join(folder), &mut source).unwrap();
    }
    read_below(&Path::new(WORKSPACE).join("examples/coming-from/src"), &mut examples).unwrap();
    let names = names(&page);
    assert!(names.len() > 40, "{names:?}");
    for name in LISTED {
        assert!(names.contains(*name), "{name} is not on the page");
    }
    for name in names {
        assert!(is_found(&name, &source), "{name} finds nothing");
        assert!(examples.contains(&name), "{name} stands in no example");
    }
}
