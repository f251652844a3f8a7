//! The shared client: one connection that heals itself, or those to a cluster.

mod server;
mod wire;

use std::fmt;
use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use memory_core::error::{Error, Result};
use memory_core::id::MessageId;
use memory_core::recent::Recent;
use memory_core::scope::Scope;
use memory_core::store::{Durability, ErasureLevel, Health};
use memory_core::time::{SystemClock, Timestamp};
use redis::aio::ConnectionManager;
use redis::{Cmd, FromRedisValue, RedisResult, Value, cmd};
use uuid::Uuid;

use crate::config::RedisConfig;
use crate::error::{BACKEND, classify, contended, damaged, is_cut, is_unknown_script, lost};
use crate::keys::Keys;
use crate::reply::Reply;
use crate::script::{LIST, Script};

use server::Server;
pub(crate) use wire::Master;
use wire::Wire;

/// How often a write is begun anew because others changed the owner's lists meanwhile.
const MOST_TRIES: usize = 64;

/// A connection to a server or cluster. Cheap to clone; clones share the connection, which heals itself.
#[derive(Clone)]
pub struct Redis {
    shared: Arc<Shared>,
}

struct Shared {
    config: RedisConfig,
    keys: Keys,
    wire: Wire,
    server: Recent<Arc<Server>>,
}

impl Redis {
    /// Connects, and reads from the server how durable its writes are.
    ///
    /// For `rediss://`, the ring provider of rustls is installed if the process has none. A password that goes to another machine by
    /// `redis://` is warned of in the log.
    ///
    /// # Errors
    /// `Invalid` for a wrong URL or prefix; `Backend` if the server cannot be reached or does not let us in.
    pub async fn connect(config: RedisConfig) -> Result<Self> {
        config.check()?;
        if config.tells_password() {
            tracing::warn!("the password of the Redis server goes over the network in clear; rediss:// encrypts it");
        }
        let wire = Wire::connect(&config).await?;
        Self::over(wire, config).await
    }

    /// Uses a connection that the application has already. `manager` says where and how to connect; of `config` only the
    /// rest is used. Its response timeout bounds every call, unless that of `manager` is shorter.
    ///
    /// # Errors
    /// `Invalid` for a wrong prefix; `Backend` if the server does not answer.
    pub async fn from_manager(manager: ConnectionManager, config: RedisConfig) -> Result<Self> {
        config.check()?;
        Self::over(Wire::of_manager(manager), config).await
    }

    async fn over(wire: Wire, config: RedisConfig) -> Result<Self> {
        let server = Arc::new(Server::ask(&wire, config.response_timeout).await?);
        let clock = config.clock.clone().unwrap_or_else(|| Arc::new(SystemClock));
        let (keys, server) = (Keys::new(&config.prefix), Recent::new(server, clock));
        Ok(Self { shared: Arc::new(Shared { config, keys, wire, server }) })
    }

    /// Returns how durable an acknowledged write is, as the server's settings said when they were read last.
    pub fn durability(&self) -> Durability {
        self.shared.server.last().durability()
    }

    /// Lets the server rewrite its append-only file, so that no byte of anything deleted or erased remains in it.
    ///
    /// Takes as long as the server needs for all its data. `Purged` if the append-only file is all that the server
    /// writes; `Logical` if it writes snapshots too or no file at all, and for a cluster, where nothing is rewritten.
    ///
    /// # Errors
    /// `Backend` if the server refuses, or the file could not be written.
    pub async fn purge(&self) -> Result<ErasureLevel> {
        server::purge(&self.shared.wire, self.patience()).await
    }

    /// Reads the server's settings again, and returns its health.
    pub(crate) async fn ping(&self) -> Result<Health> {
        let server = self.shared.server.renew(|| self.ask()).await?;
        Ok(Health::new(&*server.name, &*server.version, server.durability()))
    }

    async fn ask(&self) -> Result<Arc<Server>> {
        Server::ask(&self.shared.wire, self.patience()).await.map(Arc::new)
    }

    pub(crate) async fn close(&self) -> Result<()> {
        self.shared.wire.close().await;
        Ok(())
    }

