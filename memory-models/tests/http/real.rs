//! A real server of llama.cpp, over a model with random weights: `scripts/llama.sh` starts it.

use memory_core::model::{Embedder, Purpose, Reranker};
use memory_core::{Error, Role};
use memory_models::{ChatModel, ChatRequest, HttpConfig, OpenAi, RerankServer, StopReason};

use crate::support::{question, said, stream};

/// Returns the address that `scripts/llama.sh` tells.
#[expect(clippy::disallowed_methods, reason = "where the server is, is told from outside")]
fn url(name: &str) -> String {
    std::env::var(name).expect("run it by scripts/llama.sh")
}

fn chat() -> OpenAi {
    OpenAi::compatible(HttpConfig::new(&url("MEMORY_TEST_LLAMA_URL")).unwrap()).unwrap()
}

fn embeddings() -> OpenAi {
    OpenAi::compatible(HttpConfig::new(&url("MEMORY_TEST_LLAMA_EMBEDDINGS_URL")).unwrap()).unwrap()
}

#[tokio::test]
#[ignore = "needs the servers of scripts/llama.sh"]
async fn it_answers_the_same_whole_and_streamed() {
    let (model, request) = (chat().chat("m"), question().with_max_tokens(24).with_temperature(0.0));
    let whole = model.answer(&request).await.unwrap();
    let (streamed, pieces) = stream(&model, &request).await;
    assert_eq!((&streamed.unwrap(), pieces.concat()), (&whole, whole.text.clone()));
    assert_eq!((whole.stop, whole.usage.unwrap().output), (StopReason::Length, 24));
    assert!(pieces.len() > 3, "{pieces:?}");
}

#[tokio::test]
#[ignore = "needs the servers of scripts/llama.sh"]
async fn it_embeds_alike_alone_and_together_and_texts_of_any_length() {
    let embedder = embeddings().embedder("m").open().await.unwrap();
    assert_eq!(embedder.space().dimension, 64);
    let texts = ["the red boat", "a blue harbour", "the capital of tea", "the red boat"];
    let together = embedder.embed(&texts, Purpose::Document).await.unwrap();
    assert_eq!(together[0], together[3]);
    for (text, vector) in texts.iter().zip(&together) {
        let alone = embedder.embed(&[text], Purpose::Query).await.unwrap().remove(0);
        assert!(alone.iter().zip(vector).all(|(a, b)| (a - b).abs() < 1e-3), "{alone:?} {vector:?}");
        embedder.space().check_vector(vector).unwrap();
    }
    let long = "the red boat is of the blue harbour and ".repeat(1_600);
    let vectors = embedder.embed(&[long.trim_end()], Purpose::Query).await.unwrap();
    embedder.space().check_vector(&vectors[0]).unwrap();
}

#[tokio::test]
#[ignore = "needs the servers of scripts/llama.sh"]
async fn what_it_refuses_is_told_apart() {
    let long = ChatRequest::new(vec![said(Role::User, &"the red boat ".repeat(4_000))]);
    let error = chat().chat("m").answer(&long).await.unwrap_err();
    assert!(matches!(error, Error::Invalid { .. }), "more than it reads: {error:?}");
    let error = chat().embedder("m").open().await.unwrap_err();
    assert!(!error.is_retryable(), "this one embeds nothing: {error:?}");
    let config = HttpConfig::new(&url("MEMORY_TEST_LLAMA_URL")).unwrap();
    let error = RerankServer::with_config(config).unwrap().reranker("m").rerank("q", &["x"]).await.unwrap_err();
    assert!(!error.is_retryable(), "nor does it rerank: {error:?}");
}
