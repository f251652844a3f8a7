//! What is sent is encrypted where there is a certificate, and what holds without one holds there too.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use memory_server::{Certificate, Config, Server, Tokens};
use memory_testkit::RunningWatch;
use rustls::pki_types::ServerName;
use rustls::{ClientConfig, RootCertStore};
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::sync::oneshot;
use tokio::task::JoinHandle;
use tokio::time::timeout;
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;

use crate::bed::token;
use crate::sockets::stops_in_time;

/// A server that encrypts, and how a client knows it.
struct Running {
    address: SocketAddr,
    token: String,
    connector: TlsConnector,
    stop: oneshot::Sender<()>,
    server: JoinHandle<std::io::Result<()>>,
}

async fn run(config: Config) -> Running {
    let folder = tempfile::tempdir().unwrap();
    let files = ["certificate.pem", "key.pem"].map(|name| folder.path().join(name));
    let made = rcgen::generate_simple_self_signed(vec!["localhost".to_owned()]).unwrap();
    std::fs::write(&files[0], made.cert.pem()).unwrap();
    std::fs::write(&files[1], made.signing_key.serialize_pem()).unwrap();
    let certificate = Certificate::read(&files[0], &files[1]).await.unwrap();
    let memory = memory::open("memory:").await.unwrap().build().await.unwrap();
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let (stop, stopped) = oneshot::channel::<()>();
    let (token, grant) = token("ada", "read,write");
    let server = Server::new(memory, Tokens::default().with(grant), config).with_certificate(certificate);
    let server = tokio::spawn(async move { server.serve(listener, async move { drop(stopped.await) }).await });

    let mut known = RootCertStore::empty();
    known.add(made.cert.der().clone()).unwrap();
    let mut client = ClientConfig::builder_with_provider(Arc::new(rustls::crypto::ring::default_provider()))
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_root_certificates(known)
        .with_no_client_auth();
    client.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
    Running { address, token, connector: TlsConnector::from(Arc::new(client)), stop, server }
}

/// Returns a request for the sessions.
fn request(host: &str, token: &str) -> String {
    format!("GET /v1/sessions HTTP/1.1\r\nhost: {host}\r\nauthorization: Bearer {token}\r\nconnection: close\r\n\r\n")
}

impl Running {
    async fn connect(&self) -> TlsStream<TcpStream> {
        let stream = TcpStream::connect(self.address).await.unwrap();
        self.connector.connect(ServerName::try_from("localhost").unwrap(), stream).await.unwrap()
    }

    /// Asks for the sessions, and returns the answer.
    async fn get(&self, host: &str, token: &str) -> String {
        let mut stream = self.connect().await;
        stream.write_all(request(host, token).as_bytes()).await.unwrap();
        let mut answer = String::new();
        // The end of the connection may come without that of the encryption.
        let _ = stream.read_to_string(&mut answer).await;
        answer
    }
}

/// A connection that is kept open, and where its client has stopped.
type Slow = (&'static str, Box<dyn AsyncRead + Unpin>);

/// Connects clients that stop in the middle. Others are answered meanwhile.
async fn slow(running: &Running) -> [Slow; 4] {
    let silent = TcpStream::connect(running.address).await.unwrap();
    let mut greeting = TcpStream::connect(running.address).await.unwrap();
    // The beginning of a hello of 512 bytes.
    greeting.write_all(&[22, 3, 1, 2, 0, 1]).await.unwrap();
    let idle = running.connect().await;
    let mut asking = running.connect().await;
    asking.write_all(b"GET /health HT").await.unwrap();
    assert!(running.get(&running.address.to_string(), &running.token).await.starts_with("HTTP/1.1 200"));
    [
        ("before the handshake", Box::new(silent)),
        ("in the handshake", Box::new(greeting)),
        ("behind the handshake", Box::new(idle)),
        ("in a request", Box::new(asking)),
    ]
}

#[tokio::test]
async fn a_certificate_encrypts_what_is_sent_and_nothing_is_answered_in_clear() {
    let running = run(Config::default()).await;
    assert_eq!(running.connect().await.get_ref().1.alpn_protocol(), Some(&b"http/1.1"[..]));
    let (host, (other, _)) = (running.address.to_string(), token("bob", "read"));
    for (host, token, promised) in [
        (host.as_str(), &running.token, "HTTP/1.1 200"),
        (host.as_str(), &other, "HTTP/1.1 401"),
        ("evil.example", &running.token, "HTTP/1.1 403"),
    ] {
        let answer = running.get(host, token).await;
        assert!(answer.starts_with(promised), "{answer}");
    }

    let mut clear = TcpStream::connect(running.address).await.unwrap();
    clear.write_all(request(&host, &running.token).as_bytes()).await.unwrap();
    let mut answer = Vec::new();
    let _ = clear.read_to_end(&mut answer).await;
    assert!(!answer.starts_with(b"HTTP"), "{answer:?}");
    running.stop.send(()).unwrap();
    running.server.await.unwrap().unwrap();
}

#[tokio::test]
async fn a_client_that_stops_in_the_middle_is_cut_off() {
    let running = run(Config { header_timeout: Duration::from_secs(2), ..Config::default() }).await;
    for (place, mut stream) in slow(&running).await {
        let (begun, mut rest) = (RunningWatch::start(), Vec::new());
        let read = timeout(Duration::from_secs(60), stream.read_to_end(&mut rest)).await;
        let is_in_time = begun.elapsed() < Duration::from_secs(10);
        assert!(read.is_ok() && is_in_time, "the connection stays open {place}");
    }
}

#[tokio::test]
async fn a_client_that_stops_in_the_middle_does_not_hold_up_the_end() {
    let drain = Duration::from_secs(1);
    let stops = async || {
        let running = run(Config { drain, ..Config::default() }).await;
        let _slow = slow(&running).await;
        let begun = RunningWatch::start();
        running.stop.send(()).unwrap();
        running.server.await.unwrap().unwrap();
        let took = begun.elapsed();
        assert!(took < drain + Duration::from_secs(3), "{took:?}");
        took
    };
    stops_in_time(drain, stops).await;
}
