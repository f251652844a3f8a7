//! Conversations behind a journal: appends are queued, reads see what waits, and whatever changes what is stored sends it first.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use async_trait::async_trait;
use futures_util::future::try_join_all;
use tokio::time::Instant;

use crate::error::{Error, Result};
use crate::id::{MessageId, Seq, SessionId};
use crate::message::StoredMessage;
use crate::outlive::to_end;
use crate::scope::{Epoch, Scope};
use crate::store::chat::{
    Append, Appended, ChatStore, Compaction, Fence, FoundMessages, Page, Redacted, SessionState, Slice, View,
};
use crate::store::journal::Queued;
use crate::store::{Erased, Health, Store};

use super::overlay::sessions_with;
use super::queue::admit::{Admitted, Look};
use super::shared::{CLOSING, SESSIONS_AT_ONCE, Shared};

/// The conversation store of the layer.
#[derive(Debug)]
pub(super) struct Behind {
    shared: Arc<Shared>,
}

impl Behind {
    pub(super) fn new(shared: Arc<Shared>) -> Self {
        Self { shared }
    }

    /// Checks an append, and returns what of it is to be queued. Looks at the session if what is known of it does not tell.
    async fn admit(&self, scope: &Scope, session: &SessionId, batch: &Append) -> Result<Admitted> {
        let (admitted, before) = {
            let queue = self.shared.queue.lock();
            let before = queue.known(scope, session).map(|state| state.fence);
            (queue.admit(scope, session, batch, Look::NotYet)?, before)
        };
        if let Some(admitted) = admitted {
            return Ok(admitted);
        }
        let look = match self.shared.inner.read(scope, session, &Page::newest(0)).await {
            Ok(slice) => {
                self.shared.queue.lock().learn(scope, &slice.state, before);
                Look::Answered
            }
            Err(error) if error.is_retryable() => Look::Away,
            Err(error) => return Err(error),
        };
        let admitted = self.shared.queue.lock().admit(scope, session, batch, look)?;
        admitted.ok_or(Error::Overloaded)
    }

    /// Puts messages into the journal that were admitted when `floor` was the least epoch of their owner, and returns whether it has
    /// room for them. Goes on to its end, also if the caller goes away.
    ///
    /// # Errors
    /// `Fenced` if their session or owner was erased meanwhile: then the journal holds nothing of them. That of the journal if it
    /// cannot remove them then.
    async fn push(&self, scope: &Scope, session: &SessionId, batch: Append, floor: Epoch) -> Result<bool> {
        let (shared, scope, session) = (Arc::clone(&self.shared), scope.clone(), session.clone());
        let pushed = async move {
            let gate = shared.gates.of(&scope);
            let _beside = gate.pushes.read().await;
            let _push = shared.pushes.read().await;
            shared.check_open()?;
            let last = match shared.journal.push(&scope, &session, &batch).await {
                Err(Error::QueueFull) => return Ok(false),
                last => last?,
            };
            let Append { fence, asked, messages } = batch;
            let first = last.saturating_add(1).saturating_sub(messages.len() as u64);
            let queued =
                |(number, new)| Queued { number, scope: scope.clone(), session: session.clone(), fence, asked, new };
            let is_overtaken = {
                let mut queue = shared.queue.lock();
                // An erasure that is noted after this finds them in the journal. One that was noted before may have looked too early.
                let is_overtaken = queue.is_overtaken(&scope, &session, fence, floor);
                if !is_overtaken {
                    queue.insert((first..).zip(messages).map(queued).collect(), Instant::now());
                }
                is_overtaken
            };
            if is_overtaken {
                shared.withdraw((first..=last).collect()).await?;
                return Err(Error::Fenced);
            }
            shared.wake.notify_one();
            Ok(true)
        };
        to_end(pushed).await
    }
}

#[async_trait]
impl Store for Behind {
    fn backend(&self) -> &'static str {
        self.shared.inner.backend()
    }

    async fn ping(&self) -> Result<Health> {
        Ok(self.shared.health(self.shared.inner.ping().await?))
    }

    async fn close(&self) -> Result<()> {
        // First: what is acknowledged after the last flush would wait until the journal is opened again.
        self.shared.refuse().await;
        if !self.shared.is_closed.load(Ordering::Acquire) {
            self.shared.drain(CLOSING).await;
            self.shared.end().await;
        }
        let waiting = self.shared.queue.lock().count();
        if waiting > 0 {
            tracing::warn!(waiting, "messages stay in the journal until it is opened again");
        }
        let closed = self.shared.inner.close().await;
        self.shared.journal.close().await.and(closed)
    }

    async fn erase(&self, scope: &Scope, below: Epoch) -> Result<Erased> {
        let erased = self.shared.inner.erase(scope, below).await?;
        self.shared.queue.lock().bury(scope, below);
        let queued = self.shared.journal.erase(scope, None, Fence { epoch: below, generation: 0 }).await?;
        self.shared.drop_stale().await;
        Ok(Erased { removed: erased.removed + queued, ..erased })
    }
}

