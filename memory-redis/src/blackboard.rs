//! What agents share for a while.

mod entry;

use async_trait::async_trait;
use memory_core::error::{Error, Result};
use memory_core::scope::{Epoch, Scope};
use memory_core::store::blackboard::{
    Blackboard, BlackboardEntry, BlackboardStats, BoardHit, BoardQuery, Keep, Posted, direction_of,
};
use memory_core::store::{Erased, ErasureLevel, Health, Store};
use memory_core::time::Timestamp;
use memory_core::vector::Similarity;

use crate::client::{Call, Redis, detached};
use crate::error::{BACKEND, damaged};
use crate::keys::padded;
use crate::reply::Reply;
use crate::script::{self, Script};

use entry::Entry;

const PUT: &str = "put an entry on a board";
const GET: &str = "get an entry of a board";
const SEARCH: &str = "search a board";
const DELETE: &str = "delete an entry of a board";
const SWEEP: &str = "sweep a board";
const STATS: &str = "count the entries of a board";
const ERASE: &str = "erase a board";

/// The longest key, in bytes.
const MAX_KEY_BYTES: usize = 255;

/// Boards in Redis, one per owner.
#[derive(Clone, Debug)]
pub struct RedisBlackboard {
    redis: Redis,
    capacity: usize,
    keep: Keep,
}

impl RedisBlackboard {
    /// The usual capacity of a board.
    pub const DEFAULT_CAPACITY: usize = 100;

    /// Returns boards of up to `capacity` live entries. A search reads a whole board: keep them small.
    ///
    /// # Errors
    /// `Invalid` for boards of no entries.
    pub fn new(redis: &Redis, capacity: usize) -> Result<Self> {
        if capacity == 0 {
            return Err(Error::invalid("a board has room for at least one entry"));
        }
        Ok(Self { redis: redis.clone(), capacity, keep: Keep::default() })
    }

    /// Sets what keeps an entry on a full board. Default every use. All processes that share a board should say the same.
    ///
    /// ```
    /// use memory_core::store::blackboard::Keep;
    /// use memory_redis::{Redis, RedisBlackboard};
    ///
    /// // A queue of fifty: what was put first goes first, however often it is read.
    /// fn queue(redis: &Redis) -> memory_core::Result<RedisBlackboard> {
    ///     Ok(RedisBlackboard::new(redis, 50)?.with_keep(Keep::Put))
    /// }
    /// ```
    #[must_use]
    pub fn with_keep(mut self, keep: Keep) -> Self {
        self.keep = keep;
        self
    }

    /// Returns a call of a script; its first arguments are the present, the owner's epoch, and whether a use keeps an entry.
    fn call(&self, script: &'static Script, scope: &Scope, epoch: Epoch) -> Call {
        let now = self.redis.now().map(|now| now.0.to_string()).unwrap_or_default();
        let keep = if self.keep == Keep::Used { "1" } else { "" };
        Call::new(script, format!("{}:b", self.redis.keys().owner(scope))).arg(now).arg(padded(epoch)).arg(keep)
    }

    /// Runs a script that changes a board.
    async fn change(&self, call: Call, doing: &'static str) -> Result<Reply> {
        let redis = self.redis.clone();
        detached(doing, async move { redis.run(&call, doing).await }).await
    }

    /// Counts the use of entries that were found, the best last: it is the last to be evicted.
    async fn used(&self, scope: &Scope, epoch: Epoch, found: Vec<(Similarity, Entry)>) -> Result<Vec<BoardHit>> {
        let mut call = self.call(&script::BOARD_USE, scope, epoch);
        for (_, entry) in found.iter().rev() {
            call = call.arg(entry.key.as_str()).number(entry.number);
        }
        let mut reply = self.change(call, SEARCH).await?;
        let counts = reply.list()?.all_bytes()?;
        let now = time(&reply.text()?)?;
        let mut hits = Vec::with_capacity(found.len());
        for ((similarity, entry), count) in found.into_iter().zip(counts.into_iter().rev()) {
            let Some(count) = count else { continue };
            let count = std::str::from_utf8(&count).ok().and_then(|count| count.parse().ok());
            let count = count.ok_or_else(|| damaged("a count is no number"))?;
            hits.push(BoardHit { entry: entry.posted(count, now), similarity });
        }
        Ok(hits)
    }
}

