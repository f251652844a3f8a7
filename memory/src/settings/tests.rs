use memory_core::hashing::HashEmbedder;

use super::*;
use crate::backend::Backend;
use crate::open::over;

mod defaults;
mod ranking;
mod table;

fn values(name: &str) -> Option<String> {
    let table = [
        ("MEMORY_TEXT_URL", "elastic:"),
        ("MEMORY_CACHE_URL", "redis://:secret@h"),
        ("MEMORY_BOARD_URL", "redis://:secret@board"),
    ];
    table.into_iter().find(|(key, _)| *key == name).map(|(_, value)| value.to_owned())
}

#[test]
fn the_environment_fills_what_was_not_said() {
    let settings = Settings::new("memory:").with_cache("memory:").or_values(values);
    assert_eq!(settings.values.text(&TEXT), Some("elastic:"));
    assert_eq!(settings.values.text(&CACHE), Some("memory:"));
    assert_eq!(settings.values.text(&BOARD), Some("redis://:secret@board"));
    assert_eq!(settings.values.text(&VECTORS), None);
}

#[test]
fn settings_do_not_show_secrets() {
    let settings = Settings::new("postgres://ada:hidden@h/d").or_values(values);
    let shown = format!("{settings:?}");
    assert!(!shown.contains("hidden") && !shown.contains("secret"), "{shown}");
}

#[tokio::test]
async fn parts_may_live_in_places_of_their_own() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("truth.sqlite");
    let settings = Settings::new(path.to_str().unwrap()).with_text("memory:").with_cache("memory:").without_embedder();
    let stores = settings.connect().await.unwrap();
    assert_eq!(stores.chat().unwrap().store().backend(), "sqlite");
    assert_eq!(stores.text.as_ref().unwrap().backend(), "reference");
    assert!(stores.cache.is_some() && stores.vectors.is_empty());
    let memory = over(stores).build().await.unwrap();
    let status = memory.status().await;
    assert_eq!(
        status.stores.iter().map(|store| store.part).collect::<Vec<_>>(),
        ["chat", "records", "text", "cache", "board", "working"]
    );
    memory.close().await.unwrap();
}

#[test]
fn boards_stand_beside_the_truth_where_other_processes_see_them_there() {
    let shared = |url| Backend::of(url).unwrap().holds_shared_boards();
    assert!(shared("redis://h") && shared("redis+cluster://h:1,i:2"));
    assert!(["a.sqlite", "memory:", "postgres://h/d"].iter().all(|url| !shared(url)));
}

#[tokio::test]
async fn a_board_may_have_a_place_of_its_own() {
    let stores = Settings::new("memory:").with_board("memory:").connect().await.unwrap();
    assert!(stores.blackboard.is_some());
    assert!(Settings::new("memory:").connect().await.unwrap().blackboard.is_none(), "the memory brings its own");
    let error = Settings::new("memory:").with_board("a.sqlite").connect().await.unwrap_err();
    assert!(matches!(error, Error::Unsupported { backend: "sqlite", .. }), "{error}");
}

#[tokio::test]
async fn vectors_without_an_embedder_are_refused() {
    let error = Settings::new("memory:").without_embedder().with_vectors("memory:").connect().await.unwrap_err();
    assert!(matches!(error, Error::Invalid { .. }));
}

#[cfg(feature = "static")]
#[tokio::test]
async fn search_is_by_meaning_too_unless_nobody_is_to_embed() {
    let vectors = async |settings: Settings| settings.connect().await.unwrap().vectors.len();
    assert_eq!(vectors(Settings::new("memory:")).await, 1);
    assert_eq!(vectors(Settings::new("memory:").without_embedder()).await, 0);
}

#[cfg(feature = "static")]
#[tokio::test]
async fn a_place_that_holds_no_vectors_is_searched_by_words_and_says_what_is_missing() {
    let stores = Settings::new("words:").connect().await.unwrap();
    assert!(stores.text.is_some() && stores.vectors.is_empty());
    let away: Vec<String> = stores.away.iter().map(|away| away.why.to_string()).collect();
    assert_eq!(away, ["words cannot search by meaning without its extension"]);
    let asked = Settings::new("words:").with_embedder(Arc::new(HashEmbedder::new(8))).connect().await;
    assert!(matches!(asked, Err(Error::Unsupported { .. })), "somebody named the embedder");
}

#[tokio::test]
async fn an_embedder_beside_has_an_index_of_its_own_behind_the_first() {
    let embedder = |dimension| Arc::new(HashEmbedder::new(dimension));
    let settings = Settings::new("memory:").with_embedder(embedder(8)).with_embedder_beside(embedder(16));
    let stores = settings.connect().await.unwrap();
    assert_eq!(stores.vectors.iter().map(|(store, _)| store.space().dimension).collect::<Vec<_>>(), [8, 16]);
    assert!(over(stores).build().await.is_ok());
}

