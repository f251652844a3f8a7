//! Journals that are whole but for what a [`Break`] changes.

use std::fmt::Debug;
use std::sync::Arc;

use async_trait::async_trait;
use memory_core::chat::Append;
use memory_core::journal::{Journal, Queued, Rejection};
use memory_core::reference::MemJournal;
use memory_core::store::Durability;
use memory_core::{Result, Scope, SessionId};
use memory_testkit::{Journals, journal};

use crate::frame;

/// What is broken: the methods that are not given here are whole.
#[async_trait]
pub(crate) trait Break: Debug + Send + Sync + 'static {
    async fn push(&self, inner: &MemJournal, scope: &Scope, session: &SessionId, batch: &Append) -> Result<u64> {
        inner.push(scope, session, batch).await
    }

    async fn queued(
        &self,
        inner: &MemJournal,
        scope: Option<&Scope>,
        session: Option<&SessionId>,
        limit: usize,
    ) -> Result<Vec<Queued>> {
        inner.queued(scope, session, limit).await
    }

    async fn reject(&self, inner: &MemJournal, number: u64, why: &str) -> Result<()> {
        inner.reject(number, why).await
    }

    async fn revive(&self, inner: &MemJournal, numbers: &[u64]) -> Result<()> {
        inner.revive(numbers).await
    }

    async fn erase(&self, inner: &MemJournal, scope: &Scope, session: Option<&SessionId>) -> Result<u64> {
        inner.erase(scope, session).await
    }
}

/// A journal with a break.
#[derive(Debug)]
struct Mutant<B> {
    inner: MemJournal,
    broken: B,
}

/// Returns a journal with the break.
pub(crate) fn store<B: Break>(capacity: usize, broken: B) -> Journals {
    Arc::new(Mutant { inner: MemJournal::new(capacity), broken })
}

/// Checks that each of the scenarios `by` catches the break.
pub(crate) async fn caught<B: Break + Clone>(broken: B, by: &[&str]) {
    frame::caught(&journal::table(), by, move |setting| store(setting.capacity, broken.clone())).await;
}

#[async_trait]
impl<B: Break> Journal for Mutant<B> {
    fn durability(&self) -> Durability {
        self.inner.durability()
    }

    async fn push(&self, scope: &Scope, session: &SessionId, batch: &Append) -> Result<u64> {
        self.broken.push(&self.inner, scope, session, batch).await
    }

    async fn queued(&self, scope: Option<&Scope>, session: Option<&SessionId>, limit: usize) -> Result<Vec<Queued>> {
        self.broken.queued(&self.inner, scope, session, limit).await
    }

    async fn acknowledge(&self, numbers: &[u64]) -> Result<()> {
        self.inner.acknowledge(numbers).await
    }

    async fn reject(&self, number: u64, why: &str) -> Result<()> {
        self.broken.reject(&self.inner, number, why).await
    }

    async fn rejected(&self, limit: usize) -> Result<Vec<Rejection>> {
        self.inner.rejected(limit).await
    }

    async fn revive(&self, numbers: &[u64]) -> Result<()> {
        self.broken.revive(&self.inner, numbers).await
    }

    async fn erase(&self, scope: &Scope, session: Option<&SessionId>) -> Result<u64> {
        self.broken.erase(&self.inner, scope, session).await
    }
}
