//! Files of settings: what broken ones are answered, and what whole ones make of a memory.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use memory::{Error, Settings};

/// The secrets that there are.
fn secrets(name: &str) -> Option<String> {
    matches!(name, "USER_NAME" | "PASSWORD").then(|| "c4nary@evil/?x=".to_owned())
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/settings/broken")
}

fn broken() -> std::io::Result<Vec<PathBuf>> {
    let files: std::io::Result<Vec<PathBuf>> = fs::read_dir(folder())?.map(|file| Ok(file?.path())).collect();
    let mut files: Vec<PathBuf> =
        files?.into_iter().filter(|file| file.extension().is_some_and(|end| end == "yaml")).collect();
    files.sort();
    Ok(files)
}

/// The answers stand beside the files. One that is missing is written, and the test fails: look at it before you keep it.
#[test]
fn s1_19_every_broken_file_is_told_its_line_and_a_remedy() {
    let files = broken().unwrap();
    assert!(files.len() >= 30);
    let mut differing = Vec::new();
    for file in files {
        let text = fs::read_to_string(&file).unwrap();
        let error = Settings::from_yaml(&text, secrets).expect_err(&file.display().to_string());
        let lines = text.lines().count();
        for problem in error.problems() {
            assert!(problem.line <= lines && !problem.what.is_empty() && !problem.remedy.is_empty(), "{problem:?}");
        }
        let shown = format!("{error}\n");
        let golden = file.with_extension("txt");
        match fs::read_to_string(&golden) {
            Ok(golden) if golden == shown => {}
            Ok(golden) => differing.push(format!("{} was\n{golden}and is\n{shown}", file.display())),
            Err(_) => {
                fs::write(&golden, &shown).unwrap();
                differing.push(format!("{} had no answer", file.display()));
            }
        }
    }
    assert!(differing.is_empty(), "{}", differing.join("\n"));
}

#[test]
fn s1_20_no_answer_to_a_broken_file_quotes_a_secret() {
    for file in broken().unwrap() {
        let error = Settings::from_yaml(&fs::read_to_string(&file).unwrap(), secrets).unwrap_err();
        let told = format!("{error}\n{error:?}\n{}", Error::from(error.clone()));
        assert!(!told.contains("hunter2") && !told.contains("c4nary"), "{}: {told}", file.display());
    }
}

/// A carriage return alone ends a line too. Whoever counted otherwise would show another line, and perhaps a secret of it.
#[test]
fn s1_20_lines_end_as_yaml_says_so_that_no_other_line_is_shown() {
    for end in ["\n", "\r\n", "\r"] {
        let yaml = format!("# one{end}# two{end}memory:\n  buffer:\n    max_sise: 8\n  elastic:\n    pw: hunter2\n");
        let error = Settings::from_yaml(&yaml, secrets).unwrap_err();
        let places: Vec<_> = error.problems().iter().map(|problem| (problem.line, problem.column)).collect();
        assert_eq!(places, [(5, 5), (7, 5)]);
        let shown = error.to_string();
        assert!(shown.contains("5 |     max_sise: …") && !shown.contains("hunter2"), "{shown}");
    }
}

#[test]
fn s1_19_a_file_that_ends_too_soon_is_told_its_last_line() {
    for yaml in
        ["memory:\n buffer:\n  a?b:\n ~$c", "memory:\n buffer:\n  a?b:\n ~$c\n", "memory:\n  buffer: {\n\n", "\"", "["]
    {
        let error = Settings::from_yaml(yaml, secrets).unwrap_err();
        let line = error.problems()[0].line;
        assert!((1..=yaml.lines().count()).contains(&line), "{yaml:?}: {error}");
    }
}

#[test]
fn s1_20_a_secret_changes_nothing_but_its_value_and_is_never_shown() {
    let yaml = r#"
memory:
  persistent: { connection_string: "postgres://app:${{ secrets.PASSWORD }}@db/memory" }
  elastic: { host: search, user: app, password: "${{ secrets.PASSWORD }}" }
"#;
    let settings = Settings::from_yaml(yaml, secrets).unwrap();
    assert_eq!(settings.truth(), Some("postgres://app:c4nary%40evil%2F%3Fx%3D@db/memory"));
    assert!(!format!("{settings:?}").contains("c4nary"));
    // A secret that looks like YAML stays a value.
    let hostile = |_: &str| Some("x\n  buffer:\n    max_size: 1\n# ".to_owned());
    let yaml = "memory:\n  elastic:\n    host: search\n    user: app\n    password: ${{ secrets.ANY }}\n";
    let settings = Settings::from_yaml(yaml, hostile).unwrap();
    assert_eq!(settings.buffer().window_messages, None);
    assert!(!format!("{settings:?}").contains("max_size"));
}

