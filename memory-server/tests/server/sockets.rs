//! What only sockets show: headers that come byte by byte, and the end of a server with requests under way.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use memory::layer::WriteBehindPolicy;
use memory::store::reference::{MemChat, MemJournal, MemRecords};
use memory::store::{Stores, Truth};
use memory::{MemoryBuilder, Message, Role, Scope, SessionId};
use memory_server::{Config, Server, Tokens};
use memory_testkit::RunningWatch;
use tokio::io::{AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::net::tcp::OwnedReadHalf;
use tokio::sync::oneshot;
use tokio::task::JoinHandle;
use tokio::time::timeout;

use crate::bed::token;

/// A server that listens.
pub(crate) struct Running {
    pub(crate) address: SocketAddr,
    pub(crate) token: String,
    pub(crate) stop: oneshot::Sender<()>,
    pub(crate) server: JoinHandle<std::io::Result<()>>,
}

async fn run(config: Config, database: &str) -> Running {
    let memory = memory::open(database).await.unwrap().build().await.unwrap();
    let (token, grant) = token("ada", "read,write");
    start(Server::new(memory, Tokens::default().with(grant), config), token)
}

pub(crate) fn start(server: Server, token: String) -> Running {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let (stop, stopped) = oneshot::channel();
    let server = tokio::spawn(async move {
        server
            .serve(listener, async move {
                let _ = stopped.await;
            })
            .await
    });
    Running { address, token, stop, server }
}

impl Running {
    pub(crate) async fn connect(&self) -> TcpStream {
        TcpStream::connect(self.address).await.unwrap()
    }

    /// Sends a request and returns the answer, whose connection is closed behind it.
    async fn get(&self, path: &str) -> String {
        let mut stream = self.connect().await;
        let (host, token) = (self.address, &self.token);
        let head = format!(
            "GET {path} HTTP/1.1\r\nhost: {host}\r\nauthorization: Bearer {token}\r\nconnection: close\r\n\r\n"
        );
        stream.write_all(head.as_bytes()).await.unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).await.unwrap();
        answer
    }

    /// Asserts that the server, told to stop, does so within its drain and three seconds, and returns how long it took.
    async fn stops_within(self, drain: Duration) -> Duration {
        let begun = RunningWatch::start();
        self.stop.send(()).unwrap();
        self.server.await.unwrap().unwrap();
        let took = begun.elapsed();
        assert!(took < drain + Duration::from_secs(3), "{took:?}");
        took
    }
}

/// Asserts that a server stops within its drain and a second in one of three attempts, because others use this machine too. What
/// an attempt asserts by itself holds in each: the callers allow the drain and three seconds.
pub(crate) async fn stops_in_time(drain: Duration, stops: impl AsyncFn() -> Duration) {
    let mut took = Vec::new();
    for _ in 0..3 {
        took.push(stops().await);
        if took.last().is_some_and(|took| *took < drain + Duration::from_secs(1)) {
            return;
        }
    }
    panic!("{took:?} with a drain of {drain:?}");
}

/// Asserts that a server which was told to stop, and has nothing to wait for, does so within five seconds.
async fn stops_at_once(server: JoinHandle<std::io::Result<()>>) {
    let begun = RunningWatch::start();
    timeout(Duration::from_secs(60), server).await.unwrap().unwrap().unwrap();
    assert!(begun.elapsed() < Duration::from_secs(5), "{:?}", begun.elapsed());
}

/// Runs a server, and returns how its listener of figures is reached.
async fn run_with_figures(config: Config) -> Running {
    let memory = memory::open("memory:").await.unwrap().build().await.unwrap();
    let (token, grant) = token("ada", "read,write");
    let metrics = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = metrics.local_addr().unwrap();
    let server = Server::new(memory, Tokens::default().with(grant), config).with_metrics(metrics);
    Running { address, ..start(server, token) }
}

/// Returns the beginning of a write whose body does not come.
fn stalled(running: &Running) -> String {
    let (host, token) = (running.address, &running.token);
    format!(
        "POST /v1/sessions/a/messages HTTP/1.1\r\nhost: {host}\r\nauthorization: Bearer {token}\r\n\
         content-type: application/json\r\ncontent-length: 100\r\n\r\n{{"
    )
}

