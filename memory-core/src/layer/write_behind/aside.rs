//! What was set aside: messages that the primary refused for good, and how they are queued again.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::sync::Arc;
use std::time::Duration;

use futures_util::future::{join_all, try_join_all};
use tokio::time::{Instant, timeout};

use crate::error::{Error, Result, Transience};
use crate::id::{MessageId, SessionId};
use crate::scope::{Epoch, Scope};
use crate::store::chat::{Fence, Page};
use crate::store::journal::{Queued, Rejection};

use super::queue::{Key, Stale};
use super::shared::{SESSIONS_AT_ONCE, Shared};

/// Why messages are rejected that are discarded at once.
const ERASED: &str = "the session or its owner was erased before the message was queued";

/// How long a retry waits for those who forget messages, then for those who queue some.
const PATIENCE: Duration = Duration::from_secs(5);

impl Shared {
    /// Returns up to `limit` messages that were set aside, of one owner or of all. Those whose session or owner was erased since are
    /// removed first: another process may have erased them, which knows nothing of this journal.
    ///
    /// # Errors
    /// That of the primary, if it does not tell how the sessions are.
    pub(super) async fn refused(&self, scope: Option<&Scope>, limit: usize) -> Result<Vec<Rejection>> {
        let mut refused = self.journal.rejected(scope, usize::MAX).await?;
        let fences = self.fences(refused.iter().map(|rejection| key(&rejection.queued)).collect()).await?;
        let is_erased = |rejection: &Rejection| {
            let now = fences.get(&key(&rejection.queued));
            now.zip(rejection.queued.fence.as_ref()).is_some_and(|(now, fence)| fence < now)
        };
        let erased: Vec<u64> =
            refused.iter().filter(|refused| is_erased(refused)).map(|refused| refused.queued.number).collect();
        if !erased.is_empty() {
            self.journal.discard(&erased).await?;
        }
        refused.retain(|rejection| !erased.contains(&rejection.queued.number));
        refused.truncate(limit);
        Ok(refused)
    }

    /// Returns the fences that the primary has now of these sessions.
    ///
    /// # Errors
    /// That of the primary.
    async fn fences(&self, sessions: BTreeSet<Key>) -> Result<BTreeMap<Key, Fence>> {
        let sessions: Vec<Key> = sessions.into_iter().collect();
        let mut fences = BTreeMap::new();
        for some in sessions.chunks(SESSIONS_AT_ONCE) {
            let read = some.iter().map(|(scope, session)| self.fence_of(scope, session));
            let read = try_join_all(read).await?;
            fences.extend(some.iter().cloned().zip(read));
        }
        Ok(fences)
    }

    async fn fence_of(&self, scope: &Scope, session: &SessionId) -> Result<Fence> {
        Ok(self.inner.read(scope, session, &Page::newest(0)).await?.state.fence)
    }

    /// Queues messages of an owner again that were set aside, or that a retry left in the journal; returns how many.
    ///
    /// # Errors
    /// That of the primary, if it does not tell how the sessions are; `Overloaded` if other calls for the owner queue or
    /// forget messages for too long.
    pub(super) async fn retry(self: &Arc<Self>, scope: &Scope, ids: &[MessageId]) -> Result<usize> {
        let floor = self.queue.lock().floor(scope);
        let refused = self.refused(Some(scope), usize::MAX).await?.into_iter().map(|refused| refused.queued);
        let meant: Vec<Queued> = refused.filter(|queued| ids.contains(&queued.new.message.id)).collect();
        let fences = self.fences(meant.iter().map(key).collect()).await?;
        let fence = |queued: &Queued| fences.get(&key(queued)).copied();
        let revived: Vec<(u64, Option<Fence>)> = meant.iter().map(|queued| (queued.number, fence(queued))).collect();
        // In a task: those who wait for it do so whether or not the caller does.
        let queued = tokio::spawn(Arc::clone(self).revive(scope.clone(), ids.to_vec(), revived, floor)).await;
        let lost = |_| Err(self.unqueued("the task ended without an answer", Transience::Transient { after: None }));
        queued.unwrap_or_else(lost)
    }

