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
use tokio::time::sleep;

/// What the proxy does to the bytes that pass.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Mood {
    /// Passes them on.
    #[default]
    Honest,
    /// Passes them on later.
    Slow(Duration),
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
        let passed = Arc::<AtomicU64>::default();
        let link = Link { mood, tell: tell.clone(), allowed: allowed.clone(), passed: passed.clone() };
        let task = tokio::spawn(serve(listener, target, link));
        Ok(Self { address, mood: tell, allowed, passed, task })
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
        self.mood.send_replace(Mood::Honest);
    }

    /// Holds every piece back for `delay`, in both directions.
    pub fn delay(&self, delay: Duration) {
        self.mood.send_replace(Mood::Slow(delay));
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

async fn serve(listener: TcpListener, target: String, link: Link) {
    let mut connections = JoinSet::new();
    while let Ok((client, _)) = listener.accept().await {
        if *link.mood.borrow() != Mood::Refusing {
            connections.spawn(connect(client, target.clone(), link.clone()));
        }
        while connections.try_join_next().is_some() {}
    }
}

/// Passes bytes between a client and the server until one of them, or the proxy, has enough.
async fn connect(client: TcpStream, target: String, link: Link) {
    let Ok(server) = TcpStream::connect(target).await else { return };
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
            Mood::Stalled => {
                let _ = link.mood.wait_for(|mood| *mood != Mood::Stalled).await;
            }
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

/// Takes up to `wanted` bytes from what is allowed; returns how many it got.
fn take(allowed: &AtomicU64, wanted: usize) -> usize {
    let take = |left: u64| (left != u64::MAX).then(|| left.saturating_sub(wanted as u64));
    match allowed.fetch_update(Ordering::SeqCst, Ordering::SeqCst, take) {
        Ok(left) => usize::try_from(left).unwrap_or(wanted).min(wanted),
        Err(_) => wanted,
    }
}
