//! A folder of its own for each test, and the program run in it.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::rc::Rc;

use serde_json::{Value, json};
use sqlx::sqlite::SqliteConnectOptions;
use sqlx::{ConnectOptions as _, Connection as _};
use tempfile::TempDir;

/// A folder with a database, and an owner.
pub(crate) struct Bed {
    folder: Rc<TempDir>,
    subject: String,
}

/// What the program answered.
pub(crate) struct Answer {
    pub(crate) code: i32,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Bed {
    pub(crate) fn new() -> Self {
        Self { folder: Rc::new(TempDir::new().unwrap()), subject: "ada".to_owned() }
    }

    /// Returns the same database for another owner.
    pub(crate) fn of(&self, subject: &str) -> Self {
        Self { folder: Rc::clone(&self.folder), subject: subject.to_owned() }
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub(crate) fn database(&self) -> PathBuf {
        self.path("memory.sqlite")
    }

    /// Writes a file and returns its path.
    pub(crate) fn file(&self, name: &str, content: impl AsRef<[u8]>) -> String {
        let path = self.path(name);
        std::fs::write(&path, content).unwrap();
        path.to_str().unwrap().to_owned()
    }

    /// The program with a data folder of its own and nothing else in its environment, the same in every build: words alone.
    pub(crate) fn bare(&self) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_memory"));
        command.env_clear().env("XDG_DATA_HOME", self.folder.path()).env("HOME", self.folder.path());
        command.env("APPDATA", self.folder.path()).env("RUST_BACKTRACE", "1").current_dir(self.folder.path());
        command.env("MEMORY_EMBEDDER", "none");
        command
    }

    /// The program with database and owner.
    pub(crate) fn command(&self) -> Command {
        let mut command = self.bare();
        command.arg("--db").arg(self.database()).args(["--tenant", "acme", "--subject", &self.subject]);
        command
    }

    pub(crate) fn run(&self, args: &[&str]) -> Answer {
        answer(self.command().args(args), b"")
    }

    pub(crate) fn run_with(&self, args: &[&str], stdin: &[u8]) -> Answer {
        answer(self.command().args(args), stdin)
    }

    /// Runs a command that has to succeed, and returns its JSON.
    pub(crate) fn json(&self, args: &[&str]) -> Value {
        let answer = answer(self.command().arg("--json").args(args), b"");
        assert_eq!(answer.code, 0, "{args:?}: {}", answer.stderr);
        answer.json()
    }

    /// Asserts that the database is one file, with no log beside it.
    pub(crate) fn is_one_file(&self) {
        for end in ["-wal", "-shm", "-journal"] {
            assert!(!self.path(&format!("memory.sqlite{end}")).exists(), "{end} stays");
        }
    }

    /// Imports text of ours, which has to be taken whole.
    pub(crate) fn import(&self, text: &str) -> Value {
        let answer = answer(self.command().args(["--json", "import", "-", "--trust-roles"]), text.as_bytes());
        assert_eq!(answer.code, 0, "{}", answer.stderr);
        answer.json()
    }
}

impl Answer {
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.stdout).unwrap_or_else(|error| panic!("{error}: {}{}", self.stdout, self.stderr))
    }

    /// Returns what the program said on stderr, without the line that explains why it takes long: a machine may be slow.
    pub(crate) fn complaints(&self) -> String {
        let end = " notes are still to be indexed; stopping loses nothing, the next command goes on\n";
        let is_complaint = |line: &&str| {
            let number = line.strip_prefix("note: ").and_then(|line| line.strip_suffix(end));
            number.is_none_or(|number| number.parse::<u64>().is_err())
        };
        self.stderr.split_inclusive('\n').filter(is_complaint).collect()
    }

    /// Asserts that the program failed with `code`, nothing on stdout and one line on stderr, and returns the line.
    pub(crate) fn refused(&self, code: i32) -> &str {
        assert_eq!(self.code, code, "{}{}", self.stdout, self.stderr);
        assert_eq!(self.stdout, "");
        let line = self.stderr.strip_suffix('\n').unwrap();
        assert!(line.starts_with("error: ") && !line.contains('\n'), "{}", self.stderr);
        line.trim_start_matches("error: ")
    }
}