    /// Returns how durable a write of conversations is, by settings that the server told within the last minute.
    ///
    /// # Errors
    /// `Unsupported` if it evicts conversations by now; `Backend` if it does not tell.
    pub(crate) async fn truth(&self) -> Result<Durability> {
        let server = self.shared.server.get(|| self.ask()).await?;
        self.check(&server)?;
        Ok(server.durability())
    }

    /// Returns `Ok` if conversations may be kept here.
    pub(crate) fn check_truth(&self) -> Result<()> {
        self.check(&self.shared.server.last())
    }

    fn check(&self, server: &Server) -> Result<()> {
        let policy = server.policy.as_deref().unwrap_or_default();
        if policy.starts_with("allkeys") && !self.shared.config.allow_lossy {
            let what = format!("keep conversations under maxmemory-policy {policy}, which evicts them");
            return Err(Error::Unsupported { backend: BACKEND, what });
        }
        Ok(())
    }

    pub(crate) fn keys(&self) -> &Keys {
        &self.shared.keys
    }

    /// Returns the moment by the clock that was given; none where the server's counts.
    pub(crate) fn now(&self) -> Option<Timestamp> {
        self.shared.config.clock.as_ref().map(|clock| clock.now())
    }

    fn patience(&self) -> Duration {
        self.shared.config.response_timeout
    }

    /// Sends one command.
    pub(crate) async fn command(&self, command: &Cmd, doing: &'static str) -> Result<Value> {
        self.send(command, self.patience()).await.map_err(|source| classify(source, doing))
    }

    /// Returns the nodes that take writes.
    pub(crate) async fn masters(&self, doing: &'static str) -> Result<Vec<Master>> {
        self.shared.wire.masters(self.patience()).await.map_err(|source| classify(source, doing))
    }

    /// Sends one command to one node.
    pub(crate) async fn command_to(&self, master: Master, command: &Cmd, doing: &'static str) -> Result<Value> {
        let answer = self.shared.wire.send_to(master, command, self.patience()).await;
        answer.map_err(|source| classify(source, doing))
    }

    /// Sends one command. Where the connection breaks, another server may answer the next one, with other settings.
    async fn send(&self, command: &Cmd, patience: Duration) -> RedisResult<Value> {
        let answer = self.shared.wire.send(command, patience).await;
        if answer.as_ref().is_err_and(is_cut) {
            self.shared.server.doubt();
        }
        answer
    }

    /// Runs a script.
    pub(crate) async fn run(&self, call: &Call, doing: &'static str) -> Result<Reply> {
        let patience = self.patience().saturating_add(call.weight());
        let answer = match self.send(&call.by_name(), patience).await {
            // It was restarted, or is another one now. With its text it learns the script.
            Err(error) if is_unknown_script(&error) => {
                self.shared.server.doubt();
                self.send(&call.by_text(), patience).await
            }
            answer => answer,
        };
        refusal(Reply::open(answer.map_err(|source| classify(source, doing))?)?)
    }

    /// Runs a script that writes an owner's truth; its first two arguments are set here.
    ///
    /// The lists of owners lie in another slot than the owner. They are written first, so that they name an owner too many
    /// rather than one too few; and the script writes only if they are.
    pub(crate) async fn change(&self, scope: &Scope, mut call: Call, doing: &'static str) -> Result<Reply> {
        for _ in 0..MOST_TRIES {
            let mut reply = self.run(&call, doing).await?;
            if reply.is_done() {
                return Ok(reply);
            }
            let round = reply.text()?;
            let indexes = self.list_owner(scope, call.makes_room, doing).await?;
            call.prepare(indexes, round);
        }
        Err(contended(doing))
    }

    /// Puts an owner on both lists, if a call `makes_room` also while memory is full, then returns the indexes that a new owner
    /// begins with.
    async fn list_owner(&self, scope: &Scope, makes_room: bool, doing: &'static str) -> Result<String> {
        let keys = self.keys();
        for (list, score) in [(keys.owners(), "0"), (keys.noted(), "-")] {
            let call = Call::new(&LIST, list).arg(scope.key()).arg(score);
            self.run(&call.arg(if makes_room { "1" } else { "" }), doing).await?;
        }
        let indexes = self.command(cmd("HGETALL").arg(keys.indexes()), doing).await?;
        let mut entries: Vec<String> = pairs::<String>(indexes)?
            .into_iter()
            .map(|(name, state)| format!("{name}={}", state.split(' ').next().unwrap_or_default()))
            .collect();
        entries.sort_unstable();
        Ok(entries.join(" "))
    }
}

