//! Embedders over HTTP: what is sent, and which space the vectors belong to.

use std::collections::BTreeSet;
use std::time::Duration;

use memory_core::hashing::HashEmbedder;
use memory_core::model::{Embedder, Purpose};
use memory_core::{Error, Result};
use memory_models::{HttpEmbedder, Ollama, OpenAi};
use memory_testkit::wire::{Asked, Reply, Server, ollama, openai};
use serde_json::json;

use crate::support::{KEY, config};

/// Answers with vectors of 8 numbers that are not of unit length.
fn script(asked: &Asked) -> Reply {
    let body = asked.json();
    let vector = |text: &str| HashEmbedder::new(8).vector(text).iter().map(|x| x * 3.0).collect();
    let texts = body["input"].as_array().unwrap().iter();
    let vectors: Vec<Vec<f32>> = texts.map(|text| vector(text.as_str().unwrap())).collect();
    let is_ollama = asked.path.starts_with("/api/");
    Reply::json(&if is_ollama { ollama::embeddings(&vectors) } else { openai::embeddings(&vectors) })
}

async fn of_ollama(server: &Server, model: &str) -> Result<HttpEmbedder> {
    Ollama::with_config(config(&server.url("")))?.embedder(model).open().await
}

#[tokio::test]
async fn s4_10_ollama_embeds_by_nomic_embed_text_with_the_words_it_was_trained_with() {
    let server = Server::start(script).await;
    let embedder = of_ollama(&server, Ollama::EMBEDDER).await.unwrap();
    assert_eq!((embedder.space().model.as_str(), embedder.space().dimension), ("nomic-embed-text", 8));
    assert!(embedder.space().normalised && embedder.space().recipe.contains("search_query: "));
    embedder.embed(&["the dog", "a cat"], Purpose::Document).await.unwrap();
    embedder.embed(&["the dog"], Purpose::Query).await.unwrap();
    let bodies: Vec<_> = server.asked().iter().map(|asked| (asked.path.clone(), asked.json())).collect();
    let body =
        |texts: serde_json::Value| ("/api/embed".to_owned(), json!({ "model": "nomic-embed-text", "input": texts }));
    assert_eq!(bodies[0], body(json!(["memory"])), "it is asked once how many numbers a vector has");
    assert_eq!(bodies[1], body(json!(["search_document: the dog", "search_document: a cat"])));
    assert_eq!(bodies[2], body(json!(["search_query: the dog"])));
}

#[tokio::test]
async fn s4_10_openai_embeds_and_the_index_of_each_vector_gives_the_order() {
    let server = Server::start(script).await;
    let openai = OpenAi::with_config(config(&server.url("/v1"))).unwrap();
    let embedder = openai.embedder("text-embedding-3-small").with_dimension(8).open().await.unwrap();
    assert_eq!(server.requests(), 0, "the width was said");
    let vectors = embedder.embed(&["the dog", "a cat", "rain"], Purpose::Document).await.unwrap();
    let expected = ["the dog", "a cat", "rain"].map(|text| HashEmbedder::new(8).vector(text));
    for (vector, expected) in vectors.iter().zip(&expected) {
        assert!(vector.iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-6), "{vector:?} {expected:?}");
        embedder.space().check_vector(vector).unwrap();
    }
    let asked = server.asked().remove(0);
    assert_eq!(asked.path, "/v1/embeddings");
    assert_eq!(asked.header("authorization"), Some(&*format!("Bearer {KEY}")));
    assert_eq!(asked.json(), json!({ "model": "text-embedding-3-small", "input": ["the dog", "a cat", "rain"] }));
}

#[tokio::test]
async fn vectors_can_be_asked_for_shortened() {
    let server = Server::start(script).await;
    let openai = OpenAi::with_config(config(&server.url("/v1"))).unwrap();
    let embedder = openai.embedder("text-embedding-3-large").shortened(8).open().await.unwrap();
    embedder.embed(&["x"], Purpose::Query).await.unwrap();
    assert_eq!(server.asked()[0].json()["dimensions"], 8);
}

#[tokio::test]
async fn what_makes_other_vectors_makes_another_space() {
    let server = Server::start(script).await;
    let openai = OpenAi::compatible(config(&server.url("/v1"))).unwrap();
    let mut spaces = BTreeSet::new();
    for options in [
        openai.embedder("a"),
        openai.embedder("b"),
        openai.embedder("a").with_dimension(9),
        openai.embedder("a").with_prefixes("q: ", "d: "),
        openai.embedder("a").with_window(100),
    ] {
        spaces.insert(options.open().await.unwrap().space().fingerprint());
    }
    assert_eq!(spaces.len(), 5);
    let again = openai.embedder("a").with_batch(1, 1).open().await.unwrap();
    assert!(spaces.contains(&again.space().fingerprint()), "how many are sent at once changes nothing");
}

