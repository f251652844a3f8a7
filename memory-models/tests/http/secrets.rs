//! A key is sent to its server, and shown nowhere.

use std::sync::Arc;

use memory_core::Error;
use memory_core::model::Reranker;
use memory_models::{Anthropic, ChatExtractor, ChatSummarizer, HttpConfig, Ollama, OpenAi, RerankServer};
use memory_testkit::wire::{Asked, Reply, Server};

use crate::support::{KEY, WIRES, config, question, stream};

/// Answers with all that it was told, wherever an answer has room.
fn echo(status: u16) -> impl Fn(&Asked) -> Reply {
    move |asked| {
        let key =
            asked.header("authorization").or(asked.header("x-api-key")).or(asked.header("api-key")).unwrap_or_default();
        let body = serde_json::json!({ "error": { "message": key, "code": key, "type": key, "param": key }, "x": key });
        Reply::status(status, &body).header("x-request-id", key).header("retry-after", key)
    }
}

#[tokio::test]
async fn no_error_shows_a_key_that_the_server_repeats() {
    for status in [200, 302, 400, 401, 403, 429, 500, 529] {
        let server = Server::start(echo(status)).await;
        for wire in WIRES {
            let model = wire.model(config(&server.url("")).with_retries(0));
            let errors = [
                model.answer(&question()).await.unwrap_err(),
                stream(model.as_ref(), &question()).await.0.unwrap_err(),
            ];
            for error in errors {
                assert!(
                    !format!("{error} {error:?} {}", error.with_causes()).contains(KEY),
                    "{wire:?} {status}: {error:?}"
                );
            }
        }
        let reranker = RerankServer::with_config(config(&server.url(""))).unwrap().reranker("a");
        let error = reranker.rerank("q", &["x"]).await.unwrap_err();
        assert!(!format!("{error:?} {}", error.with_causes()).contains(KEY), "{error:?}");
        let sent = server.asked();
        assert!(sent.iter().all(|asked| asked.headers.iter().any(|(_, value)| value.contains(KEY))), "it was sent");
        assert!(!sent.iter().any(|asked| asked.path.contains(KEY) || asked.json().to_string().contains(KEY)));
    }
}

#[tokio::test]
async fn nothing_shows_a_key_when_it_is_printed() {
    let config = || config("http://127.0.0.1:9/v1");
    let chat = OpenAi::with_config(config()).unwrap().chat("m");
    let shown = [
        format!("{:?}", config()),
        format!("{:#?}", OpenAi::with_config(config()).unwrap()),
        format!("{:?}", OpenAi::azure(config()).unwrap()),
        format!("{:?}", Anthropic::with_config(config()).unwrap().chat("m")),
        format!("{:?}", Ollama::with_config(config()).unwrap().embedder("m")),
        format!("{:?}", OpenAi::with_config(config()).unwrap().embedder("m").with_dimension(3).open().await.unwrap()),
        format!("{:?}", RerankServer::tei(config()).unwrap().reranker("m")),
        format!("{:#?}", ChatExtractor::new(Arc::new(chat.clone()))),
        format!("{:#?}", ChatSummarizer::new(Arc::new(chat))),
    ];
    for shown in shown {
        assert!(!shown.contains(KEY), "{shown}");
    }
}

#[tokio::test]
async fn a_key_that_cannot_be_sent_is_refused_without_being_repeated() {
    for key in ["canary\nx: y", "canary\u{0}", "canary\r"] {
        let config = HttpConfig::new(OpenAi::URL).unwrap().with_key(key);
        let error = OpenAi::with_config(config).unwrap_err();
        assert!(matches!(error, Error::Invalid { .. }) && !format!("{error:?}").contains("canary"), "{error:?}");
    }
}

#[tokio::test]
async fn a_redirect_is_not_followed_so_no_other_server_hears_of_the_key() {
    let other = Server::start(|_| Reply::new(200, "text/plain", "")).await;
    for status in [301, 302, 303, 307, 308] {
        let place = other.url("/v1/chat/completions");
        let server = Server::start(move |_| Reply::new(status, "text/plain", "").header("location", &place)).await;
        let model = crate::support::Wire::OpenAi.of(&server);
        assert!(!model.answer(&question()).await.unwrap_err().is_retryable());
        assert!(!stream(model.as_ref(), &question()).await.0.unwrap_err().is_retryable());
    }
    assert_eq!(other.requests(), 0);
}