#[test]
fn s1_20_a_secret_that_is_no_value_of_its_key_is_refused_without_being_quoted() {
    let yaml = "memory:\n  buffer:\n    max_size: ${{ secrets.PASSWORD }}\n";
    let error = Settings::from_yaml(yaml, secrets).unwrap_err();
    assert_eq!(error.problems().first().unwrap().line, 3);
    assert!(!format!("{error} {error:?}").contains("c4nary"));
    assert!(matches!(Error::from(error), Error::Invalid { .. }));
}

#[test]
fn s1_19_c5_the_names_of_the_designs_say_the_same() {
    let read = |yaml: &str| Settings::from_yaml(yaml, |_| None).unwrap().buffer();
    let ours = read("memory: { buffer: { window_messages: 10, summarize_after: 50, max_summaries: 500 } }");
    let theirs = read("memory: { buffer: { max_size: 10, size: 50, multiplier: 10 } }");
    assert_eq!(ours, theirs);
    let muxi = read("memory: { buffer: { max_size: 10, buffer_multiplier: 10, ranking: muxi, recency_bias: 0.3 } }");
    assert_eq!(muxi, memory::BufferConfig::balanced());
    assert_eq!(read("memory: { buffer: { preset: high_recall } }"), memory::BufferConfig::high_recall());
    // All four numbers of two designs in one file.
    let all = read("memory: { buffer: { max_size: 10, buffer_multiplier: 10, size: 50, multiplier: 10 } }");
    let four = (all.window_messages, all.capacity_messages, all.summarize_after, all.max_summaries);
    assert_eq!(four, (Some(10), Some(100), Some(50), 500));
    assert_eq!(read("memory: { buffer: { capacity_messages: 50, multiplier: 10 } }").max_summaries, 500);
    assert_eq!(read(""), memory::BufferConfig::default());
}

#[tokio::test]
async fn s1_19_a_file_makes_a_memory_with_all_its_tiers() {
    let folder = tempfile::tempdir().unwrap();
    let yaml = format!(
        "memory:
  buffer: {{ max_size: 8, buffer_multiplier: 10, vector_search: false }}
  working: {{ max_memory_mb: 1, fifo_interval_min: 5 }}
  persistent: {{ enabled: true, provider: sqlite, connection_string: {folder}/m.sqlite, user_isolation: true }}
  synopsis: {{ identity_ttl: 604800, context_ttl: 3600, refresh_on_access: true }}
  cache: {{ url: 'memory:', ttl_seconds: 5 }}
  blackboard: {{ capacity: 2 }}
  journal: {{ path: {folder}/j.sqlite, flush_batch: 7 }}
  retention: {{ max_age_days: 365 }}
",
        folder = folder.path().display()
    );
    let memory = Settings::from_yaml(&yaml, |_| None).unwrap().open().await.unwrap().build().await.unwrap();
    let status = memory.status().await;
    let parts: BTreeSet<&str> = status.stores.iter().map(|store| store.part).collect();
    assert_eq!(parts, BTreeSet::from(["board", "cache", "chat", "records", "text", "working"]));
    assert!(status.journal.is_some() && status.disabled.is_empty());
    let team = memory.of(&memory::Scope::new("acme", "team").unwrap()).blackboard();
    for key in ["a", "b", "c"] {
        team.put(&memory::BoardEntry::new(key, key)).await.unwrap();
    }
    assert_eq!(team.stats().await.unwrap().board.capacity, 2);
    memory.close().await.unwrap();
    assert!(folder.path().join("m.sqlite").exists());
}

#[tokio::test]
async fn s4_8_a_file_says_whether_uses_keep_an_entry_on_a_full_board() {
    for (refresh, left) in [("true", ["a", "c"]), ("false", ["b", "c"])] {
        let yaml = format!("memory: {{ blackboard: {{ capacity: 2, refresh_on_access: {refresh}, url: 'memory:' }} }}");
        let folder = tempfile::tempdir().unwrap();
        let settings = Settings::from_yaml(&yaml, |_| None).unwrap();
        let place = folder.path().join("m.sqlite").display().to_string();
        let memory = settings.with_truth(place).open().await.unwrap().build().await.unwrap();
        let team = memory.of(&memory::Scope::new("acme", "team").unwrap()).blackboard();
        for key in ["a", "b"] {
            team.put(&memory::BoardEntry::new(key, key)).await.unwrap();
        }
        team.get("a").await.unwrap();
        team.put(&memory::BoardEntry::new("c", "c")).await.unwrap();
        for key in ["a", "b", "c"] {
            assert_eq!(team.get(key).await.unwrap().is_some(), left.contains(&key), "{refresh} {key}");
        }
        memory.close().await.unwrap();
    }
}

