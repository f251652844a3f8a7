//! A proxy between a client and its server that can be slow, deaf, broken or away.

use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::tcp::{OwnedReadHalf, OwnedWriteHalf};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::task::{JoinHandle, JoinSet};
use tokio::time::{sleep, timeout};

/// How long the answer to a repeated request is waited for.
const PATIENCE: Duration = Duration::from_secs(5);

/// What the proxy does to the bytes that pass.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Mood {
    /// Passes them on.
    #[default]
    Honest,
    /// Passes them on later.
    Slow(Duration),
    /// Passes on at once what is asked, and later what is answered.
    SlowToAnswer(Duration),
    /// Keeps connections open and passes nothing on.
    Stalled,
    /// Closes every connection, and new ones at once.
    Refusing,
}

/// A proxy on a port of its own; it ends with this value, and its connections with it.
///
/// Faults hold for connections that are open and for new ones, until [`heal`](Self::heal).
#[derive(Debug)]
pub struct Proxy {
    address: SocketAddr,
    mood: Arc<watch::Sender<Mood>>,
    allowed: Arc<AtomicU64>,
    passed: Arc<AtomicU64>,
    repeats: Arc<AtomicU64>,
    task: JoinHandle<()>,
}

/// What a connection shares with its proxy.
#[derive(Clone)]
struct Link {
    mood: watch::Receiver<Mood>,
    tell: Arc<watch::Sender<Mood>>,
    /// How many more bytes of the server's answers pass before the cut.
    allowed: Arc<AtomicU64>,
    passed: Arc<AtomicU64>,
    /// How many more requests are repeated.
    repeats: Arc<AtomicU64>,
    target: Arc<str>,
}

impl Proxy {
    /// Starts a proxy to `target`, as `127.0.0.1:6379`.
    ///
    /// # Errors
    /// If no port is free.
    pub async fn start(target: impl Into<String>) -> io::Result<Self> {
        let target = target.into();
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
        let address = listener.local_addr()?;
        let (tell, mood) = watch::channel(Mood::default());
        let (tell, allowed) = (Arc::new(tell), Arc::new(AtomicU64::new(u64::MAX)));
        let [passed, repeats] = [(); 2].map(|()| Arc::<AtomicU64>::default());
        let link = Link {
            mood,
            tell: tell.clone(),
            allowed: allowed.clone(),
            passed: passed.clone(),
            repeats: repeats.clone(),
            target: target.into(),
        };
        let task = tokio::spawn(serve(listener, link));
        Ok(Self { address, mood: tell, allowed, passed, repeats, task })
    }

    /// Returns the host and port to connect to.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Returns `url` with this proxy in place of its host and port.
    pub fn in_place_of(&self, url: &str) -> String {
        let (scheme, rest) = url.split_once("://").unwrap_or(("", url));
        let (authority, path) = rest.find('/').map_or((rest, ""), |at| rest.split_at(at));
        let user = authority.rsplit_once('@').map(|(user, _)| format!("{user}@")).unwrap_or_default();
        let scheme = if scheme.is_empty() { String::new() } else { format!("{scheme}://") };
        format!("{scheme}{user}{}{path}", self.address)
    }

    /// Returns how many bytes of answers have passed so far.
    pub fn passed(&self) -> u64 {
        self.passed.load(Ordering::SeqCst)
    }

    /// Passes everything on from now on.
    pub fn heal(&self) {
        self.allowed.store(u64::MAX, Ordering::SeqCst);
        self.repeats.store(0, Ordering::SeqCst);
        self.mood.send_replace(Mood::Honest);
    }

    /// Holds every piece back for `delay`, in both directions.
    pub fn delay(&self, delay: Duration) {
        self.mood.send_replace(Mood::Slow(delay));
    }

    /// Holds every piece of an answer back for `delay`: a caller that gives up meanwhile has been served all the same.
    pub fn delay_answers(&self, delay: Duration) {
        self.mood.send_replace(Mood::SlowToAnswer(delay));
    }

    /// Sends the next `count` requests once more, over connections of their own: only what it knows as whole requests, which
    /// are those of Redis. Nobody hears the second answer.
    pub fn repeat(&self, count: u64) {
        self.repeats.store(count, Ordering::SeqCst);
    }

    /// Passes nothing on and keeps all connections open, as a half-open network does.
    pub fn stall(&self) {
        self.mood.send_replace(Mood::Stalled);
    }

    /// Closes all connections, and new ones as soon as they come.
    pub fn refuse(&self) {
        self.mood.send_replace(Mood::Refusing);
    }

