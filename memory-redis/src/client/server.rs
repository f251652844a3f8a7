//! What the server says of itself: name, version, how durable its writes are, and whether it evicts.

use std::time::Duration;

use memory_core::error::{Cause, Error, Result, Transience};
use memory_core::store::{Durability, ErasureLevel};
use redis::{Value, cmd};

use super::wire::Wire;
use crate::error::{BACKEND, TRANSIENT, classify};

const ASK: &str = "read the server's settings";
const PURGE: &str = "rewrite the append-only file";

/// How often the server is asked whether the file is rewritten.
const PAUSE: Duration = Duration::from_millis(20);

/// A server, or the weakest of a cluster's.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Server {
    pub(super) name: String,
    pub(super) version: String,
    /// What the server does when its memory is full; none if it does not tell.
    pub(super) policy: Option<String>,
    is_synced: bool,
}

impl Server {
    /// Asks the server; where it does not tell its settings, nothing is taken as durable.
    pub(super) async fn ask(wire: &Wire, patience: Duration) -> Result<Self> {
        let silence = |_| Err(unanswered(wire.stands()));
        tokio::time::timeout(patience, Self::ask_in_turn(wire, patience)).await.unwrap_or_else(silence)
    }

    async fn ask_in_turn(wire: &Wire, patience: Duration) -> Result<Self> {
        let info = texts(wire.ask_all(&cmd("INFO"), patience).await.map_err(|source| classify(source, ASK))?);
        let mut settings = Vec::new();
        for name in ["appendonly", "appendfsync", "maxmemory-policy", "no-appendfsync-on-rewrite"] {
            // Services that rent servers out often forbid CONFIG.
            let answer = wire.ask_all(cmd("CONFIG").arg("GET").arg(name), patience).await;
            settings.push(answer.map(|answer| settings_of(&texts(answer), name)).unwrap_or_default());
        }
        Ok(Self::of(&info, &settings))
    }

    fn of(info: &[String], settings: &[Vec<String>]) -> Self {
        let line = |name: &str| info.iter().flat_map(|text| text.lines()).find_map(|line| value_of(line, name));
        let all = |place: usize, wanted: &str| {
            settings.get(place).is_some_and(|values| !values.is_empty() && values.iter().all(|value| value == wanted))
        };
        let told = settings.get(2).map(Vec::as_slice).unwrap_or_default();
        // Of several servers the one that evicts everything counts.
        let policy = told.iter().find(|policy| policy.starts_with("allkeys")).or(told.first()).cloned();
        let (name, version) = match (line("server_name"), line("valkey_version")) {
            (Some(name), Some(version)) => (name.to_owned(), version),
            _ => ("Redis".to_owned(), line("redis_version").unwrap_or("unknown")),
        };
        Self {
            name,
            version: version.to_owned(),
            policy: policy.or_else(|| line("maxmemory_policy").map(str::to_owned)),
            // With the last, the server syncs nothing while it writes a snapshot or rewrites the file, not even with `always`.
            is_synced: all(0, "yes") && all(1, "always") && all(3, "no"),
        }
    }

    /// Returns whether an acknowledged write of truth survives a loss of power.
    pub(super) fn durability(&self) -> Durability {
        let keeps = |policy: &String| policy == "noeviction" || policy.starts_with("volatile-");
        let is_durable = self.is_synced && self.policy.as_ref().is_some_and(keeps);
        if is_durable { Durability::Committed } else { Durability::Volatile }
    }
}

/// Returns the value in a line of INFO.
fn value_of<'a>(line: &'a str, name: &str) -> Option<&'a str> {
    line.strip_prefix(name)?.strip_prefix(':').map(str::trim)
}

/// Returns the values that servers gave for a setting.
fn settings_of(texts: &[String], name: &str) -> Vec<String> {
    let pairs = texts.iter().zip(texts.iter().skip(1));
    pairs.filter(|(key, _)| *key == name).map(|(_, value)| value.clone()).collect()
}

/// Returns all texts in an answer, in order, whatever holds them.
fn texts(value: Value) -> Vec<String> {
    match value {
        Value::BulkString(bytes) => vec![String::from_utf8_lossy(&bytes).into_owned()],
        Value::SimpleString(text) | Value::VerbatimString { text, .. } => vec![text],
        Value::Array(values) | Value::Set(values) => values.into_iter().flat_map(texts).collect(),
        Value::Map(pairs) => pairs.into_iter().flat_map(|(key, value)| [texts(key), texts(value)].concat()).collect(),
        _ => Vec::new(),
    }
}

