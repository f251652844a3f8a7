//! Truth stores behind a cache: reads by id ask it first, changes invalidate it.
//!
//! An append changes no item that can have been cached, so it goes straight to truth.

use std::sync::Arc;

use async_trait::async_trait;

use crate::error::Result;
use crate::filter::Filter;
use crate::id::{MessageId, RecordId, SessionId};
use crate::message::StoredMessage;
use crate::record::StoredRecord;
use crate::scope::{Epoch, Scope};
use crate::store::chat::{
    Append, Appended, ChatStore, Compaction, Fence, FoundMessages, Page, Redacted, SessionState, Slice,
};
use crate::store::records::{RecordBatch, RecordStore};
use crate::store::{Erased, Health, Store};
use crate::time::Timestamp;

use super::item::Item;
use super::shelf::Shelf;

/// A truth store whose items of one kind are cached.
#[derive(Debug)]
pub(super) struct Cached<S: ?Sized, I: Item> {
    inner: Arc<S>,
    shelf: Shelf<I>,
}

impl<S: ?Sized, I: Item> Cached<S, I> {
    pub(super) fn new(inner: Arc<S>, shelf: Shelf<I>) -> Self {
        Self { inner, shelf }
    }
}

#[async_trait]
impl<S: Store + ?Sized, I: Item> Store for Cached<S, I> {
    fn backend(&self) -> &'static str {
        self.inner.backend()
    }

    async fn ping(&self) -> Result<Health> {
        self.inner.ping().await
    }

    async fn erase(&self, scope: &Scope, below: Epoch) -> Result<Erased> {
        self.shelf.change(scope, self.inner.erase(scope, below)).await
    }

    async fn close(&self) -> Result<()> {
        self.inner.close().await
    }
}

#[async_trait]
impl ChatStore for Cached<dyn ChatStore, StoredMessage> {
    async fn append(&self, scope: &Scope, session: &SessionId, batch: &Append) -> Result<Appended> {
        self.inner.append(scope, session, batch).await
    }

    async fn restore(
        &self,
        scope: &Scope,
        session: &SessionId,
        fence: Option<Fence>,
        rows: &[StoredMessage],
    ) -> Result<Appended> {
        self.shelf.change(scope, self.inner.restore(scope, session, fence, rows)).await
    }

    async fn read(&self, scope: &Scope, session: &SessionId, page: &Page) -> Result<Slice> {
        self.inner.read(scope, session, page).await
    }

    async fn get(&self, scope: &Scope, ids: &[MessageId]) -> Result<FoundMessages> {
        let looked = self.shelf.look(scope, ids).await;
        let mut found = FoundMessages { messages: Vec::new(), complete: true };
        if !looked.missing.is_empty() {
            found = self.inner.get(scope, &looked.missing).await?;
        }
        found.messages = self.shelf.keep(scope, ids, looked, found.messages).await;
        Ok(found)
    }

    async fn sessions(&self, scope: &Scope, after: Option<&SessionId>, limit: usize) -> Result<Vec<SessionState>> {
        self.inner.sessions(scope, after, limit).await
    }

    async fn compact(&self, scope: &Scope, session: &SessionId, change: &Compaction) -> Result<SessionState> {
        self.shelf.change(scope, self.inner.compact(scope, session, change)).await
    }

    async fn redact(&self, scope: &Scope, ids: &[MessageId]) -> Result<Vec<Redacted>> {
        self.shelf.change(scope, self.inner.redact(scope, ids)).await
    }

    async fn delete(&self, scope: &Scope, seen: &SessionState) -> Result<u64> {
        self.shelf.change(scope, self.inner.delete(scope, seen)).await
    }
}

#[async_trait]
impl RecordStore for Cached<dyn RecordStore, StoredRecord> {
    async fn put(&self, scope: &Scope, batch: &RecordBatch) -> Result<Vec<u64>> {
        self.shelf.change(scope, self.inner.put(scope, batch)).await
    }

    async fn get(&self, scope: &Scope, ids: &[RecordId]) -> Result<Vec<StoredRecord>> {
        let looked = self.shelf.look(scope, ids).await;
        let mut read = Vec::new();
        if !looked.missing.is_empty() {
            read = self.inner.get(scope, &looked.missing).await?;
        }
        Ok(self.shelf.keep(scope, ids, looked, read).await)
    }

    async fn scan(
        &self,
        scope: &Scope,
        filter: &Filter,
        after: Option<RecordId>,
        limit: usize,
    ) -> Result<Vec<StoredRecord>> {
        self.inner.scan(scope, filter, after, limit).await
    }

    async fn newest(
        &self,
        scope: &Scope,
        filter: &Filter,
        before: Option<(Timestamp, RecordId)>,
        limit: usize,
    ) -> Result<Vec<StoredRecord>> {
        self.inner.newest(scope, filter, before, limit).await
    }

    async fn touch(&self, scope: &Scope, ids: &[RecordId], at: Timestamp) -> Result<()> {
        self.shelf.change(scope, self.inner.touch(scope, ids, at)).await
    }

    async fn fence(&self, scope: &Scope) -> Result<Fence> {
        self.inner.fence(scope).await
    }

    async fn advance(&self, scope: &Scope, seen: Fence) -> Result<Fence> {
        // It changes no item. But whoever calls it is about to look for what is left, and what another call deleted meanwhile, for
        // which nobody waited, is not to be served after that look.
        self.shelf.change(scope, self.inner.advance(scope, seen)).await
    }

    async fn delete(&self, scope: &Scope, records: &[(RecordId, u64)]) -> Result<u64> {
        self.shelf.change(scope, self.inner.delete(scope, records)).await
    }

    async fn restore(&self, scope: &Scope, epoch: Option<Epoch>, rows: &[StoredRecord]) -> Result<()> {
        self.shelf.change(scope, self.inner.restore(scope, epoch, rows)).await
    }
}
