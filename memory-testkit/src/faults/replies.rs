//! A server that answers Redis commands as a script says.

use std::collections::{BTreeMap, VecDeque};
use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::{Arc, Mutex, PoisonError};

use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::{JoinHandle, JoinSet};

/// Raw answers of the Redis protocol.
pub mod reply {
    /// A plain success.
    pub const OK: &str = "+OK\r\n";
    /// Nothing.
    pub const NIL: &str = "$-1\r\n";
    /// The memory is full.
    pub const OOM: &str = "-OOM command not allowed when used memory > 'maxmemory'.\r\n";
    /// The last snapshot failed, so writes are refused.
    pub const MISCONF: &str = "-MISCONF Errors writing to the AOF file: No space left on device\r\n";
    /// The server is a replica.
    pub const READONLY: &str = "-READONLY You can't write against a read only replica.\r\n";
    /// The server reads its data after a start.
    pub const LOADING: &str = "-LOADING Redis is loading the dataset in memory\r\n";
    /// A script runs too long.
    pub const BUSY: &str =
        "-BUSY Redis is busy running a script. You can only call SCRIPT KILL or SHUTDOWN NOSAVE.\r\n";
    /// The slot has another owner.
    pub const MOVED: &str = "-MOVED 3999 127.0.0.1:1\r\n";
    /// A password is needed.
    pub const NOAUTH: &str = "-NOAUTH Authentication required.\r\n";

    /// Returns an integer.
    pub fn integer(number: i64) -> String {
        format!(":{number}\r\n")
    }

    /// Returns a text.
    pub fn bulk(text: &str) -> String {
        format!("${}\r\n{text}\r\n", text.len())
    }

    /// Returns a list of raw answers.
    pub fn array<T: AsRef<str>>(answers: &[T]) -> String {
        let count = answers.len();
        let answers: String = answers.iter().map(AsRef::as_ref).collect();
        format!("*{count}\r\n{answers}")
    }
}

/// The answers that are left, and the commands that came.
#[derive(Debug, Default)]
struct Script {
    rules: BTreeMap<String, Rule>,
    commands: Vec<Vec<String>>,
}

/// The answers to one command.
#[derive(Debug, Default)]
struct Rule {
    once: VecDeque<String>,
    always: Option<String>,
}

/// A Redis server that knows only what it was told; it ends with this value.
///
/// What nobody scripted is answered so that a client can connect: `PING` with `PONG`, `INFO` with a version, all else with
/// `OK`.
#[derive(Debug)]
pub struct RedisStub {
    address: SocketAddr,
    script: Arc<Mutex<Script>>,
    task: JoinHandle<()>,
}

impl RedisStub {
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

    /// Returns its URL.
    pub fn url(&self) -> String {
        format!("redis://{}", self.address)
    }

    /// Answers the next call of `command`, such as `EVALSHA`, with the raw `answer`; calls add up in order.
    ///
    /// A command of two words is told by both, as `CONFIG GET`. An empty answer closes the connection.
    pub fn once(&self, command: &str, answer: impl Into<String>) {
        self.script().rule(command).once.push_back(answer.into());
    }

    /// Answers every call of `command` that no other line answers.
    pub fn always(&self, command: &str, answer: impl Into<String>) {
        self.script().rule(command).always = Some(answer.into());
    }

    /// Returns the commands that came, with their arguments, in order.
    pub fn commands(&self) -> Vec<Vec<String>> {
        self.script().commands.clone()
    }

    fn script(&self) -> std::sync::MutexGuard<'_, Script> {
        self.script.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for RedisStub {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl Script {
    fn rule(&mut self, command: &str) -> &mut Rule {
        let command = command.to_uppercase();
        self.rules.entry(command).or_default()
    }

    /// Takes note of a command and returns its answer.
    fn answer(&mut self, command: Vec<String>) -> String {
        let words: Vec<_> = command.iter().take(2).map(|word| word.to_uppercase()).collect();
        self.commands.push(command);
        let scripted = [words.join(" "), words.first().cloned().unwrap_or_default()]
            .iter()
            .find_map(|name| self.rules.get_mut(name)?.next());
        scripted.unwrap_or_else(|| match words.first().map(String::as_str) {
            Some("PING") => "+PONG\r\n".to_owned(),
            Some("INFO") => reply::bulk("redis_version:8.0.2\r\nredis_mode:standalone\r\nrole:master\r\n"),
            _ => reply::OK.to_owned(),
        })
    }
}

impl Rule {
    fn next(&mut self) -> Option<String> {
        self.once.pop_front().or_else(|| self.always.clone())
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
    while let Ok(command) = read_command(&mut client).await {
        let answer = script.lock().unwrap_or_else(PoisonError::into_inner).answer(command);
        if answer.is_empty() || client.write_all(answer.as_bytes()).await.is_err() {
            return;
        }
    }
}

/// Reads a command: `*2`, then `$5` and five bytes, and so on.
async fn read_command(client: &mut BufReader<TcpStream>) -> io::Result<Vec<String>> {
    let words = read_length(client, '*').await?;
    let mut command = Vec::new();
    for _ in 0..words {
        let mut word = vec![0; read_length(client, '$').await? + 2];
        client.read_exact(&mut word).await?;
        word.truncate(word.len() - 2);
        command.push(String::from_utf8_lossy(&word).into_owned());
    }
    Ok(command)
}

async fn read_length(client: &mut BufReader<TcpStream>, sign: char) -> io::Result<usize> {
    let mut line = String::new();
    client.read_line(&mut line).await?;
    let length = line.trim_end().strip_prefix(sign).and_then(|length| length.parse().ok());
    length.ok_or_else(|| io::Error::new(io::ErrorKind::InvalidData, "no command of the protocol"))
}
