//! Embedders over HTTP.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use memory::model::HashEmbedder;
use memory_testkit::wire::{Asked, Reply, Server, ollama, openai};
use tokio::runtime::Runtime;

use crate::support::{Bed, answer, conversations};

fn script(asked: &Asked) -> Reply {
    let body = asked.json();
    let texts = body["input"].as_array().unwrap().iter().map(|text| text.as_str().unwrap());
    let vectors: Vec<Vec<f32>> = texts.map(|text| HashEmbedder::new(32).vector(text)).collect();
    let is_ollama = asked.path.starts_with("/api/");
    Reply::json(&if is_ollama { ollama::embeddings(&vectors) } else { openai::embeddings(&vectors) })
}

#[test]
fn s4_10_ollama_and_openai_embed_what_is_imported_and_one_can_take_the_place_of_the_other() {
    let runtime = Runtime::new().unwrap();
    let server = runtime.block_on(Server::start(script));
    let bed = Bed::new();
    let ollama = format!("ollama@{}", server.url(""));
    let openai = format!("openai:text-embedding-3-small@{}", server.url("/v1"));
    let file = bed.file("talk.jsonl", conversations());
    let run = |embedder: &str, args: &[&str]| bed.json(&[&["--embedder", embedder], args].concat());
    assert_eq!(run(&ollama, &["import", &file])["added"], 7);
    let by_meaning =
        |embedder: &str| run(embedder, &["search", "tomatoes", "--explain"])["receipt"]["vector_candidates"].clone();
    assert!(by_meaning(&ollama).as_u64().unwrap() > 0);
    let changed = run(&openai, &["reindex"]);
    assert_eq!((changed["pending"].as_u64(), changed["retired"].as_array().unwrap().len()), (Some(0), 1), "{changed}");
    assert!(by_meaning(&openai).as_u64().unwrap() > 0);
    let paths: Vec<String> = server.asked().iter().map(|asked| asked.path.clone()).collect();
    assert!(paths.contains(&"/api/embed".to_owned()) && paths.contains(&"/v1/embeddings".to_owned()));
    let measured = run(&ollama, &["eval", "sample"]);
    assert!(measured.to_string().contains("text + vector"), "{measured}");
}

#[test]
fn an_embedder_that_is_away_is_told_and_words_still_find() {
    let runtime = Runtime::new().unwrap();
    let is_away = Arc::new(AtomicBool::new(false));
    let away = Arc::clone(&is_away);
    let server = runtime.block_on(Server::start(move |asked| match away.load(Ordering::SeqCst) {
        true => Reply::new(503, "text/plain", "").header("retry-after", "3600"),
        false => script(asked),
    }));
    let bed = Bed::new();
    let ollama = format!("ollama@{}", server.url(""));
    let run = |args: &[&str]| bed.run(&[&["--json", "--embedder", &ollama], args].concat());
    assert_eq!(run(&["remember", "Charlie likes green tea"]).code, 0);
    is_away.store(true, Ordering::SeqCst);
    assert_eq!(run(&["remember", "Charlie drinks no coffee"]).code, 0);
    let found = run(&["search", "coffee"]);
    assert_eq!(found.json()["hits"][0]["text"], "Charlie drinks no coffee");
    assert!(found.stderr.contains("search is by words alone"), "{}", found.stderr);
    let refused = run(&["reindex"]);
    assert_eq!(refused.code, 1, "{}{}", refused.stdout, refused.stderr);
    is_away.store(false, Ordering::SeqCst);
    // What came meanwhile was noted for the index, which follows after the next command.
    assert_eq!(run(&["search", "coffee"]).code, 0);
    assert_eq!(run(&["search", "coffee", "--explain"]).json()["receipt"]["vector_candidates"], 2);
}

#[test]
fn a_database_that_an_unnamed_model_embedded_gets_no_second_index_unasked() {
    let runtime = Runtime::new().unwrap();
    let server = runtime.block_on(Server::start(script));
    let bed = Bed::new();
    let ollama = format!("ollama@{}", server.url(""));
    assert_eq!(bed.run(&["--embedder", &ollama, "remember", "Charlie likes green tea"]).code, 0);
    let indexes = || bed.json(&["stats"])["indexes"].clone();
    let before = indexes();
    let found = answer(bed.command().env_remove("MEMORY_EMBEDDER").args(["--json", "search", "green tea"]), b"");
    assert_eq!(found.json()["hits"][0]["text"], "Charlie likes green tea");
    assert!(found.stderr.contains("not named here"), "{}", found.stderr);
    assert_eq!(indexes(), before, "a search began an index");
    let named = bed.json(&["--embedder", &ollama, "search", "green tea", "--explain"]);
    assert_eq!(named["receipt"]["vector_candidates"], 1, "{named}");
}