    /// Passes `bytes` more bytes of the server's answers, then refuses: the answer ends in the middle.
    pub fn cut_after(&self, bytes: u64) {
        self.allowed.store(bytes, Ordering::SeqCst);
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        self.task.abort();
    }
}

async fn serve(listener: TcpListener, link: Link) {
    let mut connections = JoinSet::new();
    while let Ok((client, _)) = listener.accept().await {
        if *link.mood.borrow() != Mood::Refusing {
            connections.spawn(connect(client, link.clone()));
        }
        while connections.try_join_next().is_some() {}
    }
}

/// Passes bytes between a client and the server until one of them, or the proxy, has enough.
async fn connect(client: TcpStream, link: Link) {
    let Ok(server) = TcpStream::connect(&*link.target).await else { return };
    // Small answers must not wait for each other: the proxy adds no delay of its own.
    let _ = (client.set_nodelay(true), server.set_nodelay(true));
    let (from_client, to_client) = client.into_split();
    let (from_server, to_server) = server.into_split();
    let mut mood = link.mood.clone();
    tokio::select! {
        () = pass(from_client, to_server, link.clone(), false) => {}
        () = pass(from_server, to_client, link, true) => {}
        _ = mood.wait_for(|mood| *mood == Mood::Refusing) => {}
    }
}

async fn pass(mut from: OwnedReadHalf, mut to: OwnedWriteHalf, mut link: Link, answers: bool) {
    let mut piece = vec![0; 16 * 1_024];
    loop {
        let Ok(read @ 1..) = from.read(&mut piece).await else { return };
        let now = *link.mood.borrow();
        match now {
            Mood::Honest | Mood::Refusing => {}
            Mood::Slow(delay) => sleep(delay).await,
            Mood::SlowToAnswer(delay) if answers => sleep(delay).await,
            Mood::SlowToAnswer(_) => {}
            Mood::Stalled => {
                let _ = link.mood.wait_for(|mood| *mood != Mood::Stalled).await;
            }
        }
        let is_repeated = !answers && is_whole(piece.get(..read).unwrap_or_default()) && take(&link.repeats, 1) == 1;
        if is_repeated {
            tokio::spawn(repeat(Arc::clone(&link.target), piece.get(..read).unwrap_or_default().to_vec()));
        }
        let allowed = if answers { take(&link.allowed, read) } else { read };
        let sent = to.write_all(piece.get(..allowed).unwrap_or_default()).await;
        if answers {
            link.passed.fetch_add(allowed as u64, Ordering::SeqCst);
        }
        if allowed < read {
            link.tell.send_replace(Mood::Refusing);
        }
        if sent.is_err() || allowed < read {
            return;
        }
    }
}

/// Sends a request, and hears its answer out.
async fn repeat(target: Arc<str>, request: Vec<u8>) {
    let Ok(mut server) = TcpStream::connect(&*target).await else { return };
    if server.write_all(&request).await.is_ok() {
        // The server has done it by the time that it answers.
        let _ = timeout(PATIENCE, server.read(&mut [0; 1_024])).await;
    }
}

/// Returns whether a piece is commands of Redis, to their ends: lists of texts, each with its length before it.
fn is_whole(piece: &[u8]) -> bool {
    let mut rest = piece;
    while !rest.is_empty() {
        let Some((count, mut behind)) = number(rest, b'*') else { return false };
        for _ in 0..count {
            let Some((length, text)) = number(behind, b'$') else { return false };
            let Some(end) = text.get(length..).and_then(|end| end.strip_prefix(b"\r\n")) else { return false };
            behind = end;
        }
        rest = behind;
    }
    !piece.is_empty()
}

/// Takes a line with a sign and a number off the front.
fn number(bytes: &[u8], sign: u8) -> Option<(usize, &[u8])> {
    let bytes = bytes.strip_prefix(&[sign])?;
    let end = bytes.windows(2).position(|pair| pair == b"\r\n")?;
    let number = std::str::from_utf8(bytes.get(..end)?).ok()?.parse().ok()?;
    Some((number, bytes.get(end + 2..)?))
}

/// Takes up to `wanted` bytes from what is allowed; returns how many it got.
fn take(allowed: &AtomicU64, wanted: usize) -> usize {
    let take = |left: u64| (left != u64::MAX).then(|| left.saturating_sub(wanted as u64));
    match allowed.fetch_update(Ordering::SeqCst, Ordering::SeqCst, take) {
        Ok(left) => usize::try_from(left).unwrap_or(wanted).min(wanted),
        Err(_) => wanted,
    }
}
