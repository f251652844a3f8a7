//! A way to a server that keeps the server's sessions when clients go, as a pooler does, and that can go silent.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use memory_testkit::Failure;
use memory_testkit::services::Server;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};

use crate::support::ordinary;

/// What a client says when it goes.
const TERMINATE: &[u8] = b"X\0\0\0\x04";
/// What ends the server's answer.
const READY: &[u8] = b"Z\0\0\0\x05I";

#[derive(Clone)]
pub(crate) struct Front {
    /// The URL of the ordinary role by this way.
    pub(crate) url: String,
    server: String,
    is_silent: Arc<AtomicBool>,
    kept: Arc<Mutex<Vec<TcpStream>>>,
}

fn failed(error: &std::io::Error) -> Failure {
    Failure::new(error.to_string())
}

impl Front {
    pub(crate) async fn before(server: &Server) -> Result<Self, Failure> {
        let url = ordinary(server.url());
        let place = url.rsplit_once('@').and_then(|(_, place)| place.split('/').next()).ok_or("no address")?.to_owned();
        let listener = TcpListener::bind("127.0.0.1:0").await.map_err(|error| failed(&error))?;
        let address = listener.local_addr().map_err(|error| failed(&error))?.to_string();
        let url = url.replace(&place, &address);
        let front = Self { url, server: place, is_silent: Arc::default(), kept: Arc::default() };
        let leading = front.clone();
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let front = leading.clone();
                tokio::spawn(async move { front.lead(stream).await });
            }
        });
        Ok(front)
    }

    /// Lets no further answer through on a connection from the moment on that an index is built on it.
    pub(crate) fn silence(&self, is_silent: bool) {
        self.is_silent.store(is_silent, Ordering::SeqCst);
    }

    async fn lead(&self, mut client: TcpStream) -> std::io::Result<()> {
        let mut server = TcpStream::connect(&self.server).await?;
        let (mut asked, mut answered) = (vec![0; 65_536], vec![0; 65_536]);
        let mut is_mute = false;
        loop {
            tokio::select! {
                count = client.read(&mut asked) => {
                    let said = asked.get(..count.unwrap_or(0)).unwrap_or_default();
                    if said.is_empty() || said == TERMINATE {
                        self.kept.lock().unwrap_or_else(PoisonError::into_inner).push(server);
                        return Ok(());
                    }
                    let is_build = said.windows(12).any(|part| part == b"CREATE INDEX");
                    is_mute |= is_build && self.is_silent.load(Ordering::SeqCst);
                    server.write_all(said).await?;
                }
                count = server.read(&mut answered) => {
                    let said = answered.get(..count?).unwrap_or_default();
                    if is_mute && said.is_empty() {
                        // Nobody tells the client that the server has gone either.
                        return std::future::pending().await;
                    }
                    if said.is_empty() {
                        return Ok(());
                    }
                    if !is_mute {
                        client.write_all(said).await?;
                    }
                }
            }
        }
    }

    /// Asks each session that clients have left, and returns the answers.
    pub(crate) async fn ask(&self, sql: &str) -> Result<Vec<String>, Failure> {
        let kept = std::mem::take(&mut *self.kept.lock().unwrap_or_else(PoisonError::into_inner));
        let mut answers = Vec::new();
        for mut server in kept {
            answers.push(ask(&mut server, sql).await.map_err(|error| failed(&error))?);
        }
        Ok(answers)
    }
}

async fn ask(server: &mut TcpStream, sql: &str) -> std::io::Result<String> {
    let length = u32::try_from(sql.len() + 5).unwrap_or_default();
    server.write_all(&[b"Q", length.to_be_bytes().as_slice(), sql.as_bytes(), b"\0"].concat()).await?;
    let (mut answer, mut part) = (Vec::new(), vec![0; 65_536]);
    while !answer.ends_with(READY) {
        match server.read(&mut part).await? {
            0 => break,
            count => answer.extend(part.iter().take(count)),
        }
    }
    Ok(String::from_utf8_lossy(&answer).into_owned())
}