#[async_trait]
impl ChatStore for Behind {
    async fn append(&self, scope: &Scope, session: &SessionId, batch: &Append) -> Result<Appended> {
        let shared = &self.shared;
        if batch.messages.is_empty() {
            return shared.inner.append(scope, session, batch).await;
        }
        let Admitted { new, placements, floor } = self.admit(scope, session, batch).await?;
        if !new.messages.is_empty() && !self.push(scope, session, new, floor).await? {
            // More than the journal can ever hold goes straight to the primary, before which nothing waits.
            if shared.queue.lock().count() == 0 {
                return shared.inner.append(scope, session, batch).await;
            }
            return Err(Error::QueueFull);
        }
        let state = shared.queue.lock().state(scope, session);
        Ok(Appended { placements, state, durability: shared.durability() })
    }

    async fn restore(
        &self,
        scope: &Scope,
        session: &SessionId,
        fence: Option<Fence>,
        rows: &[StoredMessage],
    ) -> Result<Appended> {
        let ids: Vec<MessageId> = rows.iter().map(|row| row.id).collect();
        self.shared.settle(scope, Some(session), &ids).await?;
        let restored = self.shared.inner.restore(scope, session, fence, rows).await?;
        self.shared.queue.lock().know(scope, &restored.state);
        Ok(restored)
    }

    async fn read(&self, scope: &Scope, session: &SessionId, page: &Page) -> Result<Slice> {
        if page.view == View::All {
            // What is exported or moved has its final numbers.
            self.shared.flush_session(scope, session).await?;
            return self.shared.inner.read(scope, session, page).await;
        }
        Ok(self.shared.read(scope, session, page).await?.page(page))
    }

    async fn get(&self, scope: &Scope, ids: &[MessageId]) -> Result<FoundMessages> {
        self.shared.get(scope, ids).await
    }

    async fn sessions(&self, scope: &Scope, after: Option<&SessionId>, limit: usize) -> Result<Vec<SessionState>> {
        let mut waiting = self.shared.queue.lock().sessions(scope, after);
        let listed = self.shared.inner.sessions(scope, after, limit).await?;
        if listed.len() >= limit {
            // The page ends with the last one at the latest.
            waiting.retain(|session| listed.last().is_some_and(|last| *session <= last.session));
        }
        let (nothing, mut others) = (Page::newest(0), Vec::new());
        for some in waiting.chunks(SESSIONS_AT_ONCE) {
            if others.iter().filter(|state: &&SessionState| state.head > Seq(0)).count() >= limit {
                break;
            }
            let read = some.iter().map(|session| self.shared.read(scope, session, &nothing));
            others.extend(try_join_all(read).await?.into_iter().map(|both| both.page(&nothing).state));
        }
        Ok(sessions_with(listed, others, limit))
    }

    async fn compact(&self, scope: &Scope, session: &SessionId, change: &Compaction) -> Result<SessionState> {
        let id = match change {
            Compaction::Fold { summary, .. } => summary.message.id,
            Compaction::Unfold { summary } => *summary,
        };
        self.shared.settle(scope, Some(session), &[id]).await?;
        let state = self.shared.inner.compact(scope, session, change).await?;
        self.shared.queue.lock().know(scope, &state);
        Ok(state)
    }

    async fn redact(&self, scope: &Scope, ids: &[MessageId]) -> Result<Vec<Redacted>> {
        let gate = self.shared.gates.of(scope);
        let _beside = gate.retries.read().await;
        // They get their numbers first, and leave a mark there: so a repeat of the append does not bring them back.
        self.shared.settle(scope, None, ids).await?;
        let left = self.shared.journal.forget(scope, ids).await;
        let redacted = self.shared.inner.redact(scope, ids).await?;
        self.shared.queue.lock().forget(scope, &redacted);
        // Last, so that a journal that can remove nothing, such as on a full disk, does not keep the primary's texts readable.
        left.map(|_| redacted)
    }

    async fn delete(&self, scope: &Scope, seen: &SessionState) -> Result<u64> {
        let gate = self.shared.gates.of(scope);
        let _beside = gate.retries.read().await;
        self.shared.flush_session(scope, &seen.session).await?;
        let deleted = self.shared.inner.delete(scope, seen).await?;
        let now = self.shared.inner.read(scope, &seen.session, &Page::newest(0)).await?.state;
        {
            let mut queue = self.shared.queue.lock();
            queue.know(scope, &now);
            queue.free(scope, &seen.session);
        }
        self.shared.journal.erase(scope, Some(&seen.session), now.fence).await?;
        // A session that the primary does not have is deleted without a new fence.
        self.shared.discard_older(scope, &seen.session, |fence| fence <= seen.fence).await?;
        self.shared.drop_stale().await;
        Ok(deleted)
    }
}
