//! A server in a process of its own, and requests to it.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::process::{Child, ChildStdout, Command, Stdio};
use std::thread::JoinHandle;

/// Sends a request, and returns its status and its body.
pub(crate) fn send(address: &str, token: &str, method: &str, path: &str, body: &str) -> std::io::Result<(u16, String)> {
    let mut stream = TcpStream::connect(address)?;
    let length = body.len();
    write!(
        stream,
        "{method} {path} HTTP/1.1\r\nhost: {address}\r\nauthorization: Bearer {token}\r\ncontent-type: application/json\r\n\
         content-length: {length}\r\nconnection: close\r\n\r\n{body}"
    )?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer)?;
    // A server that is killed may have sent a part.
    let cut = || std::io::Error::from(std::io::ErrorKind::UnexpectedEof);
    let (head, body) = answer.split_once("\r\n\r\n").ok_or_else(cut)?;
    let status = head.split(' ').nth(1).and_then(|status| status.parse().ok()).ok_or_else(cut)?;
    let length =
        head.to_lowercase().lines().find_map(|line| line.strip_prefix("content-length: ")?.parse::<usize>().ok());
    if length.is_some_and(|length| body.len() < length) { Err(cut()) } else { Ok((status, body.to_owned())) }
}

/// A process that does not outlive a test that fails.
pub(crate) struct Process(pub(crate) Child);

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// A server that runs.
pub(crate) struct Running {
    pub(crate) process: Process,
    pub(crate) address: String,
    /// The token of its link, once that was read.
    pub(crate) token: Option<String>,
    stdout: BufReader<ChildStdout>,
    log: JoinHandle<String>,
}

impl Running {
    pub(crate) fn start(mut command: Command, address: &str) -> Self {
        command.args(["serve", "--listen", address]);
        Self::of(command)
    }

    /// Runs a whole command, which serves.
    pub(crate) fn of(mut command: Command) -> Self {
        let mut child = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let (mut stdout, mut stderr) = (BufReader::new(child.stdout.take().unwrap()), child.stderr.take().unwrap());
        let log = std::thread::spawn(move || {
            let mut log = String::new();
            stderr.read_to_string(&mut log).unwrap();
            log
        });
        let mut line = String::new();
        stdout.read_line(&mut line).unwrap();
        let address =
            line.split("http://").nth(1).and_then(|rest| rest.split('/').next()).unwrap_or_default().to_owned();
        Self { process: Process(child), address, token: None, stdout, log }
    }

    /// Reads the link that it prints for its owner.
    pub(crate) fn with_link(mut self) -> Self {
        let mut line = String::new();
        self.stdout.read_line(&mut line).unwrap();
        self.token = line.trim().split("#token=").nth(1).map(str::to_owned);
        self
    }

    pub(crate) fn get(&self, path: &str, token: &str) -> (u16, String) {
        send(&self.address, token, "GET", path, "").unwrap()
    }

    /// Kills it: nothing of it runs any more when this returns.
    pub(crate) fn kill(self) {
        drop(self.process);
        self.log.join().unwrap();
    }

    /// Ends it as a service manager does, and returns its exit code, and what it printed and logged.
    pub(crate) fn stop(self) -> (Option<i32>, String) {
        self.signal("-TERM");
        self.ended()
    }

    /// Sends it a signal, such as `-INT`.
    pub(crate) fn signal(&self, signal: &str) {
        let id = self.process.0.id().to_string();
        assert!(Command::new("kill").args([signal, &id]).status().unwrap().success());
    }

    /// Waits for its end, and returns its exit code, and what it printed and logged.
    pub(crate) fn ended(mut self) -> (Option<i32>, String) {
        let code = self.process.0.wait().unwrap().code();
        let mut printed = String::new();
        self.stdout.read_to_string(&mut printed).unwrap();
        (code, printed + &self.log.join().unwrap())
    }
}