/// Runs a command to its end.
pub(crate) fn answer(command: &mut Command, stdin: &[u8]) -> Answer {
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let mut input = child.stdin.take().unwrap();
    let bytes = stdin.to_vec();
    // A program that fails early does not read all of it.
    let writer = std::thread::spawn(move || drop(input.write_all(&bytes)));
    let Output { status, stdout, stderr } = child.wait_with_output().unwrap();
    writer.join().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    Answer { code: status.code().unwrap_or(-1), stdout: text(stdout), stderr: text(stderr) }
}

/// Runs a command whose output nobody reads, and returns its code and what it said on stderr.
#[cfg(unix)]
pub(crate) fn unread(command: &mut Command, stdin: &[u8]) -> (Option<i32>, String) {
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    let mut child = command.stdin(Stdio::piped()).stdout(writer).stderr(Stdio::piped()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(stdin).unwrap();
    let Output { status, stderr, .. } = child.wait_with_output().unwrap();
    (status.code(), String::from_utf8(stderr).unwrap())
}

/// Sends a signal, such as `-INT`, to a process.
#[cfg(unix)]
pub(crate) fn signal(signal: &str, process: &std::process::Child) {
    assert!(Command::new("kill").args([signal, &process.id().to_string()]).status().unwrap().success());
}

/// Sends a signal to a process each second until it has ended, and returns its exit code: two that reach it at once count as one.
#[cfg(all(unix, any(feature = "server", all(feature = "elastic", feature = "redis"))))]
pub(crate) fn signal_until_the_end(name: &str, process: &mut std::process::Child) -> Option<i32> {
    loop {
        signal(name, process);
        for _ in 0..50 {
            if let Some(status) = process.try_wait().unwrap() {
                return status.code();
            }
            std::thread::sleep(std::time::Duration::from_millis(20));
        }
    }
}

/// Runs a statement over a file of SQLite that no program has open, and returns how many rows it changed.
pub(crate) fn change(file: &Path, statement: &'static str) -> u64 {
    tokio::runtime::Runtime::new().unwrap().block_on(async {
        let mut file = SqliteConnectOptions::new().filename(file).connect().await.unwrap();
        let changed = sqlx::query(statement).execute(&mut file).await.unwrap().rows_affected();
        file.close().await.unwrap();
        changed
    })
}

/// A line of chat JSON with a time.
pub(crate) fn said(session: &str, minute: usize, role: &str, content: &str) -> String {
    let at = format!("2025-03-{:02}T{:02}:{:02}:00Z", 1 + minute / 1_440, minute / 60 % 24, minute % 60);
    format!("{}\n", json!({"session": session, "at": at, "role": role, "content": content}))
}

/// Two short conversations with a call and its result.
pub(crate) fn conversations() -> String {
    let call = json!({
        "session": "garden", "at": "2025-03-02T10:02:00Z", "role": "assistant", "content": null,
        "tool_calls": [{"id": "c1", "type": "function", "function": {"name": "weather", "arguments": "{\"day\":1}"}}]
    });
    let result = json!({
        "session": "garden", "at": "2025-03-02T10:03:00Z", "role": "tool", "tool_call_id": "c1", "content": "rain"
    });
    [
        said("garden", 1_440 + 600, "system", "You help with the garden."),
        said("garden", 1_440 + 601, "user", "Shall I water the tomatoes tomorrow?"),
        format!("{call}\n{result}\n"),
        said("garden", 1_440 + 604, "assistant", "No need, it will rain on the tomatoes."),
        said("chat_history", 10, "user", "My name is Charlie and my parcel E-4471-B never arrived."),
        said("chat_history", 11, "assistant", "I am sorry, Charlie. I will look for the parcel."),
    ]
    .concat()
}