fn journal(table: &'static [(&'static str, &'static str)]) -> Result<(Option<String>, usize, f64)> {
    let value = |name: &str| table.iter().find(|(key, _)| *key == name).map(|(_, value)| (*value).to_owned());
    let settings = Settings::new("memory:").or_values(value);
    settings.values.check_environment()?;
    let policy = build::flushes(&settings.values);
    let path = settings.journal().map(|path| path.to_string_lossy().into_owned());
    Ok((path, policy.batch, policy.age.as_secs_f64()))
}

#[test]
fn s3_16_the_environment_says_where_a_journal_is_and_when_it_is_emptied() {
    assert_eq!(journal(&[]).unwrap(), (None, 20, 5.0));
    let all =
        journal(&[("SESSION_BUFFER_PATH", "a.db"), ("SESSION_FLUSH_BATCH", "50"), ("SESSION_FLUSH_SECONDS", "0.5")]);
    assert_eq!(all.unwrap(), (Some("a.db".to_owned()), 50, 0.5));
    assert_eq!(journal(&[("SESSION_BUFFER_SIZE", " 7 ")]).unwrap().1, 7);
    assert_eq!(journal(&[("SESSION_BUFFER_SIZE", "7"), ("SESSION_FLUSH_BATCH", "7")]).unwrap().1, 7);
}

#[test]
fn s3_16_a_wrong_variable_is_named() {
    let wrong: [&'static [(&'static str, &'static str)]; 6] = [
        &[("SESSION_FLUSH_BATCH", "many")],
        &[("SESSION_FLUSH_BATCH", "0")],
        &[("SESSION_BUFFER_SIZE", "-1")],
        &[("SESSION_FLUSH_SECONDS", "soon")],
        &[("SESSION_FLUSH_SECONDS", "-5")],
        &[("SESSION_FLUSH_BATCH", "5"), ("SESSION_BUFFER_SIZE", "6")],
    ];
    for table in wrong {
        let error = journal(table).unwrap_err();
        assert!(matches!(error, Error::Invalid { .. }) && error.to_string().contains(table[0].0), "{error}");
    }
}

#[test]
fn s3_16_who_wants_no_journal_gets_none_whatever_the_environment_says() {
    let value = |name: &str| (name == "SESSION_BUFFER_PATH").then(|| "a.db".to_owned());
    let direct = Settings::new("memory:").without_journal();
    assert_eq!(direct.clone().or_values(value).journal(), None);
    assert_eq!(Settings::new("memory:").or_values(value).without_journal().journal(), None);
    assert_eq!(direct.or_values(value).with_journal("b.db").journal(), Some(Path::new("b.db")));
}

#[test]
fn s3_16_a_journal_has_a_file_of_its_own_where_there_is_one() {
    let settings = Settings::new("a.sqlite").with_text("sqlite:b.sqlite?pool=2").with_vectors("c.sqlite");
    for shared in ["a.sqlite", "./b.sqlite", "c.sqlite"] {
        let error = settings.clone().with_journal(shared).check_places().unwrap_err();
        assert!(Error::from(error).to_string().contains("name a file of its own"), "{shared}");
        assert_eq!(settings.clone().with_journal(shared).without_journal().check_places(), Ok(()));
    }
    assert_eq!(settings.with_journal("d.sqlite").check_places(), Ok(()));
}

#[tokio::test]
async fn s3_16_what_is_said_of_a_journal_that_is_not_there_is_refused_or_told() {
    let read = |line: &str| Settings::from_yaml(&format!("memory: {{ journal: {{ {line} }} }}"), |_| None).unwrap();
    for line in ["flush_batch: 3", "buffer_size: 3", "flush_seconds: 1", "max_messages: 9"] {
        let error = read(line).with_truth("memory:").connect().await.unwrap_err();
        assert!(matches!(error, Error::Invalid { .. }) && error.to_string().contains("journal.path"), "{error}");
        assert_eq!(read(line).with_journal("a.db").check_places(), Ok(()));
        assert_eq!(read(line).without_journal().check_places(), Ok(()));
    }
    assert!(Settings::new("memory:").with_flush_batch(3).check_places().is_err());
    for (line, remedy) in [
        ("cache: { ttl_seconds: 300 }", "cache.url"),
        ("qdrant: { url: 'http://localhost:6334' }", "search.vectors_url"),
        ("elastic: { host: localhost }", "search.text_url"),
    ] {
        let settings = Settings::from_yaml(&format!("memory: {{ {line} }}"), |_| None).unwrap();
        let error = settings.with_truth("memory:").connect().await.unwrap_err();
        assert!(matches!(error, Error::Invalid { .. }) && error.to_string().contains(remedy), "{error}");
    }
    let used = "memory: { cache: { url: 'memory:', ttl_seconds: 300 }, search: { vectors_url: 'qdrant:?pool=3' }, qdrant: { prefix: a } }";
    assert_eq!(Settings::from_yaml(used, |_| None).unwrap().check_places(), Ok(()));
    for place in
        ["qdrant: { url: 'http://localhost:6334' }, search: { vectors_url: 'qdrant:' }", "elastic: { host: localhost }"]
    {
        let settings = Settings::from_yaml(&format!("memory: {{ {place} }}"), |_| None).unwrap();
        assert_eq!(settings.without_embedder().check_places(), Ok(()), "{place}");
    }
    for place in ["elastic:", "elastic://", "elastic:?deadline=10s", "elastic+https:", "elastic+http://", " ELASTIC:"] {
        let line = format!("memory: {{ search: {{ text_url: '{place}' }}, elastic: {{ host: localhost }} }}");
        assert_eq!(Settings::from_yaml(&line, |_| None).unwrap().check_places(), Ok(()), "{place}");
    }
    // A variable that is left over stops nobody.
    let value = |name: &str| (name == "SESSION_FLUSH_SECONDS").then(|| "1".to_owned());
    let left_over = Settings::new("memory:").or_values(value);
    assert_eq!((left_over.check_places(), left_over.idle_variable()), (Ok(()), Some("SESSION_FLUSH_SECONDS")));
    assert!(left_over.clone().connect().await.is_ok());
    assert_eq!(left_over.clone().with_journal("a.db").idle_variable(), None);
    assert_eq!(left_over.without_journal().idle_variable(), None);
}

