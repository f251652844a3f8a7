//! Conversation stores that are whole but for what a [`Break`] changes.

use std::fmt::Debug;
use std::sync::Arc;

use async_trait::async_trait;
use memory_core::chat::{Append, Appended, ChatStore, Compaction, Found, Page, Redacted, SessionState, Slice};
use memory_core::reference::MemChat;
use memory_core::store::{Erased, Health, Store};
use memory_core::upkeep::{Backlog, Enlisted, Incarnation, IndexName, Note, Outcome, Upkeep};
use memory_core::{Epoch, MessageId, Result, Scope, SessionId, StoredMessage, Timestamp, Truth};
use memory_testkit::{Chat, chat};

use super::frame;

/// What is broken: the methods that are not given here are whole.
#[async_trait]
pub(crate) trait Break: Debug + Send + Sync + 'static {
    /// Returns the owner that a call is taken for.
    fn scope(&self, scope: &Scope) -> Scope {
        scope.clone()
    }

    async fn append(&self, inner: &MemChat, scope: &Scope, session: &SessionId, batch: &Append) -> Result<Appended> {
        inner.append(scope, session, batch).await
    }

    async fn restore(
        &self,
        inner: &MemChat,
        scope: &Scope,
        session: &SessionId,
        rows: &[StoredMessage],
    ) -> Result<Appended> {
        inner.restore(scope, session, rows).await
    }

    async fn read(&self, inner: &MemChat, scope: &Scope, session: &SessionId, page: &Page) -> Result<Slice> {
        inner.read(scope, session, page).await
    }

    async fn get(&self, inner: &MemChat, scope: &Scope, ids: &[MessageId]) -> Result<Found> {
        inner.get(scope, ids).await
    }

    async fn sessions(
        &self,
        inner: &MemChat,
        scope: &Scope,
        after: Option<&SessionId>,
        limit: usize,
    ) -> Result<Vec<SessionState>> {
        inner.sessions(scope, after, limit).await
    }

    async fn compact(
        &self,
        inner: &MemChat,
        scope: &Scope,
        session: &SessionId,
        change: &Compaction,
    ) -> Result<SessionState> {
        inner.compact(scope, session, change).await
    }

    async fn redact(&self, inner: &MemChat, scope: &Scope, ids: &[MessageId]) -> Result<Vec<Redacted>> {
        inner.redact(scope, ids).await
    }

    async fn delete(&self, inner: &MemChat, scope: &Scope, seen: &SessionState) -> Result<u64> {
        inner.delete(scope, seen).await
    }

    async fn erase(&self, inner: &MemChat, scope: &Scope, below: Epoch) -> Result<Erased> {
        inner.erase(scope, below).await
    }

    async fn enlist(
        &self,
        inner: &MemChat,
        index: &IndexName,
        incarnation: Option<Incarnation>,
        limit: usize,
    ) -> Result<bool> {
        inner.enlist(index, incarnation, limit).await
    }

    async fn indexes(&self, inner: &MemChat) -> Result<Vec<Enlisted>> {
        inner.indexes().await
    }

    async fn pending(&self, inner: &MemChat, index: &IndexName, now: Timestamp, limit: usize) -> Result<Vec<Note>> {
        inner.pending(index, now, limit).await
    }

    async fn settle(&self, inner: &MemChat, index: &IndexName, notes: &[(Note, Outcome)]) -> Result<()> {
        inner.settle(index, notes).await
    }

    async fn revive(&self, inner: &MemChat, index: &IndexName) -> Result<u64> {
        inner.revive(index).await
    }

    async fn backlog_of(&self, inner: &MemChat, scope: &Scope, index: &IndexName) -> Result<Backlog> {
        inner.backlog_of(scope, index).await
    }

    async fn owners(&self, inner: &MemChat, after: Option<&Scope>, limit: usize) -> Result<Vec<Scope>> {
        inner.owners(after, limit).await
    }

    async fn bury(&self, inner: &MemChat, scope: &Scope, seen: Epoch) -> Result<Epoch> {
        inner.bury(scope, seen).await
    }
}