#[async_trait]
impl Store for RedisBlackboard {
    fn backend(&self) -> &'static str {
        BACKEND
    }

    async fn ping(&self) -> Result<Health> {
        self.redis.ping().await
    }

    async fn close(&self) -> Result<()> {
        self.redis.close().await
    }

    async fn erase(&self, scope: &Scope, below: Epoch) -> Result<Erased> {
        let removed = match self.change(self.call(&script::BOARD_ERASE, scope, below), ERASE).await {
            Ok(mut reply) => reply.number()?,
            // A later erasure has left nothing of this one's.
            Err(Error::Fenced) => 0,
            Err(error) => return Err(error),
        };
        Ok(Erased { removed, remaining: 0, level: ErasureLevel::Logical })
    }
}

#[async_trait]
impl Blackboard for RedisBlackboard {
    async fn put(&self, scope: &Scope, epoch: Epoch, entry: &BlackboardEntry) -> Result<Vec<String>> {
        let BlackboardEntry { key, value, terms, vector, ttl } = entry;
        if key.is_empty() || key.len() > MAX_KEY_BYTES {
            return Err(Error::invalid(format!("a key holds 1 to {MAX_KEY_BYTES} bytes, not {}", key.len())));
        }
        if ttl.is_some_and(|ttl| ttl.is_zero()) {
            return Err(Error::invalid("a time to live is longer than zero"));
        }
        let direction = vector.as_deref().map(direction_of).transpose()?;
        let expires_at = ttl.map(|ttl| self.redis.now().unwrap_or_default().checked_add(ttl)).transpose()?;
        // By the server's clock, the server counts.
        let expires_at = expires_at.filter(|_| self.redis.now().is_some()).map(|at| at.0.to_string());
        let call = self
            .call(&script::BOARD_PUT, scope, epoch)
            .arg(key.as_str())
            .arg(entry::encode(value, terms, direction.as_deref()))
            .arg(ttl.map(|ttl| ttl.as_micros().to_string()).unwrap_or_default())
            .arg(expires_at.unwrap_or_default())
            .number(self.capacity);
        self.change(call, PUT).await?.list()?.texts()
    }

    async fn get(&self, scope: &Scope, epoch: Epoch, key: &str) -> Result<Option<Posted>> {
        let mut reply = self.change(self.call(&script::BOARD_GET, scope, epoch).arg(key), GET).await?;
        if reply.len() == 0 {
            return Ok(None);
        }
        let bytes = reply.bytes()?.ok_or_else(|| damaged("an entry is missing"))?;
        let (count, now) = (reply.number()?, time(&reply.text()?)?);
        Ok(Some(Entry::decode(key.to_owned(), &bytes)?.posted(count, now)))
    }

    async fn search(&self, scope: &Scope, epoch: Epoch, query: &BoardQuery, limit: usize) -> Result<Vec<BoardHit>> {
        let sought = query.sought()?;
        let mut reply = self.redis.run(&self.call(&script::BOARD_READ, scope, epoch), SEARCH).await?.list()?;
        let mut found: Vec<(Similarity, Entry)> = Vec::new();
        while reply.len() > 0 {
            let key = reply.text()?;
            let bytes = reply.bytes()?.ok_or_else(|| damaged("an entry is missing"))?;
            let entry = Entry::decode(key, &bytes)?;
            let similarity = entry.similarity(&sought);
            found.extend(similarity.map(|similarity| (similarity, entry)));
        }
        found.sort_by(|(one, a), (other, b)| other.value().total_cmp(&one.value()).then_with(|| a.key.cmp(&b.key)));
        found.truncate(limit);
        if found.is_empty() { Ok(Vec::new()) } else { self.used(scope, epoch, found).await }
    }

    async fn delete(&self, scope: &Scope, epoch: Epoch, key: &str) -> Result<bool> {
        Ok(self.change(self.call(&script::BOARD_DELETE, scope, epoch).arg(key), DELETE).await?.number()? > 0)
    }

    async fn sweep(&self, scope: &Scope, epoch: Epoch) -> Result<u64> {
        self.change(self.call(&script::BOARD_SWEEP, scope, epoch), SWEEP).await?.number()
    }

    async fn stats(&self, scope: &Scope, epoch: Epoch) -> Result<BlackboardStats> {
        let mut reply = self.redis.run(&self.call(&script::BOARD_STATS, scope, epoch), STATS).await?;
        Ok(BlackboardStats {
            live: reply.number()?,
            expired: reply.number()?,
            capacity: self.capacity as u64,
            accesses: reply.number()?,
            evictions: reply.number()?,
            hits: reply.number()?,
            misses: reply.number()?,
        })
    }
}

fn time(text: &str) -> Result<Timestamp> {
    text.parse().map(Timestamp).map_err(|_| damaged("a time is no number"))
}
