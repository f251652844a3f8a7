//! Bounds on what goes on at once and how long it takes, and writes whose clients went away.

use std::time::Duration;

use axum::body::{Body, to_bytes};
use axum::http::{Method, Request, StatusCode};
use futures_util::stream::{self, StreamExt as _};
use memory_server::Config;
use serde_json::json;
use tokio::sync::oneshot;

use crate::bed::{Bed, Call, in_process};

const BODY: &str = r#"{"messages":[{"role":"user","content":"slow"}]}"#;

/// Returns a request of Ada's whose body comes when the sender says so.
fn slow(bed: &Bed) -> (Request<Body>, oneshot::Sender<()>) {
    slow_at(bed, "/v1/sessions/talk/messages")
}

fn slow_at(bed: &Bed, path: &str) -> (Request<Body>, oneshot::Sender<()>) {
    let (send, wait) = oneshot::channel::<()>();
    let body = stream::once(async move {
        let _ = wait.await;
        Ok::<_, std::io::Error>(BODY)
    });
    let request = Request::post(path).header("host", "localhost");
    let request =
        request.header("authorization", format!("Bearer {}", bed.ada)).header("content-type", "application/json");
    (request.body(Body::from_stream(body)).unwrap(), send)
}

#[tokio::test]
async fn more_requests_at_once_than_a_token_may_have_are_told_to_come_again() {
    let bed = Bed::with(Config { at_once_per_token: 2, ..Config::default() }).await;
    let ((first, go), (second, also)) = (slow(&bed), slow(&bed));
    let (first, second) = (bed.send_raw(first), bed.send_raw(second));
    let third = async {
        tokio::task::yield_now().await;
        let busy = bed.send(Call::get("/v1/records").by(&bed.ada)).await;
        busy.is_busy(StatusCode::TOO_MANY_REQUESTS);
        assert_eq!(bed.send(Call::get("/v1/records").by(&bed.bob)).await.status, 200);
        (go.send(()).unwrap(), also.send(()).unwrap())
    };
    let (first, second, _) = tokio::join!(first, second, third);
    assert_eq!((first.status, second.status), (200, 200));
    assert_eq!(bed.status(Call::get("/v1/records")).await, 200);
}

#[tokio::test]
async fn a_request_that_panics_is_answered_and_gives_up_its_place() {
    let bed = Bed::with(Config { at_once_per_token: 1, ..Config::default() }).await;
    for _ in 0..3 {
        let body = stream::once(async { panic!("on purpose") });
        let body = body.map(|piece: ()| Ok::<_, std::io::Error>(format!("{piece:?}")));
        let (request, _) = slow(&bed);
        let (parts, _) = request.into_parts();
        assert_eq!(bed.send_raw(Request::from_parts(parts, Body::from_stream(body))).await.status, 500);
    }
    assert_eq!(bed.status(Call::get("/v1/records")).await, 200);
}

#[tokio::test]
async fn more_requests_at_once_than_the_server_takes_are_told_to_come_again() {
    let bed = Bed::with(Config { at_once: 1, ..Config::default() }).await;
    let (first, go) = slow(&bed);
    let second = async {
        tokio::task::yield_now().await;
        let busy = bed.send(Call::get("/v1/records").by(&bed.bob)).await;
        busy.is_busy(StatusCode::SERVICE_UNAVAILABLE);
        assert_eq!(bed.send(Call::get("/health")).await.status, 200);
        go.send(()).unwrap();
    };
    let (first, ()) = tokio::join!(bed.send_raw(first), second);
    assert_eq!(first.status, 200);
}

#[tokio::test]
async fn a_bound_beyond_all_numbers_bounds_nothing() {
    let bed = Bed::with(Config { at_once: usize::MAX, at_once_per_token: usize::MAX, ..Config::default() }).await;
    assert_eq!(bed.status(Call::get("/v1/records")).await, 200);
}

#[tokio::test(start_paused = true)]
async fn a_request_ends_at_its_deadline_and_gives_up_its_place() {
    let bed =
        Bed::over(in_process().await, Config { deadline: Duration::from_secs(3), at_once: 1, ..Config::default() });
    for path in ["/v1/sessions/talk/messages", "/mcp"] {
        let (request, _never) = slow_at(&bed, path);
        let answer = bed.send_raw(request).await;
        assert!([408, 503].contains(&answer.status), "{path}: {}", answer.status);
        tokio::time::sleep(Duration::from_secs(1)).await;
        assert_eq!(bed.status(Call::get("/v1/records")).await, 200, "{path}");
    }
}

#[tokio::test]
async fn what_is_sent_to_agents_is_bounded_as_all_else_is() {
    let bed = Bed::with(Config { body_bytes: 1_000, ..Config::default() }).await;
    let call = |length: usize| {
        Call::new(Method::POST, "/mcp").header("content-type", "application/json").body(vec![b' '; length])
    };
    assert_eq!(bed.status(call(1_001)).await, 413);
    assert_eq!(bed.status(call(10).header("content-encoding", "gzip")).await, 415);
}

