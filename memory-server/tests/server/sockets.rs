//! What only sockets show: headers that come byte by byte, and the end of a server with requests under way.

use std::net::SocketAddr;
use std::time::Duration;

use memory::{Message, Role, Scope, SessionId};
use memory_server::{Config, Server, Tokens};
use tokio::io::{AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::sync::oneshot;
use tokio::task::JoinHandle;
use tokio::time::{Instant, timeout};

use crate::bed::token;

/// A server that listens.
struct Running {
    address: SocketAddr,
    token: String,
    stop: oneshot::Sender<()>,
    server: JoinHandle<std::io::Result<()>>,
}

async fn run(config: Config, database: &str) -> Running {
    let memory = memory::open(database).await.unwrap().build().await.unwrap();
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let (stop, stopped) = oneshot::channel();
    let (token, grant) = token("ada", "read,write");
    let server = Server::new(memory, Tokens::default().with(grant), config);
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
    async fn connect(&self) -> TcpStream {
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

#[tokio::test]
async fn a_client_that_does_not_end_its_headers_is_cut_off_and_others_are_answered() {
    let config = Config { header_timeout: Duration::from_millis(300), ..Config::default() };
    let running = run(config, "memory:").await;
    let mut slow = Vec::new();
    // Nothing, the beginning of another version of HTTP, half a line, and headers that never end.
    for head in [&b""[..], b"P", b"PRI * HTTP/2.0\r\n", b"GET /health HT", b"x"] {
        for _ in 0..40 {
            let (read, mut write) = running.connect().await.into_split();
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
    assert!(running.get("/health").await.starts_with("HTTP/1.1 200"));
    for (head, mut stream) in slow {
        let mut rest = Vec::new();
        let read = timeout(Duration::from_secs(10), stream.read_to_end(&mut rest)).await;
        assert!(read.is_ok(), "the connection stays open behind {head:?}");
    }
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
    let running = run(Config { drain, ..Config::default() }, file.to_str().unwrap()).await;
    assert!(running.get("/ready").await.starts_with("HTTP/1.1 200"));
    let mut upload = running.connect().await;
    upload.write_all(stalled(&running).as_bytes()).await.unwrap();
    let _idle = running.connect().await;
    assert!(running.get("/v1/records").await.starts_with("HTTP/1.1 200"));
    let (begun, Running { stop, server, address, .. }) = (Instant::now(), running);
    stop.send(()).unwrap();
    server.await.unwrap().unwrap();
    assert!(begun.elapsed() < drain + Duration::from_secs(3), "{:?}", begun.elapsed());
    assert!(TcpStream::connect(address).await.is_err());
    let left: Vec<_> = std::fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(left, ["memory.sqlite"]);
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
    let running = run(Config { drain, ..Config::default() }, file.to_str().unwrap()).await;
    let mut stream = running.connect().await;
    let (host, token) = (running.address, &running.token);
    let head = format!("GET /v1/export HTTP/1.1\r\nhost: {host}\r\nauthorization: Bearer {token}\r\n\r\n");
    stream.write_all(head.as_bytes()).await.unwrap();
    let mut beginning = [0; 1_000];
    stream.read_exact(&mut beginning).await.unwrap();
    assert!(beginning.starts_with(b"HTTP/1.1 200"));
    let (begun, Running { stop, server, .. }) = (Instant::now(), running);
    stop.send(()).unwrap();
    server.await.unwrap().unwrap();
    assert!(begun.elapsed() < drain + Duration::from_secs(3), "{:?}", begun.elapsed());
    // It was cut off in the middle: the server did not wait for its reader.
    let mut rest = Vec::new();
    let _ = stream.read_to_end(&mut rest).await;
    assert!(rest.len() < 20_000_000, "{}", rest.len());
    let left: Vec<_> = std::fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(left, ["memory.sqlite"]);
}

#[tokio::test]
async fn a_server_without_requests_stops_at_once() {
    let running = run(Config::default(), "memory:").await;
    assert!(running.get("/health").await.contains("\"ok\""));
    let Running { stop, server, .. } = running;
    stop.send(()).unwrap();
    timeout(Duration::from_secs(5), server).await.unwrap().unwrap().unwrap();
}

#[tokio::test]
async fn s3_17_figures_are_told_on_a_listener_of_their_own_and_name_no_owner() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("memory.sqlite");
    let memory = memory::open(file.to_str().unwrap()).await.unwrap().build().await.unwrap();
    let [listener, metrics] = [(); 2].map(|()| std::net::TcpListener::bind("127.0.0.1:0").unwrap());
    let (address, own) = (listener.local_addr().unwrap(), metrics.local_addr().unwrap());
    let (stop, stopped) = oneshot::channel();
    let (token, grant) = token("a very special owner", "read");
    let server = Server::new(memory, Tokens::default().with(grant), Config::default()).with_metrics(metrics);
    let stopping = async move {
        let _ = stopped.await;
    };
    let running = Running { address, token, stop, server: tokio::spawn(server.serve(listener, stopping)) };
    assert!(running.get("/v1/records").await.starts_with("HTTP/1.1 200"));
    assert!(running.get("/metrics").await.starts_with("HTTP/1.1 404"));
    let Running { token, stop, server, .. } = running;
    let running = Running { address: own, token, stop, server };
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
    timeout(Duration::from_secs(5), running.server).await.unwrap().unwrap().unwrap();
}
