//! Deadlines, retries and rates.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use futures_util::future::join_all;
use memory_core::error::Transience;
use memory_core::{Error, Timestamp};
use memory_models::{ChatModel, HttpConfig};
use memory_testkit::RunningWatch;
use memory_testkit::doubles::ManualClock;
use memory_testkit::wire::{Asked, Reply, Server, openai};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpListener;
use tokio::time::{Instant, sleep, timeout};

use crate::support::{PIECES, WIRES, Wire, config, question, stream};

const MILLI: Duration = Duration::from_millis(1);

/// Answers the first requests with `first`, and later ones well.
fn after(wire: Wire, count: usize, first: Reply) -> impl Fn(&Asked) -> Reply {
    let asked = AtomicUsize::new(0);
    move |request| {
        if asked.fetch_add(1, Ordering::SeqCst) < count {
            return first.clone();
        }
        if request.json()["stream"] == true { wire.stream(&PIECES) } else { wire.whole("Lima.") }
    }
}

#[tokio::test]
async fn what_may_pass_is_asked_again_and_the_rest_is_not() {
    let table =
        [(429, 2), (500, 2), (503, 2), (529, 2), (408, 2), (400, 1), (401, 1), (404, 1), (413, 1), (501, 1), (302, 1)];
    for wire in WIRES {
        for (status, requests) in table {
            let server = Server::start(after(wire, 1, Reply::new(status, "text/plain", ""))).await;
            assert_eq!(wire.of(&server).answer(&question()).await.is_ok(), requests == 2, "{wire:?} {status}");
            assert_eq!(server.requests(), requests, "{wire:?} {status}");
        }
    }
}

#[tokio::test]
async fn an_answer_of_which_nothing_came_is_asked_for_again() {
    for wire in WIRES {
        let whole = wire.stream(&PIECES);
        let cut = whole.head_size() + 3;
        let server = Server::start(after(wire, 1, whole.clone().cut_at(cut))).await;
        let (answer, pieces) = stream(wire.of(&server).as_ref(), &question()).await;
        assert_eq!((answer.unwrap().text, pieces.concat()), (PIECES.concat(), PIECES.concat()), "{wire:?}");
        assert_eq!(server.requests(), 2);
    }
}

#[tokio::test]
async fn a_quota_that_is_used_up_is_not_asked_again() {
    let body = openai::error("insufficient_quota", "insufficient_quota", "You exceeded");
    let server = Server::start(after(Wire::OpenAi, 1, Reply::status(429, &body))).await;
    let error = Wire::OpenAi.of(&server).answer(&question()).await.unwrap_err();
    assert_eq!((error.is_retryable(), server.requests()), (false, 1));
}

#[tokio::test]
async fn a_server_that_asks_to_wait_is_waited_for_and_told_where_there_is_no_time() {
    let wire = Wire::OpenAi;
    let limited = |after: &str| Reply::new(429, "text/plain", "").header("retry-after", after);
    let server = Server::start(after(wire, 1, limited("1"))).await;
    let begun = Instant::now();
    wire.of(&server).answer(&question()).await.unwrap();
    assert!(begun.elapsed() >= Duration::from_secs(1) && server.requests() == 2);

    let server = Server::start(after(wire, 1, limited("3600"))).await;
    let model = wire.model(config(&server.url("")).with_deadline(Duration::from_secs(20)));
    let asked_to_wait = |error: &Error| match error {
        Error::Backend { transience: Transience::Transient { after }, .. } => *after,
        other => panic!("{other:?}"),
    };
    let first = model.answer(&question()).await.unwrap_err();
    assert_eq!(asked_to_wait(&first), Some(Duration::from_secs(3_600)));
    // All calls wait, so the server is left alone.
    let second = model.answer(&question()).await.unwrap_err();
    assert!(asked_to_wait(&second).unwrap() > Duration::from_secs(50), "{second:?}");
    assert_eq!(server.requests(), 1);
}

#[tokio::test]
async fn the_date_to_wait_for_is_read_by_the_clock() {
    let wire = Wire::Anthropic;
    let now: Timestamp = "2026-11-25T17:00:00Z".parse().unwrap();
    let clock = Arc::new(ManualClock::at(now));
    let reply = Reply::new(503, "text/plain", "").header("retry-after", "Wed, 25 Nov 2026 18:00:00 GMT");
    let server = Server::start(after(wire, 1, reply)).await;
    let model = wire.model(config(&server.url("")).with_clock(clock));
    let error = model.answer(&question()).await.unwrap_err();
    assert!(error.with_causes().contains("503"), "{error:?}");
    assert_eq!(server.requests(), 1, "an hour is too long");
}

/// Returns a config with a deadline of 1.5 s.
fn hasty(server: &Server) -> HttpConfig {
    config(&server.url("")).with_deadline(1_500 * MILLI).with_stream_deadline(1_500 * MILLI)
}

/// Returns what a call answers whose time is up after 1.5 s at the most; it has a second more.
async fn in_time<T>(call: impl Future<Output = T>) -> T {
    let begun = RunningWatch::start();
    let answer = timeout(Duration::from_secs(60), call).await.unwrap();
    assert!(begun.elapsed() < 2_500 * MILLI, "{:?}", begun.elapsed());
    answer
}