#[tokio::test]
async fn a_body_of_too_many_values_is_refused_at_each_door() {
    let bed = Bed::new().await;
    // As values it would take a hundred times its bytes.
    let values = format!("[{}{{}}]", r#"{"":0},"#.repeat(1 << 20));
    let tool = format!(r#"{{"name":"add_memory","arguments":{{"text":"x","metadata":{{"a":{values}}}}}}}"#);
    for (path, body) in [
        ("/v1/sessions/a/messages", format!(r#"{{"messages":[{{"role":"user","content":{values}}}]}}"#)),
        ("/v1/sessions/a/messages", format!(r#"{{"more":{values},"messages":[{{"role":"user","content":"x"}}]}}"#)),
        ("/v1/records", format!(r#"{{"text":"x","metadata":{{"a":{values}}}}}"#)),
        ("/mcp", format!(r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{tool}}}"#)),
    ] {
        assert!(body.len() < Config::default().body_bytes);
        let call = Call::new(Method::POST, path).header("content-type", "application/json").body(body);
        let answer = bed.send(call.header("accept", "application/json, text/event-stream").by(&bed.ada)).await;
        assert_eq!((answer.status, &answer.json()["detail"]), (413, &json!("the body has too many values")), "{path}");
    }
    assert_eq!(bed.ok(Call::get("/v1/sessions")).await["sessions"], json!([]));
}

#[tokio::test]
async fn as_many_messages_as_an_append_may_have_are_no_body_of_too_many_values() {
    let bed = Bed::over(in_process().await, Config::default());
    let message = |number: usize| {
        let content = [json!({ "type": "text", "text": format!("message {number}") })];
        json!({ "role": "user", "content": content, "at": "2026-01-01T00:00:00Z", "metadata": { "number": number } })
    };
    let messages: Vec<_> = (0..10_000).map(message).collect();
    let told = bed.ok(Call::post("/v1/sessions/a/messages", &json!({ "messages": messages }))).await;
    assert_eq!(told["stored"].as_array().map(Vec::len), Some(10_000), "{told}");
}

#[tokio::test(start_paused = true)]
async fn an_export_keeps_its_place_until_it_is_taken_or_its_time_is_over() {
    let config = Config { transfer_deadline: Duration::from_secs(60), at_once: 1, ..Config::default() };
    let bed = Bed::over(in_process().await, config);
    for session in ["a", "b", "c", "d"] {
        let message = json!({ "role": "user", "content": "word ".repeat(40_000) });
        bed.ok(Call::post(format!("/v1/sessions/{session}/messages"), &json!({ "messages": [message] }))).await;
    }
    let export = || {
        let request = Request::get("/v1/export").header("host", "localhost");
        request.header("authorization", format!("Bearer {}", bed.ada)).body(Body::empty()).unwrap()
    };
    let left = bed.begin(export()).await;
    assert_eq!(left.status(), 200);
    assert_eq!(bed.status(Call::get("/v1/records")).await, 503, "it is not sent yet");
    tokio::time::sleep(Duration::from_secs(61)).await;
    assert_eq!(bed.status(Call::get("/v1/records")).await, 200);
    assert!(to_bytes(left.into_body(), usize::MAX).await.is_err(), "half an export must not look whole");
    let whole = bed.send_raw(export()).await;
    assert_eq!((whole.status, whole.body.last()), (200, Some(&b'\n')));
    assert_eq!(bed.status(Call::get("/v1/records")).await, 200);
}

#[tokio::test(start_paused = true)]
async fn a_long_answer_keeps_its_place_until_it_is_taken_or_its_time_is_over() {
    let config = Config { transfer_deadline: Duration::from_secs(60), at_once: 1, ..Config::default() };
    let bed = Bed::over(in_process().await, config);
    let message = json!({ "role": "user", "content": "word ".repeat(400_000) });
    bed.ok(Call::post("/v1/sessions/a/messages", &json!({ "messages": [message] }))).await;
    let read = || {
        let request = Request::get("/v1/sessions/a/messages").header("host", "localhost");
        request.header("authorization", format!("Bearer {}", bed.ada)).body(Body::empty()).unwrap()
    };
    let left = bed.begin(read()).await;
    assert_eq!(left.status(), 200);
    let length: usize = left.headers()["content-length"].to_str().unwrap().parse().unwrap();
    assert_eq!(bed.status(Call::get("/v1/records")).await, 503, "it is not sent yet");
    tokio::time::sleep(Duration::from_secs(61)).await;
    assert_eq!(bed.status(Call::get("/v1/records")).await, 200);
    assert!(to_bytes(left.into_body(), usize::MAX).await.is_err(), "half an answer must not look whole");
    let whole = bed.send_raw(read()).await;
    assert_eq!((whole.status, whole.body.len()), (200, length));
    assert_eq!(whole.json()["shown"][0]["message"]["content"].as_str().unwrap().len(), 2_000_000);
    assert_eq!(bed.status(Call::get("/v1/records")).await, 200);
}

#[tokio::test]
async fn a_write_whose_client_went_away_comes_to_its_end() {
    let bed = Bed::new().await;
    let (request, go) = slow(&bed);
    {
        // Polled until it waits for its body, then given up as a connection is.
        let mut sent = Box::pin(bed.send_raw(request));
        tokio::select! {
            biased;
            answer = &mut sent => panic!("{answer:?}"),
            () = tokio::task::yield_now() => {}
        }
        go.send(()).unwrap();
    }
    let told = stream::repeat(()).then(|()| async {
        tokio::task::yield_now().await;
        bed.send(Call::get("/v1/sessions/talk/messages").by(&bed.ada)).await.status
    });
    let mut told = Box::pin(told.take(10_000));
    while let Some(status) = told.next().await {
        if status == 200 {
            return;
        }
    }
    panic!("the write was given up");
}
