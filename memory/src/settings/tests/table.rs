use std::fmt::Write as _;
use std::fs;

use memory_core::reference::MemCache;
use memory_core::{Stores, SystemClock};

use super::*;
use crate::settings::key::{Key, Kind};
use crate::settings::keys::SECTIONS;

fn sample(key: &Key) -> String {
    match key.kind {
        Kind::Flag => (key.default != "true").to_string(),
        Kind::Share => "0.7".to_owned(),
        Kind::Time if key.path.ends_with("_max_age") => "700000".to_owned(),
        Kind::Time => "77".to_owned(),
        Kind::Whole(least) => (least + 17).to_string(),
        Kind::Text if key.path == "qdrant.url" => "https://vectors".to_owned(),
        Kind::Model(..) => "ollama/mine".to_owned(),
        kind => kind.example(""),
    }
}

/// Returns all that settings make of a memory, in words.
pub(super) fn made(settings: &Settings) -> String {
    let cache = Arc::new(MemCache::new(Arc::new(SystemClock)));
    let builder = settings.over(Stores { cache: Some(cache), ..Stores::default() }).unwrap();
    let (guards, flushes) = (build::guards(&settings.values), build::flushes(&settings.values));
    let places = [TEXT.path, VECTORS.path, CACHE.path, BOARD.path].map(|path| {
        let key = keys::all().find(|key| key.path == path).unwrap();
        settings.values.text(key).map(str::to_owned)
    });
    let (bounds, ring) = (journal_bounds(settings), settings.ring_buffer().unwrap());
    let (named, journal) = (settings.values.named(), settings.journal());
    format!("{builder:?} {guards:?} {flushes:?} {named:?} {journal:?} {bounds} {ring:?} {places:?}")
}

/// Returns how much a journal would hold, in words.
#[cfg(feature = "sqlite")]
fn journal_bounds(settings: &Settings) -> String {
    let config = memory_sqlite::JournalConfig::new("journal.sqlite");
    format!("{:?}", journal::bounded(config, &settings.values))
}

/// Returns nothing: no journal is kept.
#[cfg(not(feature = "sqlite"))]
fn journal_bounds(_: &Settings) -> String {
    String::new()
}

#[test]
fn s1_19_every_setting_changes_the_memory() {
    // What counts only beside others stands beside these.
    let beside = |path: &str| match path {
        "buffer.buffer_multiplier" => ", max_size: 5",
        "buffer.multiplier" => ", size: 5",
        "buffer.recency_weight" => ", ranking: muxi",
        "buffer.importance_weight" => ", ranking: weighted",
        "buffer.rrf_k" => ", ranking: rrf",
        "buffer.half_life_seconds" | "buffer.candidates" => ", ranking: kari",
        _ => "",
    };
    // Read where stores are opened, not where the memory is built.
    let opening = [keys::sections_of_models(), vec!["persistent"]].concat();
    for key in keys::all().filter(|key| !opening.contains(&key.section())) {
        if cfg!(not(feature = "sqlite")) && key.path.starts_with("journal.max_") {
            continue;
        }
        // Looked at where vectors are opened.
        if matches!(key.path, "buffer.vector_search" | "buffer.embedding_model" | "working.vector_dimension") {
            continue;
        }
        let read = |line: &str| {
            Settings::from_yaml(&format!("memory: {{ {}: {{ {line} }} }}", key.section()), |_| Some("x".to_owned()))
        };
        let others = beside(key.path).trim_start_matches(", ").to_owned();
        let without = read(&others).unwrap();
        let line = format!("{}: \"{}\"{}", key.name(), sample(key), beside(key.path));
        // A user beside the password.
        let line = if key.path == "elastic.password" { format!("{line}, user: app") } else { line };
        let with = read(&line).unwrap_or_else(|error| panic!("{line}: {error}"));
        assert_ne!(made(&without), made(&with), "{}", key.path);
    }
}

#[test]
fn c33_the_most_records_of_an_owner_are_a_setting() {
    let read = |yaml: &str| made(&Settings::from_yaml(yaml, |_| None).unwrap());
    assert_ne!(read(""), read("memory: { persistent: { max_records: 5 } }"));
}

#[test]
fn s1_19_names_and_variables_are_of_one_setting_each() {
    let mut names = std::collections::BTreeSet::new();
    for key in keys::all() {
        assert!(SECTIONS.iter().any(|(section, _)| *section == key.section()), "{}", key.path);
        for name in key.others.iter().chain([&key.name()]) {
            assert!(names.insert(format!("{}.{name}", key.section())), "{}", key.path);
        }
        for variable in key.variables {
            assert!(names.insert((*variable).to_owned()), "{variable}");
        }
    }
}

#[test]
fn s1_19_s3_16_the_environment_and_a_file_say_the_same() {
    let files = [("persistent", "MEMORY_URL", "a.sqlite"), ("journal", "SESSION_FLUSH_SECONDS", "0.5")];
    let more = [("journal", "SESSION_BUFFER_SIZE", "7"), ("search", "MEMORY_TEXT_URL", "elastic:")];
    for (section, variable, value) in files.into_iter().chain(more) {
        let key = keys::all().find(|key| key.variables.contains(&variable)).unwrap();
        let by_file =
            Settings::from_yaml(&format!("memory: {{ {section}: {{ {}: '{value}' }} }}", key.name()), |_| None);
        let by_environment =
            Settings::of(Values::default()).or_values(|name| (name == variable).then(|| value.to_owned()));
        assert_eq!(format!("{:?}", by_file.unwrap().values), format!("{:?}", by_environment.values), "{variable}");
    }
}

#[test]
fn s1_19_what_the_file_says_counts_before_the_environment() {
    let settings = Settings::from_yaml("memory: { journal: { flush_batch: 3 } }", |_| None).unwrap();
    let settings = settings.or_values(|name| (name == "SESSION_FLUSH_BATCH").then(|| "50".to_owned()));
    assert_eq!(build::flushes(&settings.values).batch, 3);
}

/// The tables of `docs/settings.md`, behind its mark. Remove what stands there, and it is written anew.
#[test]
fn s1_19_the_page_has_the_table_of_settings() {
    const MARK: &str = "<!-- what follows is the table of memory/src/settings/keys.rs -->\n";
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/settings.md");
    let mut tables = String::new();
    for (section, about) in SECTIONS {
        write!(tables, "\n## `{section}`\n\n{about}\n\n| setting | default | meaning |\n|---|---|---|\n").unwrap();
        for key in keys::all().filter(|key| key.section() == *section) {
            let names: Vec<String> = [key.name()].iter().chain(key.others).map(|name| format!("`{name}`")).collect();
            let variables: Vec<String> = key.variables.iter().map(|name| format!("`{name}`")).collect();
            let variables =
                if variables.is_empty() { String::new() } else { format!(" Variable: {}.", variables.join(", ")) };
            let takes = match key.kind {
                Kind::Word(_) | Kind::Model(..) => format!(" It is {}.", key.kind.wanted()),
                _ => String::new(),
            };
            writeln!(tables, "| {} | {} | {}{takes}{variables} |", names.join(", "), key.default, key.what).unwrap();
        }
    }
    let page = fs::read_to_string(path).unwrap();
    let (prose, found) = page.split_once(MARK).unwrap();
    if found.is_empty() {
        fs::write(path, format!("{prose}{MARK}{tables}")).unwrap();
        return;
    }
    assert!(found == tables, "docs/settings.md has\n{found}\nand the table is\n{tables}");
}
