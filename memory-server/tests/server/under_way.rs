//! Requests that are under way over a socket when their client goes away, or when the server is told to stop.

use std::sync::Arc;
use std::time::Duration;

use axum::http::StatusCode;
use memory::MemoryBuilder;
use memory::store::reference::{MemChat, MemRecords};
use memory::store::{Stores, Truth};
use memory_server::Config;
use memory_testkit::doubles::{Counting, Tapped};
use serde_json::json;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::task::yield_now;
use tokio::time::timeout;

use crate::bed::{Bed, Call};
use crate::sockets::{Running, start};

const TALK: &str = "/v1/sessions/talk/messages";

/// The body of a write.
const SAID: &str = "{\"messages\":[{\"role\":\"user\",\"content\":\"tea\"}]}";

/// Begins a write, and returns its connection once the server waits for the body.
async fn awaited(running: &Running) -> TcpStream {
    let (host, token, length) = (running.address, &running.token, SAID.len());
    let head = format!(
        "POST {TALK} HTTP/1.1\r\nhost: {host}\r\nauthorization: Bearer {token}\r\ncontent-type: application/json\r\n\
         content-length: {length}\r\nconnection: close\r\nexpect: 100-continue\r\n\r\n"
    );
    let (mut stream, waits) = (running.connect().await, b"HTTP/1.1 100 Continue\r\n\r\n");
    stream.write_all(head.as_bytes()).await.unwrap();
    let mut answer = [0; 25];
    stream.read_exact(&mut answer).await.unwrap();
    assert_eq!(&answer, waits);
    stream
}

#[tokio::test]
async fn a_write_whose_client_goes_away_over_a_socket_comes_to_its_end() {
    // Each call takes so long that the client is gone before anything is stored.
    let calls = Arc::new(Counting::default());
    let chat = Tapped::new(Arc::new(MemChat::default()), calls.clone()).slow(Duration::from_millis(200));
    let stores = Stores {
        chat: Some(Truth::chat(Arc::new(chat))),
        records: Some(Truth::records(Arc::new(MemRecords::default()))),
        ..Stores::default()
    };
    let bed = Bed::over(MemoryBuilder::over(stores).build().await.unwrap(), Config::default());
    let running = start(bed.server.clone(), bed.ada.clone());
    let mut upload = awaited(&running).await;
    upload.write_all(SAID.as_bytes()).await.unwrap();
    drop(upload);
    // The server goes on meanwhile.
    for _ in 0..20 {
        yield_now().await;
    }
    assert_eq!(calls.calls("append"), 0);
    let stored = timeout(Duration::from_secs(60), async {
        while bed.send(Call::get(TALK).by(&bed.ada)).await.status != 200 {
            yield_now().await;
        }
    });
    stored.await.unwrap();
    let read = bed.ok(Call::get(TALK)).await;
    assert_eq!((&read["messages"], &read["shown"][0]["text"]), (&json!(1), &json!("tea")));
}

#[tokio::test]
async fn a_client_that_goes_away_in_the_middle_of_a_body_stores_nothing_and_gives_up_its_place() {
    let bed = Bed::with(Config { at_once: 1, ..Config::default() }).await;
    let running = start(bed.server.clone(), bed.ada.clone());
    let mut upload = awaited(&running).await;
    upload.write_all(&SAID.as_bytes()[..SAID.len() / 2]).await.unwrap();
    let status = async || bed.send(Call::get(TALK).by(&bed.ada)).await.status;
    assert_eq!(status().await, 503);
    drop(upload);
    // Long before the deadline of the request.
    let given_up = timeout(Duration::from_secs(20), async {
        while status().await == 503 {
            yield_now().await;
        }
    });
    given_up.await.unwrap();
    assert_eq!(status().await, 404);
}

#[tokio::test]
async fn a_server_that_is_about_to_stop_is_not_ready_and_lets_what_is_under_way_end() {
    let bed = Bed::with(Config { drain: Duration::from_secs(60), ..Config::default() }).await;
    let running = start(bed.server.clone(), bed.ada.clone());
    let mut upload = awaited(&running).await;
    let ready = async || bed.send(Call::get("/ready")).await;
    assert_eq!(ready().await.status, 200);
    let Running { stop, server, .. } = running;
    stop.send(()).unwrap();
    let told = timeout(Duration::from_secs(30), async {
        while ready().await.status == 200 {
            yield_now().await;
        }
    });
    told.await.unwrap();
    ready().await.is_busy(StatusCode::SERVICE_UNAVAILABLE);
    assert_eq!(bed.send(Call::get("/health")).await.status, 200, "it runs still");
    assert!(!server.is_finished());
    upload.write_all(SAID.as_bytes()).await.unwrap();
    let mut answer = String::new();
    upload.read_to_string(&mut answer).await.unwrap();
    assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
    server.await.unwrap().unwrap();
    ready().await.is_busy(StatusCode::SERVICE_UNAVAILABLE);
}
