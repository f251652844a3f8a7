//! Answers as an enemy would give them: a typed error each, with no word of theirs.

use std::time::Duration;

use memory_core::error::Transience;
use memory_core::model::{Embedder, Purpose, Reranker};
use memory_core::{Error, Result};
use memory_models::{ChatModel as _, OpenAi, RerankServer};
use memory_testkit::wire::{Reply, Server, anthropic, ollama, openai};
use serde_json::{Value, json};

use crate::support::{PIECES, WIRES, Wire, config, question, stream};

/// Asserts that an error is of this kind and repeats nothing of the answer.
fn is(error: &Error, may_pass: bool, what: &str) {
    assert_eq!(error.is_retryable(), may_pass, "{what}: {error:?}");
    assert!(!format!("{error:?} {}", error.with_causes()).contains("canary"), "{what}: {error:?}");
}

async fn embedded(reply: Reply) -> Result<Vec<Vec<f32>>> {
    let server = Server::start(move |_| reply.clone()).await;
    let openai = OpenAi::compatible(config(&server.url("/v1")).with_retries(0)).unwrap();
    openai.embedder("a").with_dimension(2).open().await.unwrap().embed(&["x", "y"], Purpose::Document).await
}

#[tokio::test]
async fn vectors_that_are_none_are_refused() {
    let list = |data: &str| Reply::new(200, "application/json", format!("{{\"data\":{data}}}"));
    let two = |first: &str, second: &str| {
        list(&format!("[{{\"index\":0,\"embedding\":{first}}},{{\"index\":1,\"embedding\":{second}}}]"))
    };
    let good = "[0.5,0.5]";
    let table = [
        ("NaN", two("[NaN,1]", good)),
        ("Infinity", two("[Infinity,1]", good)),
        ("beyond any number", two("[1e400,1]", good)),
        ("beyond single precision", two("[1e39,1]", good)),
        ("null", two("[null,1]", good)),
        ("a null vector", two("null", good)),
        ("words", two("[\"canary\",1]", good)),
        ("a vector without length", two("[0,0]", good)),
        ("too few", list("[{\"index\":0,\"embedding\":[1,2]}]")),
        (
            "too many",
            list(
                "[{\"index\":0,\"embedding\":[1,2]},{\"index\":1,\"embedding\":[1,2]},{\"index\":2,\"embedding\":[1,2]}]",
            ),
        ),
        ("an index twice", list("[{\"index\":1,\"embedding\":[1,2]},{\"index\":1,\"embedding\":[1,2]}]")),
        ("an index too high", list("[{\"index\":0,\"embedding\":[1,2]},{\"index\":2,\"embedding\":[1,2]}]")),
        ("an index below", list("[{\"index\":0,\"embedding\":[1,2]},{\"index\":-1,\"embedding\":[1,2]}]")),
        ("no list", list("{}")),
        ("no value", list("")),
        ("no member", Reply::json(&json!({ "canary": 1 }))),
        ("HTML", Reply::new(200, "text/html", "<html>canary</html>")),
        ("not UTF-8", Reply::new(200, "application/json", vec![0xff, 0xfe, b'{'])),
        ("deep", Reply::new(200, "application/json", format!("{{\"data\":{}", "[".repeat(1 << 20)))),
        (
            "deep and closed",
            Reply::new(200, "application/json", format!("{{\"x\":{}{}}}", "[".repeat(9_999), "]".repeat(9_999))),
        ),
    ];
    for (what, reply) in table {
        is(&embedded(reply).await.unwrap_err(), false, what);
    }
    let mismatch = embedded(two("[1,2,3]", good)).await.unwrap_err();
    assert!(matches!(mismatch, Error::SpaceMismatch { .. }), "{mismatch:?}");
    for (what, body) in [("empty", ""), ("half", "{\"data\":[{\"index\":0,\"embedd")] {
        // Had it not broken off, it might have been whole.
        is(&embedded(Reply::new(200, "application/json", body)).await.unwrap_err(), true, what);
    }
    assert_eq!(embedded(two(good, good)).await.unwrap().len(), 2);
}