/// Asks a server that falls silent at this byte of its answers.
async fn is_given_up(wire: Wire, part: usize) {
    let (whole, streamed) = (wire.whole("Lima.").hang_at(part), wire.stream(&PIECES).hang_at(part));
    let server =
        Server::start(move |asked| if asked.json()["stream"] == true { streamed.clone() } else { whole.clone() }).await;
    let silent = config(&server.url("")).with_silence(750 * MILLI);
    for (model, why) in [(wire.model(hasty(&server)), "in time"), (wire.model(silent), "silent for too long")] {
        let whole = in_time(model.answer(&question())).await.unwrap_err();
        let streamed = in_time(stream(model.as_ref(), &question())).await.0.unwrap_err();
        for error in [whole, streamed] {
            let is_late = matches!(error, Error::Backend { transience: Transience::Late, .. });
            assert!(is_late && error.with_causes().contains(why), "{wire:?} {part}: {error:?}");
        }
    }
    assert_eq!(server.requests(), 4, "what was late once is not asked again");
}

#[tokio::test]
async fn a_server_that_is_silent_before_or_within_its_answer_is_given_up() {
    // All at once: each waits for its time to be up, which is so long that a busy machine has asked the server by then.
    join_all(WIRES.into_iter().flat_map(|wire| [0, 9, 300].map(|part| is_given_up(wire, part)))).await;
}

#[tokio::test]
async fn an_error_whose_words_do_not_come_is_told_by_its_status() {
    for wire in WIRES {
        let reply = Reply::new(401, "text/plain", "Who are you?");
        let head = reply.head_size();
        let server = Server::start(move |_| reply.clone().hang_at(head)).await;
        let model = wire.of(&server);
        let begun = RunningWatch::start();
        let soon = timeout(Duration::from_secs(50), model.answer(&question())).await;
        assert!(begun.elapsed() < Duration::from_secs(5), "{wire:?} took {:?}", begun.elapsed());
        let error = soon.expect("an answer before the silence is too long").unwrap_err();
        assert!(!error.is_retryable() && error.with_causes().contains("401"), "{wire:?}: {error:?}");
    }
}

#[tokio::test]
async fn the_words_of_an_error_are_read_while_they_come() {
    let body = openai::error("insufficient_quota", "insufficient_quota", "You exceeded").to_string();
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let model = Wire::OpenAi.model(config(&format!("http://{}", listener.local_addr().unwrap())).with_retries(0));
    let server = async {
        let (mut stream, _) = listener.accept().await.unwrap();
        let head = format!("HTTP/1.1 429 X\r\ncontent-length: {}\r\n\r\n", body.len());
        stream.read_u8().await.unwrap();
        stream.write_all(head.as_bytes()).await.unwrap();
        for part in body.as_bytes().chunks(body.len().div_ceil(12)) {
            sleep(100 * MILLI).await;
            stream.write_all(part).await.unwrap();
        }
        stream
    };
    let asked = question();
    let (answer, _stream) = tokio::join!(model.answer(&asked), server);
    let error = answer.unwrap_err();
    assert!(!error.is_retryable() && error.with_causes().contains("insufficient_quota"), "{error:?}");
}

#[tokio::test]
async fn over_a_minute_of_failure_a_tenth_more_is_asked_than_was_called() {
    let server = Server::start(|_| Reply::new(503, "text/plain", "")).await;
    let model: Arc<dyn ChatModel> = Arc::from(Wire::OpenAi.model(config(&server.url("")).with_concurrency(64)));
    let mut calls = tokio::task::JoinSet::new();
    for _ in 0..200 {
        let model = Arc::clone(&model);
        calls.spawn(async move { model.answer(&question()).await.unwrap_err() });
    }
    assert!(calls.join_all().await.iter().all(Error::is_retryable));
    assert!((201..=220).contains(&server.requests()), "{} requests for 200 calls", server.requests());
}

/// Makes ten calls at once of which few have their turn in time, and returns how many were answered.
async fn paced() -> usize {
    let server = Server::start(|_| Wire::OpenAi.whole("x")).await;
    let paced = config(&server.url("")).with_requests_per_minute(600).with_deadline(250 * MILLI);
    let model: Arc<dyn ChatModel> = Arc::from(Wire::OpenAi.model(paced));
    let begun = Instant::now();
    let mut calls = tokio::task::JoinSet::new();
    for _ in 0..10 {
        let model = Arc::clone(&model);
        calls.spawn(async move { model.answer(&question()).await });
    }
    let answers = calls.join_all().await;
    let made = answers.iter().filter(|answer| answer.is_ok()).count();
    // At 0, 100 and 200 ms; the rest comes after its deadline.
    assert!(made <= 3, "{made}");
    assert!(answers.iter().filter_map(|answer| answer.as_ref().err()).all(Error::is_retryable));
    assert!(server.requests() <= 3 && begun.elapsed() >= 100 * MILLI, "{} requests", server.requests());
    made
}

#[tokio::test]
async fn what_comes_too_fast_waits_for_its_turn_or_is_refused() {
    // Where the machine stops, even the first call may be late; what is asserted of the others holds each time.
    for _ in 0..5 {
        if paced().await >= 1 {
            return;
        }
    }
    panic!("no call was answered");
}
