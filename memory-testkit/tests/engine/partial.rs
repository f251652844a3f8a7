//! Conversations behind a layer that answers without its primary: no page is whole.

use std::sync::Arc;

use async_trait::async_trait;
use memory_core::chat::{Append, Appended, ChatStore, Compaction, Found, Page, Redacted, SessionState, Slice};
use memory_core::reference::MemChat;
use memory_core::store::{Erased, Health, Store};
use memory_core::{Epoch, MessageId, Result, Scope, SessionId, StoredMessage};

/// Shows nothing of what is stored, and says that this is not all.
#[derive(Debug)]
pub(crate) struct Partial(pub(crate) Arc<MemChat>);

#[async_trait]
impl Store for Partial {
    fn backend(&self) -> &'static str {
        "partial"
    }

    async fn ping(&self) -> Result<Health> {
        self.0.ping().await
    }

    async fn close(&self) -> Result<()> {
        self.0.close().await
    }

    async fn erase(&self, scope: &Scope, below: Epoch) -> Result<Erased> {
        self.0.erase(scope, below).await
    }
}

#[async_trait]
impl ChatStore for Partial {
    async fn append(&self, scope: &Scope, session: &SessionId, batch: &Append) -> Result<Appended> {
        self.0.append(scope, session, batch).await
    }

    async fn restore(&self, scope: &Scope, session: &SessionId, rows: &[StoredMessage]) -> Result<Appended> {
        self.0.restore(scope, session, rows).await
    }

    async fn read(&self, scope: &Scope, session: &SessionId, page: &Page) -> Result<Slice> {
        let slice = self.0.read(scope, session, page).await?;
        Ok(Slice { messages: Vec::new(), complete: false, ..slice })
    }

    async fn get(&self, _: &Scope, _: &[MessageId]) -> Result<Found> {
        Ok(Found { messages: Vec::new(), complete: false })
    }

    async fn sessions(&self, scope: &Scope, after: Option<&SessionId>, limit: usize) -> Result<Vec<SessionState>> {
        self.0.sessions(scope, after, limit).await
    }

    async fn compact(&self, scope: &Scope, session: &SessionId, change: &Compaction) -> Result<SessionState> {
        self.0.compact(scope, session, change).await
    }

    async fn redact(&self, scope: &Scope, ids: &[MessageId]) -> Result<Vec<Redacted>> {
        self.0.redact(scope, ids).await
    }

    async fn delete(&self, scope: &Scope, seen: &SessionState) -> Result<u64> {
        self.0.delete(scope, seen).await
    }
}
