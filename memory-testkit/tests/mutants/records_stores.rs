//! Record stores that are whole but for what a [`Break`] changes.

use std::fmt::Debug;
use std::sync::Arc;

use async_trait::async_trait;
use memory_core::chat::Fence;
use memory_core::record::{RecordBatch, RecordStore};
use memory_core::reference::MemRecords;
use memory_core::store::{Erased, Health, Store};
use memory_core::upkeep::{Backlog, Enlisted, Incarnation, IndexName, Note, Outcome, Upkeep};
use memory_core::{Epoch, Filter, RecordId, Result, Scope, StoredRecord, Timestamp, Truth};
use memory_testkit::{Records, records};

use super::frame;

/// What is broken: the methods that are not given here are whole.
#[async_trait]
pub(crate) trait Break: Debug + Send + Sync + 'static {
    async fn put(&self, inner: &MemRecords, scope: &Scope, batch: &RecordBatch) -> Result<Vec<u64>> {
        inner.put(scope, batch).await
    }

    async fn get(&self, inner: &MemRecords, scope: &Scope, ids: &[RecordId]) -> Result<Vec<StoredRecord>> {
        inner.get(scope, ids).await
    }

    async fn scan(
        &self,
        inner: &MemRecords,
        scope: &Scope,
        filter: &Filter,
        after: Option<RecordId>,
        limit: usize,
    ) -> Result<Vec<StoredRecord>> {
        inner.scan(scope, filter, after, limit).await
    }

    async fn touch(&self, inner: &MemRecords, scope: &Scope, ids: &[RecordId], at: Timestamp) -> Result<()> {
        inner.touch(scope, ids, at).await
    }

    async fn advance(&self, inner: &MemRecords, scope: &Scope, seen: Fence) -> Result<Fence> {
        inner.advance(scope, seen).await
    }

    async fn delete(&self, inner: &MemRecords, scope: &Scope, records: &[(RecordId, u64)]) -> Result<u64> {
        inner.delete(scope, records).await
    }

    async fn restore(&self, inner: &MemRecords, scope: &Scope, rows: &[StoredRecord]) -> Result<()> {
        inner.restore(scope, rows).await
    }

    async fn enlist(
        &self,
        inner: &MemRecords,
        index: &IndexName,
        incarnation: Option<Incarnation>,
        limit: usize,
    ) -> Result<bool> {
        inner.enlist(index, incarnation, limit).await
    }

    async fn indexes(&self, inner: &MemRecords) -> Result<Vec<Enlisted>> {
        inner.indexes().await
    }

    async fn settle(&self, inner: &MemRecords, index: &IndexName, notes: &[(Note, Outcome)]) -> Result<()> {
        inner.settle(index, notes).await
    }

    async fn sweep(&self, inner: &MemRecords, now: Timestamp, limit: usize) -> Result<u64> {
        inner.sweep(now, limit).await
    }
}

/// A store with a break.
#[derive(Debug)]
struct Mutant<B> {
    inner: MemRecords,
    broken: B,
}

/// Checks that each of the scenarios `by` catches the break.
pub(crate) async fn caught<B: Break + Clone>(broken: B, by: &[&str]) {
    frame::caught(&records::table(), by, move |_| store(broken.clone())).await;
}

/// Returns a store with the break.
pub(crate) fn store<B: Break>(broken: B) -> Records {
    Truth::records(Arc::new(Mutant { inner: MemRecords::default(), broken }))
}

#[async_trait]
impl<B: Break> Store for Mutant<B> {
    fn backend(&self) -> &'static str {
        "mutant"
    }

    async fn ping(&self) -> Result<Health> {
        self.inner.ping().await
    }

    async fn close(&self) -> Result<()> {
        self.inner.close().await
    }

    async fn erase(&self, scope: &Scope, below: Epoch) -> Result<Erased> {
        self.inner.erase(scope, below).await
    }
}

#[async_trait]
impl<B: Break> RecordStore for Mutant<B> {
    async fn put(&self, scope: &Scope, batch: &RecordBatch) -> Result<Vec<u64>> {
        self.broken.put(&self.inner, scope, batch).await
    }

    async fn get(&self, scope: &Scope, ids: &[RecordId]) -> Result<Vec<StoredRecord>> {
        self.broken.get(&self.inner, scope, ids).await
    }

    async fn scan(
        &self,
        scope: &Scope,
        filter: &Filter,
        after: Option<RecordId>,
        limit: usize,
    ) -> Result<Vec<StoredRecord>> {
        self.broken.scan(&self.inner, scope, filter, after, limit).await
    }

    async fn touch(&self, scope: &Scope, ids: &[RecordId], at: Timestamp) -> Result<()> {
        self.broken.touch(&self.inner, scope, ids, at).await
    }

    async fn fence(&self, scope: &Scope) -> Result<Fence> {
        self.inner.fence(scope).await
    }

    async fn advance(&self, scope: &Scope, seen: Fence) -> Result<Fence> {
        self.broken.advance(&self.inner, scope, seen).await
    }

    async fn delete(&self, scope: &Scope, records: &[(RecordId, u64)]) -> Result<u64> {
        self.broken.delete(&self.inner, scope, records).await
    }

    async fn restore(&self, scope: &Scope, rows: &[StoredRecord]) -> Result<()> {
        self.broken.restore(&self.inner, scope, rows).await
    }
}

#[async_trait]
impl<B: Break> Upkeep for Mutant<B> {
    async fn enlist(&self, index: &IndexName, incarnation: Option<Incarnation>, limit: usize) -> Result<bool> {
        self.broken.enlist(&self.inner, index, incarnation, limit).await
    }

    async fn doubt(&self, index: &IndexName) -> Result<()> {
        self.inner.doubt(index).await
    }

    async fn revive(&self, index: &IndexName) -> Result<u64> {
        self.inner.revive(index).await
    }

    async fn indexes(&self) -> Result<Vec<Enlisted>> {
        self.broken.indexes(&self.inner).await
    }

    async fn retire(&self, index: &IndexName) -> Result<()> {
        self.inner.retire(index).await
    }

    async fn pending(&self, index: &IndexName, now: Timestamp, limit: usize) -> Result<Vec<Note>> {
        self.inner.pending(index, now, limit).await
    }

    async fn settle(&self, index: &IndexName, notes: &[(Note, Outcome)]) -> Result<()> {
        self.broken.settle(&self.inner, index, notes).await
    }

    async fn backlog(&self, index: &IndexName) -> Result<Backlog> {
        self.inner.backlog(index).await
    }

    async fn backlog_of(&self, scope: &Scope, index: &IndexName) -> Result<Backlog> {
        self.inner.backlog_of(scope, index).await
    }

    async fn sweep(&self, now: Timestamp, limit: usize) -> Result<u64> {
        self.broken.sweep(&self.inner, now, limit).await
    }

    async fn owners(&self, after: Option<&Scope>, limit: usize) -> Result<Vec<Scope>> {
        self.inner.owners(after, limit).await
    }

    async fn bury(&self, scope: &Scope, seen: Epoch) -> Result<Epoch> {
        self.inner.bury(scope, seen).await
    }

    async fn epoch(&self, scope: &Scope) -> Result<Epoch> {
        self.inner.epoch(scope).await
    }
}
