//! Rerankers over HTTP: what is sent, and in which order the scores come back.

use std::time::Duration;

use memory_core::Error;
use memory_core::model::Reranker;
use memory_models::RerankServer;
use memory_testkit::wire::{Asked, Reply, Server, cohere, tei};
use serde_json::json;

use crate::support::{KEY, config};

/// The score of a text is its length.
fn script(asked: &Asked) -> Reply {
    let body = asked.json();
    let texts = body["documents"].as_array().or(body["texts"].as_array()).unwrap();
    let scores: Vec<f32> = texts.iter().map(|text| text.as_str().unwrap().len() as f32).collect();
    Reply::json(&if body["texts"].is_array() { tei::scores(&scores) } else { cohere::scores(&scores) })
}

#[tokio::test]
async fn scores_come_back_in_the_order_of_the_texts() {
    let server = Server::start(script).await;
    let common = RerankServer::with_config(config(&server.url("/v2"))).unwrap().reranker("rerank-v3.5");
    assert_eq!(common.rerank("how long?", &["ccc", "a", "bb"]).await.unwrap(), [3.0, 1.0, 2.0]);
    let asked = server.asked().remove(0);
    assert_eq!((asked.path.as_str(), asked.header("authorization")), ("/v2/rerank", Some(&*format!("Bearer {KEY}"))));
    let body = json!({ "model": "rerank-v3.5", "query": "how long?", "documents": ["ccc", "a", "bb"], "top_n": 3 });
    assert_eq!(asked.json(), body);
    assert_eq!(common.rerank("how long?", &[]).await.unwrap(), [0.0; 0]);
}

#[tokio::test]
async fn text_embeddings_inference_is_asked_in_its_own_shape_and_in_batches_of_32() {
    let server = Server::start(script).await;
    let tei = RerankServer::tei(config(&server.url(""))).unwrap().reranker("bge");
    let texts: Vec<String> = (1..=70).map(|length| "x".repeat(length)).collect();
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    let expected: Vec<f32> = (1..=70).map(|length| length as f32).collect();
    assert_eq!(tei.rerank("how long?", &texts).await.unwrap(), expected);
    let mut sizes: Vec<usize> =
        server.asked().iter().map(|asked| asked.json()["texts"].as_array().unwrap().len()).collect();
    sizes.sort_unstable();
    assert_eq!(sizes, [6, 32, 32]);
    let body = server.asked().remove(0).json();
    assert_eq!((&body["query"], &body["truncate"], &body["model"]), (&json!("how long?"), &json!(true), &json!(null)));
}

#[tokio::test]
async fn a_call_of_more_batches_than_may_wait_does_not_crowd_itself_out() {
    let server = Server::start(script).await;
    // 32 requests may wait beside the one under way.
    let tei = RerankServer::tei(config(&server.url("")).with_concurrency(1)).unwrap().reranker("bge");
    let scores = tei.rerank("how long?", &["x"; 40 * 32]).await.unwrap();
    assert_eq!((scores.len(), server.requests()), (40 * 32, 40));
}

#[tokio::test]
async fn a_call_of_more_batches_than_its_time_allows_makes_no_request() {
    let server = Server::start(script).await;
    // A request a second, and 20 seconds.
    let config = config(&server.url("")).with_requests_per_minute(60).with_deadline(Duration::from_secs(20));
    let tei = RerankServer::tei(config).unwrap().reranker("bge");
    let error = tei.rerank("how long?", &["x"; 30 * 32]).await.unwrap_err();
    assert!(matches!(error, Error::Overloaded), "{error:?}");
    assert_eq!(server.requests(), 0);
}
