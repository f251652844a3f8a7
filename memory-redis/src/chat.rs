//! Conversations.

mod append;
mod compact;
mod read;
mod redact;
mod restore;
mod session;

use async_trait::async_trait;
use memory_core::error::Result;
use memory_core::id::{MessageId, SessionId};
use memory_core::message::StoredMessage;
use memory_core::scope::{Epoch, Scope};
use memory_core::store::chat::{
    Append, Appended, ChatStore, Compaction, Fence, FoundMessages, Page, Redacted, SessionState, Slice,
};
use memory_core::store::{Erased, Health, Store};

use crate::client::Redis;
use crate::error::BACKEND;
use crate::owner;
use crate::upkeep::{Walk, step_back};

/// Conversations in Redis: [`ChatStore`] and [`memory_core::store::upkeep::Upkeep`].
#[derive(Clone, Debug)]
pub struct RedisChat {
    pub(crate) redis: Redis,
    pub(crate) walk: Walk,
}

impl RedisChat {
    /// Returns the conversations of a server.
    ///
    /// # Errors
    /// `Unsupported` if the server evicts whatever it likes when its memory is full (`maxmemory-policy allkeys-*`), unless
    /// [`crate::RedisConfig::with_allow_lossy`] says that this may be.
    pub fn new(redis: &Redis) -> Result<Self> {
        redis.check_truth()?;
        Ok(Self { redis: redis.clone(), walk: Walk::default() })
    }
}

#[async_trait]
impl Store for RedisChat {
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
        let erased = owner::erase(&self.redis, scope, below).await?;
        step_back(&self.redis, scope).await?;
        Ok(erased)
    }
}

#[async_trait]
impl ChatStore for RedisChat {
    async fn append(&self, scope: &Scope, session: &SessionId, batch: &Append) -> Result<Appended> {
        append::append(&self.redis, scope, session, batch).await
    }

    async fn restore(
        &self,
        scope: &Scope,
        session: &SessionId,
        fence: Option<Fence>,
        rows: &[StoredMessage],
    ) -> Result<Appended> {
        restore::restore(&self.redis, scope, session, fence, rows).await
    }

    async fn read(&self, scope: &Scope, session: &SessionId, page: &Page) -> Result<Slice> {
        read::page(&self.redis, scope, session, page).await
    }

    async fn get(&self, scope: &Scope, ids: &[MessageId]) -> Result<FoundMessages> {
        read::get(&self.redis, scope, ids).await
    }

    async fn sessions(&self, scope: &Scope, after: Option<&SessionId>, limit: usize) -> Result<Vec<SessionState>> {
        session::list(&self.redis, scope, after, limit).await
    }

    async fn compact(&self, scope: &Scope, session: &SessionId, change: &Compaction) -> Result<SessionState> {
        compact::compact(&self.redis, scope, session, change).await
    }

    async fn redact(&self, scope: &Scope, ids: &[MessageId]) -> Result<Vec<Redacted>> {
        redact::redact(&self.redis, scope, ids).await
    }

    async fn delete(&self, scope: &Scope, seen: &SessionState) -> Result<u64> {
        session::delete(&self.redis, scope, seen).await
    }
}