#[cfg(feature = "elastic")]
#[tokio::test]
async fn s3_15_a_server_without_a_host_is_switched_off_and_status_and_receipts_say_so() {
    use memory::{Message, Role, Scope, Search, SessionId};

    let yaml = "memory: { persistent: { enabled: false }, search: { text_url: 'elastic:' } }";
    let memory = Settings::from_yaml(yaml, |_| None).unwrap().open().await.unwrap().build().await.unwrap();
    let status = memory.status().await;
    let disabled: Vec<_> = status.disabled.iter().map(|one| (one.part, one.backend, one.why.to_string())).collect();
    let why = "elastic cannot be used: ELASTIC_HOST is not set";
    assert_eq!(disabled, [("text", "elastic", why.to_owned())]);
    assert!(status.stores.iter().all(|store| store.part != "text" && store.health.is_ok()));
    let ada = memory.of(&Scope::new("acme", "ada").unwrap());
    let session = ada.session(&SessionId::new("talk").unwrap());
    session.append(vec![Message::new(Role::User, "My dentist is Dr. Weiss.", memory.now())]).await.unwrap();
    let found = ada.search(&Search::new("dentist")).await.unwrap();
    let degraded: Vec<&str> = found.receipt.degraded.iter().map(|degraded| degraded.why.as_str()).collect();
    assert_eq!(degraded, [why]);
    memory.close().await.unwrap();
}

#[test]
fn s1_19_the_page_names_every_setting_and_the_schema_too() {
    let page = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/settings.md")).unwrap();
    let schema: serde_json::Value = serde_json::from_str(&Settings::schema()).unwrap();
    let sections = schema.pointer("/properties/memory/properties").unwrap().as_object().unwrap();
    assert!(sections.len() >= 15);
    for (section, settings) in sections {
        assert!(page.contains(&format!("## `{section}`")), "{section}");
        for name in settings.get("properties").unwrap().as_object().unwrap().keys() {
            assert!(page.contains(&format!("`{name}`")), "{section}.{name}");
        }
    }
}

#[test]
fn s1_19_the_files_that_the_page_shows_are_read() {
    let page = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/settings.md")).unwrap();
    let files: Vec<&str> = page.split("```yaml\n").skip(1).filter_map(|rest| rest.split("```").next()).collect();
    assert!(!files.is_empty());
    for yaml in files {
        let settings = Settings::from_yaml(yaml, |_| Some("s3cret".to_owned()));
        let settings = settings.unwrap_or_else(|error| panic!("{yaml}\n{error}"));
        assert!(settings.truth().is_some(), "{yaml}");
    }
}

#[cfg(feature = "http-models")]
#[tokio::test]
async fn s1_19_s1_20_the_models_of_a_file_are_asked_with_its_keys_and_nobody_sees_these() {
    use memory::model::HashEmbedder;
    use memory::{Message, Role, Scope, Search, SessionId};
    use memory_testkit::wire::{Reply, Server, cohere, openai};

    let server = Server::start(|asked| {
        let body = asked.json();
        if asked.path.ends_with("/rerank") {
            return Reply::json(&cohere::scores(&vec![0.5; body["documents"].as_array().unwrap().len()]));
        }
        let texts = body["input"].as_array().unwrap().iter().map(|text| text.as_str().unwrap());
        Reply::json(&openai::embeddings(&texts.map(|text| HashEmbedder::new(32).vector(text)).collect::<Vec<_>>()))
    })
    .await;
    let yaml = |dimension: usize| {
        format!(
            "memory:
  persistent: {{ enabled: false }}
  buffer: {{ embedding_model: openai/mine }}
  working: {{ vector_dimension: {dimension} }}
  embedding: {{ base_url: '{url}', api_key: '${{{{ secrets.PASSWORD }}}}' }}
  reranker: {{ model: cohere/judge, base_url: '{url}', api_key: '${{{{ secrets.PASSWORD }}}}' }}
",
            url = server.url("/v1")
        )
    };
    let settings = Settings::from_yaml(&yaml(32), |_| Some("c4nary".to_owned())).unwrap();
    let builder = settings.open().await.unwrap();
    assert!(!format!("{builder:?}").contains("c4nary"));
    let memory = builder.build().await.unwrap();
    let ada = memory.of(&Scope::new("acme", "ada").unwrap());
    let session = ada.session(&SessionId::new("talk").unwrap());
    session.append(vec![Message::new(Role::User, "My dentist is Dr. Weiss.", memory.now())]).await.unwrap();
    memory.upkeep_once().await.unwrap();
    assert_eq!(ada.search(&Search::new("dentist")).await.unwrap().receipt.vector_candidates, 1);
    let asked = server.asked();
    assert!(asked.iter().all(|asked| asked.header("authorization") == Some("Bearer c4nary")));
    let paths: BTreeSet<&str> = asked.iter().map(|asked| asked.path.as_str()).collect();
    assert_eq!(paths, BTreeSet::from(["/v1/embeddings", "/v1/rerank"]));
    memory.close().await.unwrap();
}

