//! The conversation store in PostgreSQL.

mod append;
mod compact;
mod encode;
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

use crate::client::Postgres;
use crate::error::BACKEND;
use crate::owner::{self, Truth};

/// Conversations in PostgreSQL: [`ChatStore`] and [`memory_core::store::upkeep::Upkeep`].
#[derive(Clone, Debug)]
pub struct PgChat {
    pub(crate) server: Postgres,
}

impl PgChat {
    /// Returns the conversations of an open database.
    pub fn new(server: &Postgres) -> Self {
        Self { server: server.clone() }
    }
}

#[async_trait]
impl Store for PgChat {
    fn backend(&self) -> &'static str {
        BACKEND
    }

    async fn ping(&self) -> Result<Health> {
        self.server.ping().await
    }

    async fn close(&self) -> Result<()> {
        self.server.close().await;
        Ok(())
    }

    async fn erase(&self, scope: &Scope, below: Epoch) -> Result<Erased> {
        owner::erase(&self.server, Truth::Chat, scope, below).await
    }
}

#[async_trait]
impl ChatStore for PgChat {
    async fn append(&self, scope: &Scope, session: &SessionId, batch: &Append) -> Result<Appended> {
        append::append(&self.server, scope, session, batch).await
    }

    async fn restore(
        &self,
        scope: &Scope,
        session: &SessionId,
        fence: Option<Fence>,
        rows: &[StoredMessage],
    ) -> Result<Appended> {
        restore::restore(&self.server, scope, session, fence, rows).await
    }

    async fn read(&self, scope: &Scope, session: &SessionId, page: &Page) -> Result<Slice> {
        read::page(&self.server, scope, session, page).await
    }

    async fn get(&self, scope: &Scope, ids: &[MessageId]) -> Result<FoundMessages> {
        read::get(&self.server, scope, ids).await
    }

    async fn sessions(&self, scope: &Scope, after: Option<&SessionId>, limit: usize) -> Result<Vec<SessionState>> {
        session::list(&self.server, scope, after, limit).await
    }

    async fn compact(&self, scope: &Scope, session: &SessionId, change: &Compaction) -> Result<SessionState> {
        compact::compact(&self.server, scope, session, change).await
    }

    async fn redact(&self, scope: &Scope, ids: &[MessageId]) -> Result<Vec<Redacted>> {
        redact::redact(&self.server, scope, ids).await
    }

    async fn delete(&self, scope: &Scope, seen: &SessionState) -> Result<u64> {
        session::delete(&self.server, scope, seen).await
    }
}
