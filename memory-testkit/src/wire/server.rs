//! A server that answers as a script says.

use std::net::SocketAddr;
use std::sync::{Arc, Mutex, PoisonError};

use serde_json::Value;
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;

use super::Reply;
use super::reply::End;

/// The longest body that is taken.
const LONGEST: usize = 64 << 20;

/// A request that came.
#[derive(Clone, Debug)]
pub struct Asked {
    /// Its path and query.
    pub path: String,
    /// Its headers, with names in lower case.
    pub headers: Vec<(String, String)>,
    /// Its body.
    pub body: Vec<u8>,
}

impl Asked {
    /// Returns the header of this name.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(one, _)| one == name).map(|(_, value)| value.as_str())
    }

    /// Returns its body as JSON; `null` for one that is none.
    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_default()
    }
}

type Script = dyn Fn(&Asked) -> Reply + Send + Sync;

/// A server on a free port of this machine. It ends when it is dropped.
#[derive(Debug)]
pub struct Server {
    address: SocketAddr,
    log: Arc<Mutex<Log>>,
    _task: JoinSet<()>,
}

#[derive(Debug, Default)]
struct Log {
    asked: Vec<Asked>,
    written: usize,
}

impl Server {
    /// Starts a server that answers each request with what `script` returns for it.
    ///
    /// # Panics
    /// If the machine has no port to spare.
    #[expect(clippy::expect_used, reason = "without a port there is no test")]
    pub async fn start(script: impl Fn(&Asked) -> Reply + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
        let address = listener.local_addr().expect("an address");
        let log = Arc::new(Mutex::new(Log::default()));
        let (script, heard): (Arc<Script>, _) = (Arc::new(script), Arc::clone(&log));
        let mut task = JoinSet::new();
        task.spawn(async move {
            let mut calls = JoinSet::new();
            while let Ok((stream, _)) = listener.accept().await {
                calls.spawn(serve(stream, Arc::clone(&script), Arc::clone(&heard)));
                while calls.try_join_next().is_some() {}
            }
        });
        Self { address, log, _task: task }
    }

    /// Returns its address with this path.
    pub fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    /// Returns the requests so far.
    pub fn asked(&self) -> Vec<Asked> {
        self.log.lock().unwrap_or_else(PoisonError::into_inner).asked.clone()
    }

    /// Returns how many requests there were so far.
    pub fn requests(&self) -> usize {
        self.log.lock().unwrap_or_else(PoisonError::into_inner).asked.len()
    }

    /// Returns how many bytes of bodies were written so far.
    pub fn written(&self) -> usize {
        self.log.lock().unwrap_or_else(PoisonError::into_inner).written
    }
}

/// Answers the requests of one connection.
async fn serve(stream: TcpStream, script: Arc<Script>, log: Arc<Mutex<Log>>) {
    let mut stream = BufReader::new(stream);
    while let Some(asked) = read(&mut stream).await {
        log.lock().unwrap_or_else(PoisonError::into_inner).asked.push(asked.clone());
        let reply = script(&asked);
        if write(&mut stream, &reply, &log).await.is_err() || reply.is_last() {
            return;
        }
    }
}

async fn read(stream: &mut BufReader<TcpStream>) -> Option<Asked> {
    let mut line = String::new();
    stream.read_line(&mut line).await.ok().filter(|bytes| *bytes > 0)?;
    let path = line.split(' ').nth(1)?.to_owned();
    let mut headers = Vec::new();
    loop {
        let mut line = String::new();
        stream.read_line(&mut line).await.ok().filter(|bytes| *bytes > 0)?;
        match line.trim_end().split_once(':') {
            Some((name, value)) => headers.push((name.to_ascii_lowercase(), value.trim().to_owned())),
            None => break,
        }
    }
    let length =
        headers.iter().find(|(name, _)| name == "content-length").map_or(Some(0), |(_, value)| value.parse().ok())?;
    let mut body = vec![0; Some(length).filter(|length| *length <= LONGEST)?];
    stream.read_exact(&mut body).await.ok()?;
    Some(Asked { path, headers, body })
}

async fn write(stream: &mut BufReader<TcpStream>, reply: &Reply, log: &Mutex<Log>) -> std::io::Result<()> {
    let mut left = match reply.end {
        End::Cut(bytes) | End::Hang(bytes) => bytes,
        End::Whole | End::Endless => usize::MAX,
    };
    for part in std::iter::once(reply.head()).chain(reply.parts()) {
        let part = part.get(..part.len().min(left)).unwrap_or_default();
        left -= part.len();
        stream.write_all(part).await?;
        stream.flush().await?;
        // What reads it is to see parts of their own.
        tokio::task::yield_now().await;
    }
    match reply.end {
        End::Whole | End::Cut(_) => Ok(()),
        End::Hang(_) => {
            // Until whoever asked gives up.
            while stream.read(&mut [0; 1_024]).await? > 0 {}
            Ok(())
        }
        End::Endless => loop {
            for part in reply.parts() {
                stream.write_all(&part).await?;
                log.lock().unwrap_or_else(PoisonError::into_inner).written += part.len();
            }
        },
    }
}