#[cfg(feature = "http-models")]
#[tokio::test]
async fn s1_19_s1_20_a_model_of_a_file_finds_facts_and_is_told_its_key() {
    use memory::{Filter, Message, Role, Scope, SessionId};
    use memory_testkit::wire::{Reply, Server, openai};
    use serde_json::json;

    let text = "user has a dentist called Weiss";
    let found =
        json!([{ "op": "add", "kind": "fact", "text": text, "sources": [1], "quote": "My dentist is Dr. Weiss" }]);
    let server = Server::start(move |_| Reply::json(&openai::answer(&found.to_string()))).await;
    let yaml = format!(
        "memory:
  persistent: {{ enabled: false }}
  extractor: {{ model: openai/mine, base_url: '{}', api_key: '${{{{ secrets.PASSWORD }}}}' }}
",
        server.url("/v1")
    );
    let settings = Settings::from_yaml(&yaml, |_| Some("c4nary".to_owned())).unwrap();
    let builder = settings.open().await.unwrap();
    assert!(!format!("{builder:?}").contains("c4nary"));
    let memory = builder.build().await.unwrap();
    let ada = memory.of(&Scope::new("acme", "ada").unwrap());
    let session = ada.session(&SessionId::new("talk").unwrap());
    session.append(vec![Message::new(Role::User, "My dentist is Dr. Weiss.", memory.now())]).await.unwrap();
    let report = memory.upkeep_once().await.unwrap();
    assert_eq!((report.fact_counts.added, report.failures), (1, vec![]));
    let stored = ada.records(&Filter::All, None, 9).await.unwrap();
    let told: Vec<_> = stored.iter().map(|stored| (stored.record.text.as_str(), stored.record.origin())).collect();
    assert_eq!(told, [(text, Some("facts/chat-1/mine"))]);
    let asked = server.asked();
    let asked: Vec<_> = asked.iter().map(|asked| (asked.path.as_str(), asked.header("authorization"))).collect();
    assert_eq!(asked, [("/v1/chat/completions", Some("Bearer c4nary"))]);
    memory.close().await.unwrap();
}

#[cfg(feature = "static")]
#[tokio::test]
async fn s1_19_a_dimension_that_the_embedder_has_not_is_refused() {
    let yaml = "memory: { persistent: { enabled: false }, working: { vector_dimension: 3 } }";
    let error = Settings::from_yaml(yaml, |_| None).unwrap().open().await.unwrap_err();
    assert!(error.to_string().contains("working.vector_dimension is 3"), "{error}");
}

/// Of a file with secrets in it, any character may be missing, and any end.
#[test]
fn s1_20_a_file_that_is_damaged_anywhere_is_read_without_panic_and_quotes_no_secret() {
    let whole = "memory:
  persistent: { provider: postgres, connection_string: 'postgres://app:hunter2@db/memory' }
  elastic:
    host: search
    user: app
    password: hunter2
  qdrant: { url: 'https://vectors', api_key: hunter2 }
";
    assert!(Settings::from_yaml(whole, secrets).is_ok());
    let mut refused = 0;
    for (place, character) in whole.char_indices() {
        let (before, behind) = whole.split_at(place);
        let without = format!("{before}{}", &behind[character.len_utf8()..]);
        let other = ["\n", "\t", "{", "\"", ": ", "&", "- "].map(|text| format!("{before}{text}{behind}"));
        for text in [before.to_owned(), without].into_iter().chain(other) {
            if let Err(error) = Settings::from_yaml(&text, secrets) {
                refused += 1;
                let told = format!("{error}\n{error:?}\n{}", Error::from(error.clone()));
                assert!(!told.contains("hunter2"), "{text}\n{told}");
            }
        }
    }
    assert!(refused > 1_000);
}
