//! Scripts of which a server carried out the beginning alone, as its file leaves them: behind what was there, and before all that
//! was acknowledged since.

use futures_util::StreamExt as _;
use memory_redis::redis::{self, Cmd, RedisResult, Value};
use memory_testkit::{Failure, Scene, check};

use super::support::{connection, tell};

/// The commands of scripts that change something.
const WRITES: [&str; 13] = [
    "DEL",
    "HDEL",
    "HINCRBY",
    "HSET",
    "HSETNX",
    "LREM",
    "RPUSH",
    "SADD",
    "SREM",
    "UNLINK",
    "ZADD",
    "ZREM",
    "ZREMRANGEBYSCORE",
];

/// A command, by its words.
type Command = Vec<Vec<u8>>;

/// A script, and what a server did before and since.
pub(crate) struct Half {
    url: String,
    base: Vec<Command>,
    begun: Vec<Command>,
    /// Script by script.
    since: Vec<Vec<Command>>,
}

impl Half {
    /// Records what the server does `before`, the first script with which `begun` writes, and what is acknowledged `since`: by a
    /// server that does not know of the script, for its first start has dropped it.
    pub(crate) async fn record(
        url: &str,
        before: impl Future<Output = Scene>,
        begun: impl Future<Output = Scene>,
        since: impl Future<Output = Scene>,
    ) -> Result<Self, Failure> {
        Self::record_behind(url, 0, before, begun, since).await
    }

    /// Records as [`Self::record`] does, of the script with which `begun` writes behind so many others that were `answered`.
    pub(crate) async fn record_behind(
        url: &str,
        answered: usize,
        before: impl Future<Output = Scene>,
        begun: impl Future<Output = Scene>,
        since: impl Future<Output = Scene>,
    ) -> Result<Self, Failure> {
        // No file is read here, and to write one takes long.
        for setting in ["CONFIG SET appendonly no", "CONFIG SET save \"\"", "FLUSHALL"] {
            tell(url, setting).await?;
        }
        let mut base = written(url, before).await?.concat();
        let scripts = written(url, begun).await?;
        let mut scripts = effective(url, &base, scripts).await?.into_iter();
        base.extend(scripts.by_ref().take(answered).flatten());
        let begun = scripts.next().unwrap_or_default();
        check!(begun.len() > 1, "the script writes {} times", begun.len());
        reset(url, &base).await?;
        let since = written(url, since).await?;
        let since = effective(url, &base, since).await?;
        Ok(Self { url: url.to_owned(), base, begun, since })
    }

    /// Leaves the last script since out: whoever was to send it went away before.
    pub(crate) fn without_last(mut self) -> Self {
        self.since.pop();
        self
    }

    /// Returns with how many commands the script writes.
    pub(crate) fn commands(&self) -> usize {
        self.begun.len()
    }

    /// Leaves the server as its second start does, if its file kept so many commands of the script.
    pub(crate) async fn leave(&self, kept: usize) -> Scene {
        reset(&self.url, &self.base).await?;
        carry_out(&self.url, self.begun.get(..kept).unwrap_or_default()).await?;
        carry_out(&self.url, &self.since.concat()).await
    }

    /// Says at which command a check failed.
    pub(crate) fn told(&self, kept: usize, checked: Scene) -> Scene {
        let of = self.begun.len();
        checked.map_err(|failure| Failure::new(format!("of {of} commands {kept} were kept: {failure}")))
    }
}

/// Returns what the server writes for `work`: what it is sent, then script by script.
async fn written(url: &str, work: impl Future<Output = Scene>) -> Result<Vec<Vec<Command>>, Failure> {
    let client = heard(redis::Client::open(url))?;
    let mut monitor = heard(client.get_async_monitor().await)?;
    let mut sent = monitor.on_message::<String>();
    work.await?;
    tell(url, "ECHO end").await?;
    let mut scripts: Vec<Vec<Command>> = vec![Vec::new()];
    while let Some(line) = sent.next().await {
        let command = words(&line);
        let name = command.first().map(|name| String::from_utf8_lossy(name).into_owned()).unwrap_or_default();
        match name.as_str() {
            "ECHO" => return Ok(scripts),
            "EVAL" | "EVALSHA" => scripts.push(Vec::new()),
            name if WRITES.contains(&name) => {
                if let Some(script) = scripts.last_mut() {
                    script.push(command);
                }
            }
            _ => {}
        }
    }
    Err("the server does not tell any more what it does".into())
}

/// Returns the words of a command, of which each stands in quotes.
fn words(line: &str) -> Command {
    let (mut bytes, mut words) = (line.bytes(), Vec::new());
    while bytes.any(|byte| byte == b'"') {
        let mut word = Vec::new();
        loop {
            match bytes.next() {
                None | Some(b'"') => break,
                Some(b'\\') => word.push(escaped(&mut bytes)),
                Some(byte) => word.push(byte),
            }
        }
        words.push(word);
    }
    words
}

/// Returns the byte that is written behind a backslash.
fn escaped(bytes: &mut std::str::Bytes<'_>) -> u8 {
    match bytes.next() {
        Some(b'n') => b'\n',
        Some(b'r') => b'\r',
        Some(b't') => b'\t',
        Some(b'a') => 7,
        Some(b'b') => 8,
        Some(b'x') => {
            let mut digit = || bytes.next().and_then(|byte| char::from(byte).to_digit(16)).unwrap_or(0);
            let high = digit();
            (high * 16 + digit()) as u8
        }
        other => other.unwrap_or(b'\\'),
    }
}

/// Returns of each script the commands that change something behind `base`, if there are any: a server writes no others to its
/// file.
async fn effective(url: &str, base: &[Command], scripts: Vec<Vec<Command>>) -> Result<Vec<Vec<Command>>, Failure> {
    reset(url, base).await?;
    let mut found = Vec::new();
    for script in scripts {
        let mut changing = Vec::new();
        for command in script {
            let before = changes(url).await?;
            carry_out(url, std::slice::from_ref(&command)).await?;
            if changes(url).await? != before {
                changing.push(command);
            }
        }
        if !changing.is_empty() {
            found.push(changing);
        }
    }
    Ok(found)
}

/// Returns how many changes the server has counted.
async fn changes(url: &str) -> Result<String, Failure> {
    let Value::BulkString(told) = tell(url, "INFO persistence").await? else {
        return Err("the server tells no figures".into());
    };
    let told = String::from_utf8_lossy(&told).into_owned();
    let count = told.lines().find_map(|line| line.strip_prefix("rdb_changes_since_last_save:"));
    Ok(count.ok_or("the server counts no changes")?.to_owned())
}

async fn reset(url: &str, base: &[Command]) -> Scene {
    tell(url, "FLUSHALL").await?;
    carry_out(url, base).await
}

async fn carry_out(url: &str, commands: &[Command]) -> Scene {
    let mut connection = heard(connection(url).await)?;
    for command in commands {
        let mut line = Cmd::new();
        for word in command {
            line.arg(word.as_slice());
        }
        let _: Value = heard(line.query_async(&mut connection).await)?;
    }
    Ok(())
}

fn heard<T>(answer: RedisResult<T>) -> Result<T, Failure> {
    answer.map_err(|error| Failure::new(error.to_string()))
}