#[tokio::test]
async fn scores_that_are_none_are_refused() {
    let common = |results: &str| Reply::new(200, "application/json", format!("{{\"results\":{results}}}"));
    let table = [
        ("null", common("[{\"index\":0,\"relevance_score\":null},{\"index\":1,\"relevance_score\":1}]")),
        ("beyond", common("[{\"index\":0,\"relevance_score\":1e39},{\"index\":1,\"relevance_score\":1}]")),
        ("too few", common("[{\"index\":0,\"relevance_score\":1}]")),
        ("twice", common("[{\"index\":0,\"relevance_score\":1},{\"index\":0,\"relevance_score\":1}]")),
        ("too high", common("[{\"index\":0,\"relevance_score\":1},{\"index\":7,\"relevance_score\":1}]")),
        ("HTML", Reply::new(200, "text/html", "<html>canary</html>")),
    ];
    for (what, reply) in table {
        let server = Server::start(move |_| reply.clone()).await;
        let reranker = RerankServer::with_config(config(&server.url("/v1"))).unwrap().reranker("a");
        is(&reranker.rerank("q", &["x", "y"]).await.unwrap_err(), false, what);
    }
}

#[tokio::test]
async fn answers_that_are_none_are_refused() {
    for wire in WIRES {
        let table: [(&str, Reply, bool); 6] = [
            ("HTML", Reply::new(200, "text/html", "<html>canary</html>"), false),
            ("empty", Reply::new(200, "application/json", ""), true),
            ("an empty object", Reply::json(&json!({})), false),
            ("no object", Reply::json(&json!(["canary"])), false),
            ("an error within success", Reply::json(&json!({ "error": { "message": "canary" } })), true),
            ("deep", Reply::new(200, "application/json", "[".repeat(1 << 20)), false),
        ];
        for (what, reply, may_pass) in table {
            let server = Server::start(move |_| reply.clone()).await;
            let model = wire.model(config(&server.url("")).with_retries(0));
            is(&model.answer(&question()).await.unwrap_err(), may_pass, &format!("{wire:?} {what}"));
        }
        let garbage = ["data: canary\n\n", "data: {\"choices\":7,\"type\":8,\"message\":9}\n\n"];
        for body in garbage {
            let body = if matches!(wire, Wire::Ollama) { body.trim_start_matches("data: ") } else { body };
            let reply = Reply::stream("text/event-stream", body);
            let server = Server::start(move |_| reply.clone()).await;
            let (answer, pieces) = stream(wire.of(&server).as_ref(), &question()).await;
            is(&answer.unwrap_err(), false, &format!("{wire:?} {body}"));
            assert_eq!(pieces, [""; 0]);
        }
    }
}

#[tokio::test]
async fn an_error_in_the_middle_of_a_stream_ends_it() {
    for wire in WIRES {
        let whole = match wire {
            Wire::OpenAi => openai::stream(&PIECES),
            Wire::Anthropic => anthropic::stream(&PIECES),
            Wire::Ollama => ollama::stream(&PIECES),
        };
        let error: Value = match wire {
            Wire::OpenAi => openai::error("server_error", "server_error", "canary"),
            Wire::Anthropic => anthropic::error("overloaded_error", "canary"),
            Wire::Ollama => ollama::error("canary"),
        };
        let told = if matches!(wire, Wire::Ollama) {
            format!("{error}\n")
        } else {
            format!("event: error\ndata: {error}\n\n")
        };
        // Behind the first half of the events.
        let end = if matches!(wire, Wire::Ollama) { "\n" } else { "\n\n" };
        let events: Vec<&str> = whole.split_inclusive(end).collect();
        let body = format!("{}{told}", events[..events.len() - 4].concat());
        let server = Server::start(move |_| Reply::stream("text/event-stream", body.clone())).await;
        let (answer, pieces) = stream(wire.of(&server).as_ref(), &question()).await;
        is(&answer.unwrap_err(), true, &format!("{wire:?}"));
        assert!(!pieces.is_empty() && server.requests() == 1, "{wire:?}: {pieces:?}");
    }
}