/// Lets the server rewrite its append-only file, and waits until it has.
pub(super) async fn purge(wire: &Wire, patience: Duration) -> Result<ErasureLevel> {
    if wire.is_cluster() || !has_one_file(wire, patience).await? {
        return Ok(ErasureLevel::Logical);
    }
    // A rewrite that is under way may have begun before the deletion: its end is waited for first.
    settled(wire, patience).await?;
    wire.send(&cmd("BGREWRITEAOF"), patience).await.map_err(|source| classify(source, PURGE))?;
    settled(wire, patience).await?;
    Ok(ErasureLevel::Purged)
}

/// Returns whether the append-only file is all that the server writes.
async fn has_one_file(wire: &Wire, patience: Duration) -> Result<bool> {
    let mut told = Vec::new();
    for name in ["appendonly", "save"] {
        let Ok(answer) = wire.ask_all(cmd("CONFIG").arg("GET").arg(name), patience).await else { return Ok(false) };
        told.push(settings_of(&texts(answer), name));
    }
    Ok(told == [["yes"], [""]])
}

/// Waits until no rewrite is under way or to come.
async fn settled(wire: &Wire, patience: Duration) -> Result<()> {
    loop {
        let info =
            wire.send(cmd("INFO").arg("persistence"), patience).await.map_err(|source| classify(source, PURGE))?;
        let info = texts(info).concat();
        let is = |name: &str, value: &str| info.lines().any(|line| value_of(line, name) == Some(value));
        if is("aof_rewrite_in_progress", "0") && is("aof_rewrite_scheduled", "0") {
            return if is("aof_last_bgrewrite_status", "ok") { Ok(()) } else { Err(unwritten()) };
        }
        tokio::time::sleep(PAUSE).await;
    }
}

fn unwritten() -> Error {
    passing(PURGE, "the server could not write the file", TRANSIENT)
}

/// Returns the error of a server that did not tell in time. It is late only if there was a connection to ask it by.
fn unanswered(stands: bool) -> Error {
    let transience = if stands { Transience::Late } else { TRANSIENT };
    passing(ASK, "the server did not answer in time", transience)
}

fn passing(doing: &'static str, why: &'static str, transience: Transience) -> Error {
    Error::Backend { backend: BACKEND, doing, transience, source: Cause::new(why) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn server(settings: [&[&str]; 4]) -> Server {
        let info = ["# Server\r\nredis_version:7.0.15\r\n# Memory\r\nmaxmemory_policy:volatile-lru\r\n".to_owned()];
        let settings = settings.map(|values| values.iter().map(|value| (*value).to_owned()).collect());
        Server::of(&info, &settings)
    }

    #[test]
    fn durable_is_only_what_is_synced_with_each_write_and_never_evicted() {
        let table: [([&[&str]; 4], bool); 12] = [
            ([&["yes"], &["always"], &["noeviction"], &["no"]], true),
            ([&["yes"], &["always"], &["volatile-ttl"], &["no"]], true),
            ([&["yes"], &["always"], &[], &["no"]], true), // told by INFO
            ([&["yes"], &["always"], &["allkeys-lru"], &["no"]], false),
            ([&["yes"], &["everysec"], &["noeviction"], &["no"]], false),
            ([&["no"], &["always"], &["noeviction"], &["no"]], false),
            ([&["yes"], &["always"], &["noeviction"], &["yes"]], false),
            ([&["yes"], &["always"], &["noeviction"], &[]], false),
            ([&[], &[], &[], &[]], false), // CONFIG is forbidden
            ([&["yes", "no"], &["always", "always"], &["noeviction", "noeviction"], &["no", "no"]], false),
            ([&["yes", "yes"], &["always", "always"], &["noeviction", "allkeys-lfu"], &["no", "no"]], false),
            ([&["yes", "yes"], &["always", "always"], &["noeviction", "noeviction"], &["no", "yes"]], false),
        ];
        for (settings, promised) in table {
            assert_eq!(server(settings).durability() == Durability::Committed, promised, "{settings:?}");
        }
        assert_eq!(server([&[], &[], &["noeviction", "allkeys-lfu"], &[]]).policy.unwrap(), "allkeys-lfu");
        assert_eq!(server([&[], &[], &[], &[]]).policy.unwrap(), "volatile-lru");
    }

    #[test]
    fn names_the_server_as_it_names_itself() {
        let table = [
            ("redis_version:7.0.15\r\n", ("Redis", "7.0.15")),
            ("redis_version:7.2.4\r\nserver_name:valkey\r\nvalkey_version:8.1.1\r\n", ("valkey", "8.1.1")),
            ("", ("Redis", "unknown")),
        ];
        for (info, (name, version)) in table {
            let server = Server::of(&[info.to_owned()], &[]);
            assert_eq!((server.name.as_str(), server.version.as_str()), (name, version));
        }
    }
}
