//! A TCP proxy between a client and its server. It can delay, swallow, cut and repeat what passes.

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
    /// Passes them on after a delay.
    Slow(Duration),
    /// Passes requests on at once, and answers after a delay.
    SlowToAnswer(Duration),
    /// Keeps connections open and passes nothing on.
    Stalled,
    /// Closes every connection, and new ones at once.
    Refusing,
}

/// What the proxy does now. In one value: a cut that comes with its healing must not outlive it.
#[derive(Clone, Copy, Debug)]
struct Now {
    mood: Mood,
    /// How many more bytes of the server's answers pass before the cut; without end if none is near.
    allowed: u64,
}

impl Now {
    const HONEST: Self = Self { mood: Mood::Honest, allowed: u64::MAX };

    /// Takes up to `wanted` bytes from what is allowed, and closes everything if they are not enough. Returns how many it got.
    fn take(&mut self, wanted: usize) -> usize {
        if self.allowed == u64::MAX {
            return wanted;
        }
        let taken = usize::try_from(self.allowed).unwrap_or(wanted).min(wanted);
        self.allowed -= taken as u64;
        if taken < wanted {
            self.mood = Mood::Refusing;
        }
        taken
    }
}

/// A proxy on a port of its own. It closes its connections and stops when this value is dropped.
///
/// Faults hold for connections that are open and for new ones, until [`heal`](Self::heal).
#[derive(Debug)]
pub struct Proxy {
    address: SocketAddr,
    now: Arc<watch::Sender<Now>>,
    passed: Arc<AtomicU64>,
    repeats: Arc<AtomicU64>,
    task: JoinHandle<()>,
}

/// What a connection shares with its proxy.
#[derive(Clone)]
struct Link {
    now: Arc<watch::Sender<Now>>,
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
        let now = Arc::new(watch::Sender::new(Now::HONEST));
        let [passed, repeats] = [(); 2].map(|()| Arc::<AtomicU64>::default());
        let link = Link { now: now.clone(), passed: passed.clone(), repeats: repeats.clone(), target: target.into() };
        let task = tokio::spawn(serve(listener, link));
        Ok(Self { address, now, passed, repeats, task })
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
        self.repeats.store(0, Ordering::SeqCst);
        self.now.send_replace(Now::HONEST);
    }

    /// Holds every piece back for `delay`, in both directions.
    pub fn delay(&self, delay: Duration) {
        self.turn(Mood::Slow(delay));
    }

    /// Holds every piece of an answer back for `delay`: a caller that gives up meanwhile has been served all the same.
    pub fn delay_answers(&self, delay: Duration) {
        self.turn(Mood::SlowToAnswer(delay));
    }

    /// Sends the next `count` requests once more, over connections of their own: only what it knows as whole requests, which
    /// are those of Redis. Nobody hears the second answer.
    pub fn repeat(&self, count: u64) {
        self.repeats.store(count, Ordering::SeqCst);
    }

    /// Passes nothing on and keeps all connections open, as a half-open network does.
    pub fn stall(&self) {
        self.turn(Mood::Stalled);
    }

    /// Closes all connections, and new ones as soon as they come.
    pub fn refuse(&self) {
        self.turn(Mood::Refusing);
    }

    fn turn(&self, mood: Mood) {
        self.now.send_modify(|now| now.mood = mood);
    }

    /// Passes `bytes` more bytes of the server's answers, then refuses: the answer ends in the middle.
    pub fn cut_after(&self, bytes: u64) {
        self.now.send_modify(|now| now.allowed = bytes);
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
        if link.now.borrow().mood != Mood::Refusing {
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
    let mut now = link.now.subscribe();
    tokio::select! {
        () = pass(from_client, to_server, link.clone(), false) => {}
        () = pass(from_server, to_client, link, true) => {}
        _ = now.wait_for(|now| now.mood == Mood::Refusing) => {}
    }
}

async fn pass(mut from: OwnedReadHalf, mut to: OwnedWriteHalf, link: Link, answers: bool) {
    let mut piece = vec![0; 16 * 1_024];
    loop {
        let Ok(read @ 1..) = from.read(&mut piece).await else { return };
        let mood = link.now.borrow().mood;
        match mood {
            Mood::Honest | Mood::Refusing => {}
            Mood::Slow(delay) => sleep(delay).await,
            Mood::SlowToAnswer(delay) if answers => sleep(delay).await,
            Mood::SlowToAnswer(_) => {}
            Mood::Stalled => {
                let _ = link.now.subscribe().wait_for(|now| now.mood != Mood::Stalled).await;
            }
        }
        let is_repeated = !answers && is_whole(piece.get(..read).unwrap_or_default()) && is_left(&link.repeats);
        if is_repeated {
            tokio::spawn(repeat(Arc::clone(&link.target), piece.get(..read).unwrap_or_default().to_vec()));
        }
        let mut allowed = read;
        if answers {
            link.now.send_if_modified(|now| {
                allowed = now.take(read);
                allowed < read
            });
        }
        let sent = to.write_all(piece.get(..allowed).unwrap_or_default()).await;
        if answers {
            link.passed.fetch_add(allowed as u64, Ordering::SeqCst);
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

/// Takes one of what is left, if something is.
fn is_left(count: &AtomicU64) -> bool {
    count.fetch_update(Ordering::SeqCst, Ordering::SeqCst, |left| left.checked_sub(1)).is_ok()
}