#[tokio::test]
async fn texts_are_sent_in_batches_by_count_and_by_tokens_and_equal_ones_once() {
    let server = Server::start(script).await;
    let openai = OpenAi::compatible(config(&server.url("/v1"))).unwrap();
    let embedder = openai.embedder("a").with_dimension(8).with_batch(3, 60).open().await.unwrap();
    let long = "a word and another ".repeat(30);
    let texts = ["one", "two", "one", "three", "four", "five", long.trim_end(), "two"];
    let vectors = embedder.embed(&texts, Purpose::Document).await.unwrap();
    assert_eq!((vectors.len(), &vectors[0], &vectors[1]), (8, &vectors[2], &vectors[7]));
    let mut sizes: Vec<usize> =
        server.asked().iter().map(|asked| asked.json()["input"].as_array().unwrap().len()).collect();
    sizes.sort_unstable();
    assert_eq!(sizes, [1, 2, 3], "one two three, four five, the long one");
}

/// Asks for the vectors of so many different texts.
async fn embed_numbered(embedder: &impl Embedder, count: usize) -> Result<Vec<Vec<f32>>> {
    let texts: Vec<String> = (0..count).map(|number| format!("text {number}")).collect();
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    embedder.embed(&texts, Purpose::Document).await
}

#[tokio::test]
async fn a_call_of_more_batches_than_may_wait_does_not_crowd_itself_out() {
    let server = Server::start(script).await;
    // 64 requests may wait beside the 2 under way.
    let openai = OpenAi::compatible(config(&server.url("/v1")).with_concurrency(2)).unwrap();
    let embedder = openai.embedder("a").with_dimension(8).with_batch(1, 100).open().await.unwrap();
    let vectors = embed_numbered(&embedder, 100).await.unwrap();
    assert_eq!((vectors.len(), server.requests()), (100, 100));
}

#[tokio::test]
async fn a_call_of_more_batches_than_its_time_allows_makes_no_request() {
    let server = Server::start(script).await;
    // A request a second, and 20 seconds.
    let config = config(&server.url("/v1")).with_requests_per_minute(60).with_deadline(Duration::from_secs(20));
    let openai = OpenAi::compatible(config).unwrap();
    let embedder = openai.embedder("a").with_dimension(8).with_batch(1, 100).open().await.unwrap();
    let error = embed_numbered(&embedder, 30).await.unwrap_err();
    assert!(matches!(error, Error::Overloaded), "{error:?}");
    assert_eq!(server.requests(), 0);
    embed_numbered(&embedder, 1).await.unwrap();
}

#[tokio::test]
async fn a_text_longer_than_the_window_is_the_mean_of_its_windows() {
    let server = Server::start(script).await;
    let openai = OpenAi::compatible(config(&server.url("/v1"))).unwrap();
    let embedder = openai.embedder("a").with_dimension(8).with_window(40).open().await.unwrap();
    let text = "the dog sleeps all day long and dreams of bones ".repeat(12);
    let vector = embedder.embed(&[text.trim_end()], Purpose::Document).await.unwrap().remove(0);
    embedder.space().check_vector(&vector).unwrap();
    let sent = server.asked()[0].json()["input"].clone();
    assert!(sent.as_array().unwrap().len() > 3, "{sent}");
    let all: String = sent.as_array().unwrap().iter().map(|window| window.as_str().unwrap()).collect();
    assert!(text.starts_with(&all[..40]), "{all}");
}

#[tokio::test]
async fn another_model_behind_the_name_is_a_space_mismatch() {
    let server = Server::start(script).await;
    let openai = OpenAi::compatible(config(&server.url("/v1"))).unwrap();
    let embedder = openai.embedder("a").with_dimension(384).open().await.unwrap();
    let error = embedder.embed(&["x"], Purpose::Query).await.unwrap_err();
    assert!(matches!(error, Error::SpaceMismatch { .. }), "{error:?}");
}

#[tokio::test]
async fn a_dimension_that_no_vector_has_is_refused() {
    let openai = OpenAi::compatible(config("http://127.0.0.1:1/v1")).unwrap();
    for numbers in [0, 65_537] {
        let error = openai.embedder("a").with_dimension(numbers).open().await.unwrap_err();
        assert!(matches!(error, Error::Invalid { .. }), "{error:?}");
    }
}