/// A store with a break.
#[derive(Debug)]
struct Mutant<B> {
    inner: MemChat,
    broken: B,
}

/// Returns a store with a break.
pub(crate) fn broken(broken: impl Break) -> Chat {
    Truth::chat(Arc::new(Mutant { inner: MemChat::default(), broken }))
}

/// Checks that each of the scenarios `by` catches the break.
pub(crate) async fn caught<B: Break + Clone>(broken: B, by: &[&str]) {
    frame::caught(&chat::table(), by, move |_| store(broken.clone())).await;
}

/// Returns a store with the break.
pub(crate) fn store<B: Break>(broken: B) -> Chat {
    Truth::chat(Arc::new(Mutant { inner: MemChat::default(), broken }))
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
        self.broken.erase(&self.inner, &self.broken.scope(scope), below).await
    }
}

#[async_trait]
impl<B: Break> ChatStore for Mutant<B> {
    async fn append(&self, scope: &Scope, session: &SessionId, batch: &Append) -> Result<Appended> {
        self.broken.append(&self.inner, &self.broken.scope(scope), session, batch).await
    }

    async fn restore(&self, scope: &Scope, session: &SessionId, rows: &[StoredMessage]) -> Result<Appended> {
        self.broken.restore(&self.inner, &self.broken.scope(scope), session, rows).await
    }

    async fn read(&self, scope: &Scope, session: &SessionId, page: &Page) -> Result<Slice> {
        self.broken.read(&self.inner, &self.broken.scope(scope), session, page).await
    }

    async fn get(&self, scope: &Scope, ids: &[MessageId]) -> Result<Found> {
        self.broken.get(&self.inner, &self.broken.scope(scope), ids).await
    }

    async fn sessions(&self, scope: &Scope, after: Option<&SessionId>, limit: usize) -> Result<Vec<SessionState>> {
        self.broken.sessions(&self.inner, &self.broken.scope(scope), after, limit).await
    }

    async fn compact(&self, scope: &Scope, session: &SessionId, change: &Compaction) -> Result<SessionState> {
        self.broken.compact(&self.inner, &self.broken.scope(scope), session, change).await
    }

    async fn redact(&self, scope: &Scope, ids: &[MessageId]) -> Result<Vec<Redacted>> {
        self.broken.redact(&self.inner, &self.broken.scope(scope), ids).await
    }

    async fn delete(&self, scope: &Scope, seen: &SessionState) -> Result<u64> {
        self.broken.delete(&self.inner, &self.broken.scope(scope), seen).await
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
        self.broken.revive(&self.inner, index).await
    }

    async fn indexes(&self) -> Result<Vec<Enlisted>> {
        self.broken.indexes(&self.inner).await
    }

    async fn retire(&self, index: &IndexName) -> Result<()> {
        self.inner.retire(index).await
    }

    async fn pending(&self, index: &IndexName, now: Timestamp, limit: usize) -> Result<Vec<Note>> {
        self.broken.pending(&self.inner, index, now, limit).await
    }

    async fn settle(&self, index: &IndexName, notes: &[(Note, Outcome)]) -> Result<()> {
        self.broken.settle(&self.inner, index, notes).await
    }

    async fn backlog(&self, index: &IndexName) -> Result<Backlog> {
        self.inner.backlog(index).await
    }

    async fn backlog_of(&self, scope: &Scope, index: &IndexName) -> Result<Backlog> {
        self.broken.backlog_of(&self.inner, &self.broken.scope(scope), index).await
    }

    async fn sweep(&self, now: Timestamp, limit: usize) -> Result<u64> {
        self.inner.sweep(now, limit).await
    }

    async fn owners(&self, after: Option<&Scope>, limit: usize) -> Result<Vec<Scope>> {
        self.broken.owners(&self.inner, after, limit).await
    }

    async fn bury(&self, scope: &Scope, seen: Epoch) -> Result<Epoch> {
        self.broken.bury(&self.inner, &self.broken.scope(scope), seen).await
    }

    async fn epoch(&self, scope: &Scope) -> Result<Epoch> {
        self.inner.epoch(&self.broken.scope(scope)).await
    }
}