    /// Moves messages back into the queue of the journal, and takes over those with these ids. When the fences were read that they
    /// get, `floor` was the least epoch of the owner.
    async fn revive(
        self: Arc<Self>,
        scope: Scope,
        ids: Vec<MessageId>,
        revived: Vec<(u64, Option<Fence>)>,
        floor: Epoch,
    ) -> Result<usize> {
        let gate = self.gates.of(&scope);
        let _retry = timeout(PATIENCE, gate.retries.write()).await.map_err(|_| Error::Overloaded)?;
        let _alone = timeout(PATIENCE, gate.pushes.write()).await.map_err(|_| Error::Overloaded)?;
        let _push = self.pushes.read().await;
        self.check_open()?;
        self.journal.revive(&revived).await?;
        self.adopt(&scope, &ids, floor).await
    }

    /// Takes over messages of an owner with these ids that wait in the journal and not here; returns how many. Nobody else
    /// queues messages of the owner meanwhile, or forgets any.
    ///
    /// Only an erasure of the owner that was noted since its least epoch was `floor` counts against them. Their fences are those that
    /// the primary had then, which are older than what is known here if the primary has gone back to an older state.
    async fn adopt(&self, scope: &Scope, ids: &[MessageId], floor: Epoch) -> Result<usize> {
        // Before the journal is read, and first the queue: what leaves it is among those kept, until the journal has removed it.
        let mut here: BTreeSet<u64> = {
            let queue = self.queue.lock();
            let sessions = queue.sessions(scope, None);
            let snapshots = sessions.iter().filter_map(|session| queue.snapshot(scope, session));
            snapshots.flat_map(|snapshot| snapshot.rows).map(|row| row.queued.number).collect()
        };
        here.extend(self.kept.lock().iter());
        let ids: HashSet<&MessageId> = ids.iter().collect();
        let mut lost = self.journal.queued(Some(scope), None, usize::MAX).await?;
        lost.retain(|queued| ids.contains(&queued.new.message.id) && !here.contains(&queued.number));
        let (count, overtaken): (usize, Vec<u64>) = {
            let mut queue = self.queue.lock();
            let least = queue.floor(scope);
            let is_overtaken =
                |queued: &Queued| least > floor && queued.is_before(Fence { epoch: least, generation: 0 });
            let (overtaken, lost): (Vec<Queued>, Vec<Queued>) = lost.into_iter().partition(is_overtaken);
            let sessions: BTreeSet<SessionId> = lost.iter().map(|queued| queued.session.clone()).collect();
            let (count, now) = (lost.len(), Instant::now());
            queue.insert(lost, now);
            sessions.iter().for_each(|session| queue.hasten(scope, session, now));
            (count, overtaken.into_iter().map(|queued| queued.number).collect())
        };
        self.wake.notify_one();
        if !overtaken.is_empty() {
            self.withdraw(overtaken).await?;
        }
        Ok(count)
    }

    /// Notes messages that were erased and that the journal still has: whatever becomes of the call, they leave it without a trace.
    pub(super) fn doom(&self, numbers: &[u64]) {
        // First: an erased message that is not kept counts as removed from the queue of the journal.
        self.kept.lock().extend(numbers);
        self.erased.lock().extend(numbers);
    }

    /// Removes messages from the journal that were erased, or that came into it after their session or owner had been, so that
    /// nothing of them remains there. They are set aside first: if the process ends, a look at what was set aside removes those that
    /// have a fence.
    ///
    /// # Errors
    /// That of the journal, if it cannot remove them now. It does with the next ones that it removes.
    pub(super) async fn withdraw(&self, numbers: Vec<u64>) -> Result<()> {
        self.doom(&numbers);
        // At once: the journal makes what comes together durable together.
        let rejected = join_all(numbers.iter().map(|number| self.journal.reject(*number, ERASED))).await;
        let discarded = self.journal.discard(&numbers).await;
        for (number, rejected) in numbers.iter().zip(rejected) {
            if rejected.is_ok() && discarded.is_ok() {
                self.erased.lock().remove(number);
            } else {
                self.erased.lock().insert(*number);
            }
            self.note(rejected);
        }
        // What could not be rejected is removed as what the primary has, and what remains of it then.
        self.acknowledge(numbers).await;
        discarded.map(drop)
    }