/// Returns the pairs of a hash, or of members and scores, whichever protocol they came by.
pub(crate) fn pairs<K: FromRedisValue>(value: Value) -> Result<Vec<(K, String)>> {
    redis::from_redis_value(value).map_err(|_| damaged("a list of pairs is none"))
}

/// Runs `work` in a task of its own: whoever waits for it may go away, and it is done all the same.
pub(crate) async fn detached<T: Send + 'static>(
    doing: &'static str,
    work: impl Future<Output = Result<T>> + Send + 'static,
) -> Result<T> {
    tokio::spawn(work).await.map_err(|_| lost(doing))?
}

/// Turns what a script refuses into its error; what it did, or wants to be prepared, is passed on.
fn refusal(mut reply: Reply) -> Result<Reply> {
    match reply.text()?.as_str() {
        "ok" => Ok(reply.done()),
        "prepare" => Ok(reply),
        "fenced" => Err(Error::Fenced),
        "conflict" => Err(Error::Conflict),
        "taken" => {
            let id = reply.bytes()?.and_then(|bytes| Uuid::from_slice(&bytes).ok());
            let id = id.ok_or_else(|| damaged("an id has not 16 bytes"))?;
            Err(Error::IdConflict { id: MessageId(id).to_string() })
        }
        "invalid" => Err(Error::invalid("a summary stands at the last number it covers")),
        _ => Err(damaged("a script answered with an unknown word")),
    }
}

/// A call of a script: all its keys begin with one key.
#[derive(Debug)]
pub(crate) struct Call {
    script: &'static Script,
    key: String,
    arguments: Vec<Vec<u8>>,
    /// Whether it is carried out while the server's memory is full.
    makes_room: bool,
}

impl Call {
    pub(crate) fn new(script: &'static Script, key: String) -> Self {
        Self { script, key, arguments: Vec::new(), makes_room: false }
    }

    /// Returns a call of a script that writes an owner's truth, for [`Redis::change`].
    pub(crate) fn change(script: &'static Script, key: String) -> Self {
        Self::new(script, key).arg("-").arg("-")
    }

    /// Returns such a call of a script that forgets or makes room, which a server carries out while its memory is full.
    pub(crate) fn release(script: &'static Script, key: String) -> Self {
        Self { makes_room: true, ..Self::change(script, key) }
    }

    /// Adds an argument.
    pub(crate) fn arg(mut self, argument: impl Into<Vec<u8>>) -> Self {
        self.arguments.push(argument.into());
        self
    }

    /// Adds a number.
    pub(crate) fn number(self, number: impl fmt::Display) -> Self {
        self.arg(number.to_string())
    }

    /// Adds arguments.
    pub(crate) fn args(mut self, arguments: impl IntoIterator<Item = Vec<u8>>) -> Self {
        self.arguments.extend(arguments);
        self
    }

    fn prepare(&mut self, indexes: String, round: String) {
        for (argument, value) in self.arguments.iter_mut().zip([indexes, round]) {
            *argument = value.into_bytes();
        }
    }

    /// Returns how much longer than a small call this one may take: a second for 8 MiB or 10,000 arguments.
    fn weight(&self) -> Duration {
        let bytes = self.arguments.iter().map(Vec::len).sum::<usize>() as u64;
        Duration::from_micros(bytes / 8 + 100 * self.arguments.len() as u64)
    }

    fn by_name(&self) -> Cmd {
        self.command("EVALSHA", self.script.hash())
    }

    fn by_text(&self) -> Cmd {
        self.command("EVAL", self.script.source)
    }

    fn command(&self, name: &str, script: &str) -> Cmd {
        let bytes = self.arguments.iter().map(Vec::len).sum::<usize>() + script.len() + self.key.len() + 16;
        let mut command = Cmd::with_capacity(self.arguments.len() + 4, bytes);
        command.arg(name).arg(script).arg(1).arg(&self.key);
        for argument in &self.arguments {
            command.arg(argument.as_slice());
        }
        command
    }
}

impl fmt::Debug for Redis {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Redis").field("config", &self.shared.config).finish_non_exhaustive()
    }
}
