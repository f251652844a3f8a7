//! The conversation store in SQLite.

mod append;
mod compact;
#[cfg(test)]
mod costs;
mod encode;
#[cfg(test)]
mod forks;
mod read;
mod redact;
mod restore;
mod session;
#[cfg(test)]
mod steps;

use async_trait::async_trait;
use memory_core::error::Result;
use memory_core::id::{MessageId, SessionId};
use memory_core::message::StoredMessage;
use memory_core::scope::{Epoch, Scope};
use memory_core::store::chat::{
    Append, Appended, ChatStore, Compaction, Fence, FoundMessages, Page, Redacted, SessionState, Slice,
};
use memory_core::store::{Erased, Health, Store};

use crate::client::Sqlite;
use crate::error::BACKEND;
use crate::owner::{self, Truth};

/// Conversations in a SQLite file: [`ChatStore`] and [`memory_core::store::upkeep::Upkeep`].
#[derive(Clone, Debug)]
pub struct SqliteChat {
    pub(crate) file: Sqlite,
}

impl SqliteChat {
    /// Returns the conversations of an open file.
    pub fn new(file: &Sqlite) -> Self {
        Self { file: file.clone() }
    }
}

#[async_trait]
impl Store for SqliteChat {
    fn backend(&self) -> &'static str {
        BACKEND
    }

    async fn ping(&self) -> Result<Health> {
        self.file.ping().await
    }

    async fn close(&self) -> Result<()> {
        self.file.close().await
    }

    async fn erase(&self, scope: &Scope, below: Epoch) -> Result<Erased> {
        owner::erase(&self.file, Truth::Chat, scope, below).await
    }
}

#[async_trait]
impl ChatStore for SqliteChat {
    async fn append(&self, scope: &Scope, session: &SessionId, batch: &Append) -> Result<Appended> {
        append::append(&self.file, scope, session, batch).await
    }

    async fn restore(
        &self,
        scope: &Scope,
        session: &SessionId,
        fence: Option<Fence>,
        rows: &[StoredMessage],
    ) -> Result<Appended> {
        restore::restore(&self.file, scope, session, fence, rows).await
    }

    async fn read(&self, scope: &Scope, session: &SessionId, page: &Page) -> Result<Slice> {
        read::page(&self.file, scope, session, page).await
    }

    async fn get(&self, scope: &Scope, ids: &[MessageId]) -> Result<FoundMessages> {
        read::get(&self.file, scope, ids).await
    }

    async fn sessions(&self, scope: &Scope, after: Option<&SessionId>, limit: usize) -> Result<Vec<SessionState>> {
        session::list(&self.file, scope, after, limit).await
    }

    async fn compact(&self, scope: &Scope, session: &SessionId, change: &Compaction) -> Result<SessionState> {
        compact::compact(&self.file, scope, session, change).await
    }

    async fn redact(&self, scope: &Scope, ids: &[MessageId]) -> Result<Vec<Redacted>> {
        redact::redact(&self.file, scope, ids).await
    }

    async fn delete(&self, scope: &Scope, seen: &SessionState) -> Result<u64> {
        session::delete(&self.file, scope, seen).await
    }
}