    /// Removes what remains where the journal stands of messages that were erased. Those that are still kept are left to whoever
    /// acknowledges them: the journal removes nothing of a message that waits in it.
    pub(super) async fn clear(&self) {
        let mut erased: Vec<u64> = self.erased.lock().iter().copied().collect();
        {
            let kept = self.kept.lock();
            erased.retain(|number| !kept.contains(number));
        }
        if erased.is_empty() {
            return;
        }
        let discarded = self.journal.discard(&erased).await;
        if discarded.is_ok() {
            let mut left = self.erased.lock();
            for number in &erased {
                left.remove(number);
            }
        }
        self.note(discarded);
    }

    /// Removes what was set aside of a session, if its fence is known and `is_older`.
    pub(super) async fn discard_older(
        &self,
        scope: &Scope,
        session: &SessionId,
        is_older: impl Fn(Fence) -> bool + Send,
    ) -> Result<()> {
        let refused = self.journal.rejected(Some(scope), usize::MAX).await?.into_iter().map(|refused| refused.queued);
        let meant = refused.filter(|queued| queued.session == *session && queued.fence.is_some_and(&is_older));
        let numbers: Vec<u64> = meant.map(|queued| queued.number).collect();
        self.journal.discard(&numbers).await.map(drop)
    }

    /// Returns the numbers of what was set aside of the same sessions before their erasure, where its fence is known. Reads what was
    /// set aside of an owner once, however many sessions it is of.
    pub(super) async fn aside_before(&self, stale: &[Stale]) -> Vec<u64> {
        let mut owners: BTreeMap<&Scope, BTreeMap<&SessionId, Fence>> = BTreeMap::new();
        for Stale { scope, session, below, .. } in stale {
            let least = owners.entry(scope).or_default().entry(session).or_default();
            *least = (*least).max(*below);
        }
        let mut numbers = Vec::new();
        for (scope, sessions) in owners {
            let is_before = |queued: &Queued| {
                let below = sessions.get(&queued.session);
                queued.fence.zip(below).is_some_and(|(fence, below)| fence < *below)
            };
            match self.journal.rejected(Some(scope), usize::MAX).await {
                Ok(refused) => {
                    let queued = refused.into_iter().map(|refused| refused.queued);
                    numbers.extend(queued.filter(is_before).map(|queued| queued.number));
                }
                failed => self.note(failed),
            }
        }
        numbers
    }
}

/// Returns the session of a message.
fn key(queued: &Queued) -> Key {
    (queued.scope.clone(), queued.session.clone())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::layer::{WriteBehind, WriteBehindPolicy};
    use crate::reference::{MemChat, MemJournal};
    use crate::store::truth::Truth;

    #[tokio::test]
    async fn what_was_erased_is_cleared_only_once_it_does_not_wait_in_the_journal() {
        let (primary, journal) = (Truth::chat(Arc::new(MemChat::default())), Arc::new(MemJournal::new(10)));
        let behind = WriteBehind::open(primary, journal, WriteBehindPolicy::default()).await.unwrap();
        let shared = &behind.shared;
        shared.doom(&[7]);
        // That of a flush which has acknowledged others, and does not know of this one.
        shared.clear().await;
        assert_eq!(*shared.erased.lock(), BTreeSet::from([7]));
        shared.acknowledge(Vec::new()).await;
        assert!(shared.kept.lock().is_empty() && shared.erased.lock().is_empty());
    }
}
