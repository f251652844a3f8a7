//! Short-lived copies and recent events.
//!
//! Keys hold owner and epoch, so that a fill that lost the race with an erasure is never returned. Each has a time to live
//! by the server's clock; where the store was given a clock, entries expire by that one, and the server's only cleans up.

use std::time::Duration;

use async_trait::async_trait;
use memory_core::error::{Error, Result};
use memory_core::scope::{Epoch, Scope};
use memory_core::store::cache::Cache;
use memory_core::store::{Erased, ErasureLevel, Health, Store};
use memory_core::time::Timestamp;
use redis::cmd;

use crate::client::{Call, Redis, detached};
use crate::error::BACKEND;
use crate::keys::{padded, sortable};
use crate::reply::Reply;
use crate::script::{self, Script};

const GET: &str = "get a cached value";
const PUT: &str = "put a cached value";
const DELETE: &str = "delete cached values";
const PUSH: &str = "push an event";
const TAIL: &str = "read events";
const ERASE: &str = "erase a cache";

/// How long the server keeps an entry beyond its life where another clock decides.
const GRACE: Duration = Duration::from_secs(60);

/// About how many entries one step of an erasure looks at.
const STEP: usize = 1_000;

/// The digits of a time before each value.
const DIGITS: usize = 20;

/// A cache in Redis.
#[derive(Clone, Debug)]
pub struct RedisCache {
    redis: Redis,
}

/// How long an entry lives: milliseconds by the server's clock, and until when by the store's.
struct Life {
    milliseconds: u128,
    until: String,
    now: String,
}

impl RedisCache {
    /// Returns the cache in a server. Any server will do: what is evicted is a miss.
    pub fn new(redis: &Redis) -> Self {
        Self { redis: redis.clone() }
    }

    fn key(&self, scope: &Scope) -> String {
        format!("{}:c", self.redis.keys().owner(scope))
    }

    /// Returns the present as entries are compared with it; before all of them where the server's clock decides.
    fn now(&self) -> String {
        self.redis.now().map_or_else(|| "0".repeat(DIGITS), sortable)
    }

    fn life(&self, ttl: Duration) -> Result<Life> {
        if ttl.is_zero() {
            return Err(Error::invalid("a time to live is longer than zero"));
        }
        // Out of range is out of range by any clock.
        let until = self.redis.now().unwrap_or_default().checked_add(ttl)?;
        let (kept, until) = match self.redis.now() {
            Some(_) => (ttl.saturating_add(GRACE), until),
            None => (ttl, Timestamp(i64::MAX)),
        };
        let milliseconds = kept.as_micros().div_ceil(1_000);
        Ok(Life { milliseconds, until: sortable(until), now: self.now() })
    }

    /// Returns a call of a script that puts a value.
    fn fill(&self, script: &'static Script, place: &CacheKey<'_>, value: &[u8], life: &Life) -> Call {
        let CacheKey { scope, epoch, key } = *place;
        let call = Call::new(script, self.key(scope)).arg(padded(epoch)).arg(key);
        call.number(life.milliseconds).arg(life.until.as_str()).arg(value)
    }

    async fn send(&self, call: Call, doing: &'static str) -> Result<()> {
        let redis = self.redis.clone();
        detached(doing, async move { redis.run(&call, doing).await.map(drop) }).await
    }
}

/// Where a value stands.
struct CacheKey<'a> {
    scope: &'a Scope,
    epoch: Epoch,
    key: &'a str,
}

#[async_trait]
impl Store for RedisCache {
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
        let (redis, key) = (self.redis.clone(), self.key(scope));
        let work = async move {
            let (mut removed, mut listed, mut from) = (0, 0, "0".to_owned());
            loop {
                let call = Call::new(&script::CACHE_ERASE, key.clone()).arg(padded(below)).arg(from).number(STEP);
                let mut step = redis.run(&call, ERASE).await?;
                removed += step.number()?;
                listed += step.number()?;
                from = step.text()?;
                if from != "0" {
                    continue;
                }
                if listed == 0 {
                    return Ok(Erased { removed, remaining: 0, level: ErasureLevel::Logical });
                }
                // If the slot moved to another node of a cluster between two steps, the scan may have missed entries, because each
                // node has them in an order of its own. So it begins again until it finds none.
                listed = 0;
            }
        };
        detached(ERASE, work).await
    }
}

#[async_trait]
impl Cache for RedisCache {
    async fn get(&self, scope: &Scope, epoch: Epoch, key: &str) -> Result<Option<Vec<u8>>> {
        let (base, epoch, now) = (self.key(scope), padded(epoch), self.now());
        let mut command = cmd("MGET");
        command.arg(format!("{base}:below")).arg(format!("{base}:{epoch}:{key}"));
        let mut reply = Reply::open(self.redis.command(&command, GET).await?)?;
        let below = reply.bytes()?.unwrap_or_default();
        let Some(mut value) = reply.bytes()? else { return Ok(None) };
        let lives = value.get(..DIGITS).is_some_and(|until| until > now.as_bytes());
        if !lives || below.as_slice() > epoch.as_bytes() {
            return Ok(None);
        }
        value.drain(..DIGITS);
        Ok(Some(value))
    }

    async fn put(&self, scope: &Scope, epoch: Epoch, key: &str, value: &[u8], ttl: Duration) -> Result<()> {
        let life = self.life(ttl)?;
        self.send(self.fill(&script::CACHE_PUT, &CacheKey { scope, epoch, key }, value, &life), PUT).await
    }

    async fn delete(&self, scope: &Scope, epoch: Epoch, keys: &[&str]) -> Result<()> {
        if keys.is_empty() {
            return Ok(());
        }
        let call = Call::new(&script::CACHE_DELETE, self.key(scope)).arg(padded(epoch));
        self.send(call.args(keys.iter().map(|key| key.as_bytes().to_vec())), DELETE).await
    }

    async fn push(
        &self,
        scope: &Scope,
        epoch: Epoch,
        key: &str,
        value: &[u8],
        cap: usize,
        ttl: Duration,
    ) -> Result<()> {
        if cap == 0 {
            return Err(Error::invalid("a list keeps at least one value"));
        }
        let life = self.life(ttl)?;
        let call = self.fill(&script::CACHE_PUSH, &CacheKey { scope, epoch, key }, value, &life);
        self.send(call.arg(life.now).number((cap as u64).min(script::LARGEST)), PUSH).await
    }

    async fn tail(&self, scope: &Scope, epoch: Epoch, key: &str, count: usize) -> Result<Vec<Vec<u8>>> {
        let call = Call::new(&script::CACHE_TAIL, self.key(scope)).arg(padded(epoch)).arg(key);
        let call = call.number((count as u64).min(script::LARGEST)).arg(self.now());
        let values = self.redis.run(&call, TAIL).await?.list()?.all_bytes()?;
        Ok(values.into_iter().flatten().collect())
    }
}