/// Sends the same bytes again and again, one at a time, for as long as the server listens.
async fn trickle(mut stream: impl AsyncWrite + Unpin, head: &'static [u8]) {
    for byte in head.iter().cycle() {
        if stream.write_all(&[*byte]).await.is_err() {
            return;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

/// What a client sent, and where it reads on.
type Slow = (&'static [u8], OwnedReadHalf);

/// Connects clients that do not end their headers, so many of each kind.
async fn slow(address: SocketAddr, many: usize) -> Vec<Slow> {
    let mut slow = Vec::new();
    // Nothing, the beginning of another version of HTTP, half a line, and headers that never end.
    for head in [&b""[..], b"P", b"PRI * HTTP/2.0\r\n", b"GET /health HT", b"x"] {
        for _ in 0..many {
            let (read, mut write) = TcpStream::connect(address).await.unwrap().into_split();
            if head == b"x" {
                write.write_all(b"GET /health HTTP/1.1\r\n").await.unwrap();
                tokio::spawn(trickle(write, b"x: x\r\n"));
            } else {
                write.write_all(head).await.unwrap();
                // Kept open.
                tokio::spawn(async move {
                    std::future::pending::<()>().await;
                    drop(write);
                });
            }
            slow.push((head, read));
        }
    }
    slow
}

async fn are_cut_off(slow: Vec<Slow>) {
    for (head, mut stream) in slow {
        let (begun, mut rest) = (RunningWatch::start(), Vec::new());
        let read = timeout(Duration::from_secs(60), stream.read_to_end(&mut rest)).await;
        let is_in_time = begun.elapsed() < Duration::from_secs(10);
        assert!(read.is_ok() && is_in_time, "the connection stays open behind {head:?}");
    }
}

#[tokio::test]
async fn a_client_that_does_not_end_its_headers_is_cut_off_and_others_are_answered() {
    let config = Config { header_timeout: Duration::from_millis(300), ..Config::default() };
    let running = run(config, "memory:").await;
    let slow = slow(running.address, 40).await;
    assert!(running.get("/health").await.starts_with("HTTP/1.1 200"));
    are_cut_off(slow).await;
}

#[tokio::test]
async fn the_listener_of_figures_is_as_careful_as_the_other_and_opens_no_memory() {
    let config = Config { header_timeout: Duration::from_millis(300), ..Config::default() };
    let running = run_with_figures(config).await;
    let slow = slow(running.address, 8).await;
    assert!(running.get("/metrics").await.starts_with("HTTP/1.1 200"));
    are_cut_off(slow).await;
    for path in ["/", "/health", "/v1/records", "/mcp"] {
        assert!(running.get(path).await.starts_with("HTTP/1.1 404"), "{path}");
    }
    assert!(running.get(&format!("/metrics?token={}", running.token)).await.starts_with("HTTP/1.1 400"));
    let mut stream = running.connect().await;
    stream.write_all(b"GET /metrics HTTP/1.1\r\nhost: evil.example\r\nconnection: close\r\n\r\n").await.unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await.unwrap();
    assert!(answer.starts_with("HTTP/1.1 403"), "{answer}");
}

#[tokio::test]
async fn a_client_of_figures_that_stops_in_the_middle_does_not_hold_up_the_end() {
    let drain = Duration::from_secs(1);
    let stops = async || {
        let running = run_with_figures(Config { drain, ..Config::default() }).await;
        let _idle = running.connect().await;
        let mut asking = running.connect().await;
        asking.write_all(b"GET /metrics HT").await.unwrap();
        assert!(running.get("/metrics").await.starts_with("HTTP/1.1 200"));
        running.stops_within(drain).await
    };
    stops_in_time(drain, stops).await;
}

#[tokio::test]
async fn hundreds_of_connections_at_once_wait_to_be_taken_and_none_is_turned_away() {
    let running = run(Config::default(), "memory:").await;
    assert!(running.get("/health").await.starts_with("HTTP/1.1 200"));
    // The server has this thread, so it takes none of them meanwhile. What is turned away tries again after a second.
    let connect = |_| std::net::TcpStream::connect_timeout(&running.address, Duration::from_millis(900)).unwrap();
    let waiting: Vec<_> = (0..300).map(connect).collect();
    assert!(running.get("/health").await.starts_with("HTTP/1.1 200"));
    drop(waiting);
}

#[tokio::test]
async fn a_server_stops_within_its_drain_and_leaves_one_file() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("memory.sqlite");
    let drain = Duration::from_secs(1);
    let stops = async || {
        let running = run(Config { drain, ..Config::default() }, file.to_str().unwrap()).await;
        assert!(running.get("/ready").await.starts_with("HTTP/1.1 200"));
        let mut upload = running.connect().await;
        upload.write_all(stalled(&running).as_bytes()).await.unwrap();
        let _idle = running.connect().await;
        assert!(running.get("/v1/records").await.starts_with("HTTP/1.1 200"));
        let address = running.address;
        let took = running.stops_within(drain).await;
        assert!(TcpStream::connect(address).await.is_err());
        let left: Vec<_> = std::fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        assert_eq!(left, ["memory.sqlite"]);
        took
    };
    stops_in_time(drain, stops).await;
}

#[tokio::test]
async fn an_answer_that_nobody_reads_on_does_not_hold_up_the_end() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("memory.sqlite");
    let memory = memory::open(file.to_str().unwrap()).await.unwrap().build().await.unwrap();
    let ada = memory.of(&Scope::new("acme", "ada").unwrap());
    // More than the buffers of two sockets hold.
    for _ in 0..24 {
        let message = Message::new(Role::User, "word ".repeat(200_000), memory.now());
        ada.session(&SessionId::new("a").unwrap()).append(vec![message]).await.unwrap();
    }
    memory.close().await.unwrap();
    let drain = Duration::from_secs(1);
    let stops = async || {
        let running = run(Config { drain, ..Config::default() }, file.to_str().unwrap()).await;
        let mut stream = running.connect().await;
        let (host, token) = (running.address, &running.token);
        let head = format!("GET /v1/export HTTP/1.1\r\nhost: {host}\r\nauthorization: Bearer {token}\r\n\r\n");
        stream.write_all(head.as_bytes()).await.unwrap();
        let mut beginning = [0; 1_000];
        stream.read_exact(&mut beginning).await.unwrap();
        assert!(beginning.starts_with(b"HTTP/1.1 200"));
        let took = running.stops_within(drain).await;
        // It was cut off in the middle: the server did not wait for its reader.
        let mut rest = Vec::new();
        let _ = stream.read_to_end(&mut rest).await;
        assert!(rest.len() < 20_000_000, "{}", rest.len());
        let left: Vec<_> = std::fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        assert_eq!(left, ["memory.sqlite"]);
        took
    };
    stops_in_time(drain, stops).await;
}

#[tokio::test]
async fn waits_beyond_all_times_wait() {
    let ever = Duration::MAX;
    let config =
        Config { deadline: ever, transfer_deadline: ever, header_timeout: ever, drain: ever, ..Config::default() };
    let running = run(config, "memory:").await;
    assert!(running.get("/v1/records").await.starts_with("HTTP/1.1 200"));
    let Running { stop, server, .. } = running;
    stop.send(()).unwrap();
    stops_at_once(server).await;
}

#[tokio::test]
async fn a_server_without_requests_stops_at_once() {
    let running = run(Config::default(), "memory:").await;
    assert!(running.get("/health").await.contains("\"ok\""));
    let Running { stop, server, .. } = running;
    stop.send(()).unwrap();
    stops_at_once(server).await;
}

#[tokio::test]
async fn s3_17_figures_are_told_on_a_listener_of_their_own_and_name_no_owner() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("memory.sqlite");
    let memory = memory::open(file.to_str().unwrap()).await.unwrap().build().await.unwrap();
    let metrics = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let own = metrics.local_addr().unwrap();
    let (token, grant) = token("a very special owner", "read");
    let server = Server::new(memory, Tokens::default().with(grant), Config::default()).with_metrics(metrics);
    let running = start(server, token);
    assert!(running.get("/v1/records").await.starts_with("HTTP/1.1 200"));
    assert!(running.get("/metrics").await.starts_with("HTTP/1.1 404"));
    let running = Running { address: own, ..running };
    let figures = running.get("/metrics").await;
    for figure in [
        "memory_requests_total{operation=\"GET /v1/records\",status=\"200\"}",
        "memory_request_seconds_bucket{operation=\"GET /v1/records\"",
        "memory_index_pending{index=",
        "memory_store_up{part=",
        "# HELP memory_store_calls_total calls of stores that ended",
        "memory_store_calls_total{backend=\"sqlite\",part=\"records\",operation=\"scan\",outcome=\"ok\"}",
        "memory_store_call_seconds_bucket{backend=\"sqlite\",part=\"records\",operation=\"scan\",outcome=\"ok\",le=",
    ] {
        assert!(figures.contains(figure), "{figure}: {figures}");
    }
    assert!(!figures.contains("special"));
    let page = include_str!("../../../docs/operations.md");
    for name in figures.lines().filter_map(|line| line.strip_prefix("# TYPE ")?.split(' ').next()) {
        assert!(page.contains(&format!("| `{name}` |")), "{name} is not on the page");
    }
    running.stop.send(()).unwrap();
    stops_at_once(running.server).await;
}

#[tokio::test]
async fn s3_17_figures_tell_how_much_waits_in_a_journal() {
    let stores = Stores {
        chat: Some(Truth::chat(Arc::new(MemChat::default()))),
        records: Some(Truth::records(Arc::new(MemRecords::default()))),
        ..Stores::default()
    };
    let policy = WriteBehindPolicy::default().with_age(Duration::from_secs(3_600));
    let builder = MemoryBuilder::over(stores).journal(Arc::new(MemJournal::new(1_000))).write_behind(policy);
    let memory = builder.build().await.unwrap();
    let talk = memory.of(&Scope::new("acme", "ada").unwrap()).session(&SessionId::new("talk").unwrap());
    let said = ["one", "two"].map(|text| Message::new(Role::User, text, memory.now()));
    talk.append(said.to_vec()).await.unwrap();
    let bytes = memory.status().await.journal.unwrap().bytes;
    let metrics = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = metrics.local_addr().unwrap();
    let (token, grant) = token("ada", "read");
    let server = Server::new(memory, Tokens::default().with(grant), Config::default()).with_metrics(metrics);
    let running = Running { address, ..start(server, token) };
    let figures = running.get("/metrics").await;
    for figure in [
        "memory_journal_waiting 2".to_owned(),
        format!("memory_journal_bytes {bytes}"),
        "memory_journal_refused 0".to_owned(),
    ] {
        assert!(figures.lines().any(|line| line == figure), "{figure}: {figures}");
    }
    running.stop.send(()).unwrap();
    stops_at_once(running.server).await;
}
