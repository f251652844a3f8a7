//! An HTTP server for tests that answers by a script.

use std::collections::VecDeque;
use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::{JoinHandle, JoinSet};
use tokio::time::sleep;

/// A request that the server received.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HttpRequest {
    /// The method, as `POST`.
    pub method: String,
    /// The path with its query.
    pub path: String,
    /// The body, as text.
    pub body: String,
}

/// An answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HttpReply {
    status: u16,
    body: String,
    content_type: Option<&'static str>,
    delay: Duration,
    cut: Option<usize>,
}

impl HttpReply {
    /// Returns an answer of JSON.
    pub fn json(status: u16, body: impl Into<String>) -> Self {
        Self { content_type: Some("application/json"), ..Self::bare(status, body) }
    }

    /// Returns an answer without a content type, as proxies and servers at their limits give.
    pub fn bare(status: u16, body: impl Into<String>) -> Self {
        Self { status, body: body.into(), content_type: None, delay: Duration::ZERO, cut: None }
    }

    /// Answers after `delay`.
    #[must_use]
    pub fn with_delay(mut self, delay: Duration) -> Self {
        self.delay = delay;
        self
    }

    /// Closes the connection after `bytes` bytes of the body, although the header announces more.
    #[must_use]
    pub fn with_cut(mut self, bytes: usize) -> Self {
        self.cut = Some(bytes);
        self
    }

    fn header(&self) -> String {
        let kind = self.content_type.map(|kind| format!("content-type: {kind}\r\n")).unwrap_or_default();
        format!("HTTP/1.1 {} Scripted\r\n{kind}content-length: {}\r\n\r\n", self.status, self.body.len())
    }
}

#[derive(Debug, Default)]
struct Script {
    once: VecDeque<(String, HttpReply)>,
    always: Vec<(String, HttpReply)>,
    requests: Vec<HttpRequest>,
}

/// An HTTP server that answers by a script. It answers 501 to a request that no line of the script matches, and stops
/// when this value is dropped.
#[derive(Debug)]
pub struct HttpStub {
    address: SocketAddr,
    script: Arc<Mutex<Script>>,
    task: JoinHandle<()>,
}

impl HttpStub {
    /// Starts it on a free port.
    ///
    /// # Errors
    /// If no port is free.
    pub async fn start() -> io::Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
        let address = listener.local_addr()?;
        let script = Arc::<Mutex<Script>>::default();
        let task = tokio::spawn(serve(listener, script.clone()));
        Ok(Self { address, script, task })
    }

    /// Returns its URL, without a path.
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Answers one request whose path contains `path` with `reply`. Each line of the script is used once, in order. An
    /// empty `path` matches every request.
    pub fn once(&self, path: &str, reply: HttpReply) {
        self.script().once.push_back((path.to_owned(), reply));
    }

    /// Answers every request whose path contains `path` and that no line for one request matches.
    pub fn always(&self, path: &str, reply: HttpReply) {
        self.script().always.push((path.to_owned(), reply));
    }

    /// Returns the requests received so far, in order.
    pub fn requests(&self) -> Vec<HttpRequest> {
        self.script().requests.clone()
    }

    fn script(&self) -> MutexGuard<'_, Script> {
        self.script.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for HttpStub {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl Script {
    /// Takes note of a request and returns its answer.
    fn answer(&mut self, request: HttpRequest) -> HttpReply {
        let path = request.path.clone();
        self.requests.push(request);
        let once = self.once.iter().position(|(part, _)| path.contains(part.as_str()));
        if let Some((_, reply)) = once.and_then(|at| self.once.remove(at)) {
            return reply;
        }
        let always = self.always.iter().find(|(part, _)| path.contains(part.as_str()));
        always.map_or_else(|| HttpReply::bare(501, "not scripted"), |(_, reply)| reply.clone())
    }
}

async fn serve(listener: TcpListener, script: Arc<Mutex<Script>>) {
    let mut connections = JoinSet::new();
    while let Ok((client, _)) = listener.accept().await {
        connections.spawn(talk(client, script.clone()));
        while connections.try_join_next().is_some() {}
    }
}

async fn talk(client: TcpStream, script: Arc<Mutex<Script>>) {
    let mut client = BufReader::new(client);
    while let Ok(request) = read_request(&mut client).await {
        let head = request.method == "HEAD";
        let reply = script.lock().unwrap_or_else(PoisonError::into_inner).answer(request);
        sleep(reply.delay).await;
        let body = if head { &[] } else { reply.body.as_bytes() };
        let end = reply.cut.unwrap_or(body.len());
        let answer = [reply.header().as_bytes(), body.get(..end).unwrap_or(body)].concat();
        if client.write_all(&answer).await.is_err() || reply.cut.is_some() {
            return;
        }
    }
}

async fn read_request(client: &mut BufReader<TcpStream>) -> io::Result<HttpRequest> {
    let damaged = || io::Error::new(io::ErrorKind::InvalidData, "no request of HTTP 1");
    let first = read_line(client).await?;
    let mut words = first.split(' ').map(str::to_owned);
    let (method, path) = words.next().zip(words.next()).ok_or_else(damaged)?;
    let mut length = 0;
    loop {
        let line = read_line(client).await?;
        match line.split_once(':') {
            Some((name, value)) if name.eq_ignore_ascii_case("content-length") => {
                length = value.trim().parse().map_err(|_| damaged())?;
            }
            Some(_) => {}
            None => break,
        }
    }
    let mut body = vec![0; length];
    client.read_exact(&mut body).await?;
    Ok(HttpRequest { method, path, body: String::from_utf8_lossy(&body).into_owned() })
}

/// Reads a line without its end.
async fn read_line(client: &mut BufReader<TcpStream>) -> io::Result<String> {
    let mut line = String::new();
    if client.read_line(&mut line).await? == 0 {
        return Err(io::ErrorKind::UnexpectedEof.into());
    }
    Ok(line.trim_end().to_owned())
}
