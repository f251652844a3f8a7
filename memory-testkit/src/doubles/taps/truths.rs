//! Taps around truth stores and their upkeep.

use async_trait::async_trait;
use memory_core::chat::{Append, Appended, ChatStore, Compaction, Fence, Found, Page, Redacted, SessionState, Slice};
use memory_core::record::{RecordBatch, RecordStore};
use memory_core::store::{Erased, Health, Store};
use memory_core::upkeep::{Backlog, Enlisted, Incarnation, IndexName, Note, Outcome, Upkeep};
use memory_core::{
    Epoch, Filter, MessageId, RecordId, Result, Scope, SessionId, StoredMessage, StoredRecord, Timestamp,
};

use super::{Tapped, none};

#[async_trait]
impl<S: Store + ?Sized> Store for Tapped<S> {
    fn backend(&self) -> &'static str {
        self.inner.backend()
    }

    async fn ping(&self) -> Result<Health> {
        self.run("ping", self.inner.ping(), none).await
    }

    async fn close(&self) -> Result<()> {
        self.run("close", self.inner.close(), none).await
    }

    async fn erase(&self, scope: &Scope, below: Epoch) -> Result<Erased> {
        self.run("erase", self.inner.erase(scope, below), none).await
    }
}

#[async_trait]
impl<S: ChatStore + ?Sized> ChatStore for Tapped<S> {
    async fn append(&self, scope: &Scope, session: &SessionId, batch: &Append) -> Result<Appended> {
        self.run("append", self.inner.append(scope, session, batch), none).await
    }

    async fn restore(&self, scope: &Scope, session: &SessionId, rows: &[StoredMessage]) -> Result<Appended> {
        self.run("restore", self.inner.restore(scope, session, rows), none).await
    }

    async fn read(&self, scope: &Scope, session: &SessionId, page: &Page) -> Result<Slice> {
        self.run("read", self.inner.read(scope, session, page), |slice| slice.messages.len()).await
    }

    async fn get(&self, scope: &Scope, ids: &[MessageId]) -> Result<Found> {
        self.run("get", self.inner.get(scope, ids), |found| found.messages.len()).await
    }

    async fn sessions(&self, scope: &Scope, after: Option<&SessionId>, limit: usize) -> Result<Vec<SessionState>> {
        self.run("sessions", self.inner.sessions(scope, after, limit), Vec::len).await
    }

    async fn compact(&self, scope: &Scope, session: &SessionId, change: &Compaction) -> Result<SessionState> {
        self.run("compact", self.inner.compact(scope, session, change), none).await
    }

    async fn redact(&self, scope: &Scope, ids: &[MessageId]) -> Result<Vec<Redacted>> {
        self.run("redact", self.inner.redact(scope, ids), Vec::len).await
    }

    async fn delete(&self, scope: &Scope, seen: &SessionState) -> Result<u64> {
        self.run("delete", self.inner.delete(scope, seen), none).await
    }
}

#[async_trait]
impl<S: RecordStore + ?Sized> RecordStore for Tapped<S> {
    async fn put(&self, scope: &Scope, batch: &RecordBatch) -> Result<Vec<u64>> {
        self.run("put", self.inner.put(scope, batch), none).await
    }

    async fn get(&self, scope: &Scope, ids: &[RecordId]) -> Result<Vec<StoredRecord>> {
        self.run("get", self.inner.get(scope, ids), Vec::len).await
    }

    async fn scan(
        &self,
        scope: &Scope,
        filter: &Filter,
        after: Option<RecordId>,
        limit: usize,
    ) -> Result<Vec<StoredRecord>> {
        self.run("scan", self.inner.scan(scope, filter, after, limit), Vec::len).await
    }

    async fn touch(&self, scope: &Scope, ids: &[RecordId], at: Timestamp) -> Result<()> {
        self.run("touch", self.inner.touch(scope, ids, at), none).await
    }

    async fn fence(&self, scope: &Scope) -> Result<Fence> {
        self.run("fence", self.inner.fence(scope), none).await
    }

    async fn advance(&self, scope: &Scope, seen: Fence) -> Result<Fence> {
        self.run("advance", self.inner.advance(scope, seen), none).await
    }

    async fn delete(&self, scope: &Scope, records: &[(RecordId, u64)]) -> Result<u64> {
        self.run("delete", self.inner.delete(scope, records), none).await
    }

    async fn restore(&self, scope: &Scope, rows: &[StoredRecord]) -> Result<()> {
        self.run("restore", self.inner.restore(scope, rows), none).await
    }
}

#[async_trait]
impl<S: Upkeep + ?Sized> Upkeep for Tapped<S> {
    async fn enlist(&self, index: &IndexName, incarnation: Option<Incarnation>, limit: usize) -> Result<bool> {
        self.run("enlist", self.inner.enlist(index, incarnation, limit), none).await
    }

    async fn doubt(&self, index: &IndexName) -> Result<()> {
        self.run("doubt", self.inner.doubt(index), none).await
    }

    async fn indexes(&self) -> Result<Vec<Enlisted>> {
        self.run("indexes", self.inner.indexes(), Vec::len).await
    }

    async fn revive(&self, index: &IndexName) -> Result<u64> {
        self.run("revive", self.inner.revive(index), none).await
    }

    async fn retire(&self, index: &IndexName) -> Result<()> {
        self.run("retire", self.inner.retire(index), none).await
    }

    async fn pending(&self, index: &IndexName, now: Timestamp, limit: usize) -> Result<Vec<Note>> {
        self.run("pending", self.inner.pending(index, now, limit), Vec::len).await
    }

    async fn settle(&self, index: &IndexName, notes: &[(Note, Outcome)]) -> Result<()> {
        self.run("settle", self.inner.settle(index, notes), none).await
    }

    async fn backlog(&self, index: &IndexName) -> Result<Backlog> {
        self.run("backlog", self.inner.backlog(index), none).await
    }

    async fn backlog_of(&self, scope: &Scope, index: &IndexName) -> Result<Backlog> {
        self.run("backlog_of", self.inner.backlog_of(scope, index), none).await
    }

    async fn sweep(&self, now: Timestamp, limit: usize) -> Result<u64> {
        self.run("sweep", self.inner.sweep(now, limit), none).await
    }

    async fn owners(&self, after: Option<&Scope>, limit: usize) -> Result<Vec<Scope>> {
        self.run("owners", self.inner.owners(after, limit), Vec::len).await
    }

    async fn bury(&self, scope: &Scope, seen: Epoch) -> Result<Epoch> {
        self.run("bury", self.inner.bury(scope, seen), none).await
    }

    async fn epoch(&self, scope: &Scope) -> Result<Epoch> {
        self.run("epoch", self.inner.epoch(scope), none).await
    }
}