#[test]
fn s1_20_a_place_with_a_password_is_quoted_nowhere_also_where_none_belongs() {
    for line in ["buffer: { window: postgres://ada:tulip@db/x }", "buffer: { window: 'x?password=tulip' }"] {
        let error = Settings::from_yaml(&format!("memory: {{ {line} }}"), |_| None).unwrap_err();
        assert!(!error.to_string().contains("tulip") && !format!("{error:?}").contains("tulip"), "{error}");
        assert!(error.to_string().contains("window"), "{error}");
    }
}

#[test]
fn s3_16_what_is_said_counts_more_than_the_environment() {
    let value = |name: &str| (name == "SESSION_FLUSH_BATCH").then(|| "50".to_owned());
    let settings = Settings::new("memory:").with_journal("said.db").with_flush_batch(3).or_values(value);
    assert_eq!(settings.journal(), Some(Path::new("said.db")));
    assert_eq!(build::flushes(&settings.values).batch, 3);
}

#[test]
fn s1_19_rules_find_facts_where_that_is_said_and_nobody_else_does() {
    let named = |yaml: &str| {
        let settings = Settings::from_yaml(yaml, |_| None).unwrap();
        models::extractor(&settings.values).unwrap().map(|extractor| format!("{extractor:?}"))
    };
    assert_eq!(named("memory: { extractor: { model: rules } }").as_deref(), Some("RuleExtractor"));
    assert_eq!(named("memory: { extractor: { model: none } }"), None);
    assert_eq!(named(""), None);
}

#[cfg(feature = "http-models")]
#[tokio::test]
async fn s1_19_who_finds_facts_and_who_answers_is_asked_as_the_sections_say() {
    let yaml = "memory:
  extractor: { model: ollama/m, deadline_seconds: 60, window_tokens: 5000, prompt_tokens: 3000 }
  chat: { model: ollama/n, deadline_seconds: 70, api_key: c4nary }
";
    let settings = Settings::from_yaml(yaml, |_| None).unwrap();
    let extractor = models::extractor(&settings.values).unwrap().unwrap();
    let shown = format!("{extractor:?}");
    for part in ["window: 5000", "prompt_tokens: 3000", " deadline: 60s", "silence: 60s", "chat-1/m"] {
        assert!(shown.contains(part), "{part}: {shown}");
    }
    let model = settings.chat_model(9_000).unwrap().unwrap();
    let shown = format!("{model:?}");
    assert_eq!((model.name(), settings.chat_model_name()), ("n", Some("n")));
    assert!(shown.contains("window: 9000") && shown.contains("silence: 70s") && !shown.contains("c4nary"), "{shown}");
    assert!(Settings::new("memory:").chat_model(9_000).unwrap().is_none());
}

#[cfg(feature = "http-models")]
#[tokio::test]
async fn a_model_that_is_silent_until_it_has_done_has_all_the_time_that_was_said() {
    let yaml = "
memory:
  summarizer: { model: ollama/m, deadline_seconds: 45 }
  chat: { model: ollama/m, deadline_seconds: 900 }
";
    let settings = Settings::from_yaml(yaml, |_| None).unwrap();
    let summarizer = models::summarizer(&settings.values).unwrap().unwrap();
    let shown = format!("{summarizer:?}");
    assert!(shown.contains(" deadline: 45s") && shown.contains("silence: 45s"), "{shown}");
    let shown = format!("{:?}", settings.chat_model(9_000).unwrap().unwrap());
    assert!(shown.contains(" deadline: 900s") && shown.contains("silence: 900s"), "{shown}");
}