#[tokio::test]
async fn an_answer_without_end_is_refused_after_the_bound_and_not_held() {
    const BOUND: usize = 1 << 20;
    for is_streamed in [false, true] {
        for wire in WIRES {
            let piece = match wire {
                Wire::Ollama => format!("{}\n", json!({ "message": { "content": "x".repeat(5_000) }, "done": false })),
                Wire::OpenAi => {
                    format!("data: {}\n\n", json!({ "choices": [{ "delta": { "content": "x".repeat(5_000) } }] }))
                }
                Wire::Anthropic => ": comment\n\n".repeat(900),
            };
            let server = Server::start(move |_| Reply::new(200, "text/plain", piece.clone()).endless()).await;
            let model = wire.model(config(&server.url("")).with_answer_bytes(BOUND));
            let answer = match is_streamed {
                true => stream(model.as_ref(), &question()).await.0,
                false => model.answer(&question()).await,
            };
            let error = answer.unwrap_err();
            assert!(error.with_causes().ends_with("longer than it may be"), "{wire:?}: {error:?}");
            assert!(!error.is_retryable() && server.requests() == 1);
            // What the sockets hold between the two comes on top.
            assert!(server.written() < 16 * BOUND, "{} bytes were written", server.written());
        }
    }
}

#[tokio::test]
async fn a_hundred_megabytes_are_refused_before_they_are_read() {
    let body = vec![b' '; 100 << 20];
    let server = Server::start(move |_| Reply::new(200, "application/json", body.clone()).in_parts_of(1 << 20)).await;
    let openai = OpenAi::compatible(config(&server.url("/v1"))).unwrap();
    let error = openai.chat("m").answer(&question()).await.unwrap_err();
    assert!(error.with_causes().ends_with("longer than it may be"), "{error:?}");
}

#[tokio::test]
async fn a_length_that_is_only_told_takes_no_room() {
    for wire in WIRES {
        let length = isize::MAX.to_string();
        let reply = Reply::new(200, "application/json", "{").until_closed().header("content-length", &length);
        let server = Server::start(move |_| reply.clone()).await;
        let model = wire.model(config(&server.url("")).with_answer_bytes(usize::MAX).with_retries(0));
        is(&model.answer(&question()).await.unwrap_err(), true, &format!("{wire:?}"));
    }
}

#[tokio::test]
async fn an_event_without_end_is_refused() {
    for wire in WIRES {
        let body = format!("data: {}", "x".repeat(3 << 20));
        let server =
            Server::start(move |_| Reply::stream("text/event-stream", body.clone()).in_parts_of(1 << 16)).await;
        let error = stream(wire.of(&server).as_ref(), &question()).await.0.unwrap_err();
        assert!(error.with_causes().ends_with("longer than it may be"), "{wire:?}: {error:?}");
    }
}

#[tokio::test]
async fn what_a_status_means_is_the_same_on_every_wire() {
    type Check = fn(&Error) -> bool;
    let permanent: Check = |error| matches!(error, Error::Backend { transience: Transience::Permanent, .. });
    let invalid: Check = |error| matches!(error, Error::Invalid { .. });
    let table: [(u16, Check); 9] = [
        (400, invalid),
        (401, permanent),
        (403, permanent),
        (404, permanent),
        (413, invalid),
        (302, permanent),
        (429, Error::is_retryable),
        (500, Error::is_retryable),
        (529, Error::is_retryable),
    ];
    for wire in WIRES {
        for (status, is_right) in table {
            let server = Server::start(move |_| Reply::new(status, "text/plain", "canary")).await;
            let model = wire.model(config(&server.url("")).with_retries(0));
            for error in
                [model.answer(&question()).await.unwrap_err(), stream(model.as_ref(), &question()).await.0.unwrap_err()]
            {
                assert!(is_right(&error), "{wire:?} {status}: {error:?}");
                is(&error, error.is_retryable(), "status");
            }
        }
    }
}

#[tokio::test]
async fn a_server_that_is_not_there_is_told() {
    let model = Wire::OpenAi.model(config("http://127.0.0.1:1/v1").with_deadline(Duration::from_secs(9)));
    let error = model.answer(&question()).await.unwrap_err();
    assert_eq!(error.with_causes(), "openai failed to answer: no connection to the server");
    assert!(error.is_retryable());
}
