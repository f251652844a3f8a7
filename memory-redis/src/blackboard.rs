//! What agents share for a while.

mod entry;

use async_trait::async_trait;
use memory_core::error::{Error, Result};
use memory_core::scope::{Epoch, Scope};
use memory_core::store::blackboard::{
    Blackboard, BlackboardEntry, BlackboardStats, BoardHit, BoardQuery, Keep, Posted, direction_of,
};
use memory_core::store::{Erased, ErasureLevel, Health, Store};
use memory_core::vector::Similarity;

use crate::client::{Call, Redis, detached};
use crate::error::{BACKEND, damaged};
use crate::keys::padded;
use crate::reply::Reply;
use crate::script::{self, Script};

use entry::{Entry, Uses, time};

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
///
/// A search whose use cannot be counted for now, because the server takes no writes, returns its hits as they were counted before.
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

    /// Counts the use of entries that were found, the best last: it is the last to be evicted. Returns their uses; none for one that
    /// is gone.
    async fn used(&self, scope: &Scope, epoch: Epoch, found: &[Found]) -> Result<Vec<Option<Uses>>> {
        let mut call = self.call(&script::BOARD_USE, scope, epoch);
        for Found { entry, .. } in found.iter().rev() {
            call = call.arg(entry.key.as_str()).number(entry.number);
        }
        let mut reply = self.change(call, SEARCH).await?;
        let counts = reply.list()?.all_bytes()?;
        let last = Some(time(&reply.text()?)?);
        let mut uses = Vec::with_capacity(found.len());
        for count in counts.into_iter().rev() {
            let count = count.map(|count| std::str::from_utf8(&count).ok().and_then(|count| count.parse().ok()));
            let count = count.map(|count| count.ok_or_else(|| damaged("a count is no number"))).transpose()?;
            uses.push(count.map(|count| Uses { count, last }));
        }
        Ok(uses)
    }
}

/// An entry that a search found.
struct Found {
    similarity: Similarity,
    entry: Entry,
    /// Its uses before this one.
    uses: Uses,
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
        let uses = Uses { count: reply.number()?, last: Some(time(&reply.text()?)?) };
        Ok(Some(Entry::decode(key.to_owned(), &bytes)?.posted(uses)))
    }

    async fn search(&self, scope: &Scope, epoch: Epoch, query: &BoardQuery, limit: usize) -> Result<Vec<BoardHit>> {
        let sought = query.sought()?;
        let mut reply = self.redis.run(&self.call(&script::BOARD_READ, scope, epoch), SEARCH).await?.list()?;
        let mut found: Vec<Found> = Vec::new();
        while reply.len() > 0 {
            let key = reply.text()?;
            let bytes = reply.bytes()?.ok_or_else(|| damaged("an entry is missing"))?;
            let (entry, uses) = (Entry::decode(key, &bytes)?, Uses::decode(&reply.text()?)?);
            let similarity = entry.similarity(&sought);
            found.extend(similarity.map(|similarity| Found { similarity, entry, uses }));
        }
        let worth = |found: &Found| found.similarity.value();
        found.sort_by(|a, b| worth(b).total_cmp(&worth(a)).then_with(|| a.entry.key.cmp(&b.entry.key)));
        found.truncate(limit);
        if found.is_empty() {
            return Ok(Vec::new());
        }
        let uses = match self.used(scope, epoch, &found).await {
            Err(error) if error.is_retryable() => {
                tracing::warn!(%error, "the hits of a search are not counted");
                found.iter().map(|found| Some(found.uses)).collect()
            }
            uses => uses?,
        };
        let hits = found.into_iter().zip(uses);
        let hits = hits.filter_map(|(Found { similarity, entry, .. }, uses)| {
            uses.map(|uses| BoardHit { entry: entry.posted(uses), similarity })
        });
        Ok(hits.collect())
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
