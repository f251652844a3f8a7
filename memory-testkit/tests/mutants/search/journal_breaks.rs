//! Broken journals.

use async_trait::async_trait;
use memory_core::reference::MemJournal;
use memory_core::store::chat::{Append, Fence};
use memory_core::store::journal::{Journal as _, Queued};
use memory_core::{Epoch, Error, MessageId, Result, Scope, SessionId};

use super::journals::{Break, caught};

/// Gives the newest messages first.
#[derive(Clone, Debug)]
struct NewestFirst;

#[async_trait]
impl Break for NewestFirst {
    async fn queued(
        &self,
        inner: &MemJournal,
        scope: Option<&Scope>,
        session: Option<&SessionId>,
        limit: usize,
    ) -> Result<Vec<Queued>> {
        let mut found = inner.queued(scope, session, usize::MAX).await?;
        found.reverse();
        found.truncate(limit);
        Ok(found)
    }
}

#[tokio::test]
async fn the_reverse_order_is_caught() {
    let by = ["messages_stand_in_the_order_of_their_pushes", "a_page_holds_the_oldest_messages"];
    caught(NewestFirst, &by).await;
}

/// Drops the oldest message where there is no room.
#[derive(Clone, Debug)]
struct DropsTheOldest;

#[async_trait]
impl Break for DropsTheOldest {
    async fn push(&self, inner: &MemJournal, scope: &Scope, session: &SessionId, batch: &Append) -> Result<u64> {
        loop {
            let pushed = inner.push(scope, session, batch).await;
            let oldest = inner.queued(None, None, 1).await?;
            match (&pushed, oldest.first()) {
                (Err(Error::QueueFull), Some(oldest)) => inner.acknowledge(&[oldest.number]).await?,
                _ => return pushed,
            }
        }
    }
}

#[tokio::test]
async fn a_journal_that_drops_messages_is_caught() {
    let by = ["a_full_queue_refuses_and_drops_nothing", "a_batch_that_does_not_fit_is_refused_as_a_whole"];
    caught(DropsTheOldest, &by).await;
}

/// Pushes a batch message by message, and stops where it fails or is dropped.
#[derive(Clone, Debug)]
struct PushesOneByOne;

#[async_trait]
impl Break for PushesOneByOne {
    async fn push(&self, inner: &MemJournal, scope: &Scope, session: &SessionId, batch: &Append) -> Result<u64> {
        let mut last = 0;
        for new in &batch.messages {
            last = inner.push(scope, session, &Append { messages: vec![new.clone()], ..batch.clone() }).await?;
            tokio::task::yield_now().await;
        }
        Ok(last)
    }
}

#[tokio::test]
async fn a_journal_that_pushes_one_by_one_is_caught() {
    caught(PushesOneByOne, &["a_batch_that_does_not_fit_is_refused_as_a_whole"]).await;
    caught(PushesOneByOne, &["pushes_given_up_halfway_happen_fully_or_not_at_all"]).await;
}

/// Throws rejected messages away.
#[derive(Clone, Debug)]
struct LosesRejected;

#[async_trait]
impl Break for LosesRejected {
    async fn reject(&self, inner: &MemJournal, number: u64, _: &str) -> Result<()> {
        inner.acknowledge(&[number]).await
    }
}

#[tokio::test]
async fn a_journal_that_loses_rejected_messages_is_caught() {
    let by = ["a_rejected_message_leaves_the_queue_and_keeps_its_reason", "a_revived_message_stands_at_the_end"];
    caught(LosesRejected, &by).await;
}

/// Revives every rejected message, named or not.
#[derive(Clone, Debug)]
struct RevivesAll;

#[async_trait]
impl Break for RevivesAll {
    async fn revive(&self, inner: &MemJournal, _: &[(u64, Option<Fence>)]) -> Result<()> {
        let all: Vec<_> =
            inner.rejected(None, usize::MAX).await?.iter().map(|rejected| (rejected.queued.number, None)).collect();
        inner.revive(&all).await
    }
}

#[tokio::test]
async fn a_journal_that_revives_all_is_caught() {
    caught(RevivesAll, &["a_revived_message_stands_at_the_end"]).await;
}

/// Shows a page of all owners for a page of one.
#[derive(Clone, Debug)]
struct IgnoresOwners;

#[async_trait]
impl Break for IgnoresOwners {
    async fn queued(
        &self,
        inner: &MemJournal,
        _: Option<&Scope>,
        session: Option<&SessionId>,
        limit: usize,
    ) -> Result<Vec<Queued>> {
        let mut found = inner.queued(None, None, usize::MAX).await?;
        found.retain(|queued| session.is_none_or(|session| queued.session == *session));
        found.truncate(limit);
        Ok(found)
    }
}

#[tokio::test]
async fn a_journal_that_ignores_owners_is_caught() {
    let by = ["a_page_of_one_owner_holds_nothing_of_others", "a_page_of_one_session_holds_nothing_of_others"];
    caught(IgnoresOwners, &by).await;
}

/// Leaves rejected messages behind, and takes a session for the whole owner.
#[derive(Clone, Debug)]
struct ErasesHalf;

#[async_trait]
impl Break for ErasesHalf {
    async fn erase(&self, inner: &MemJournal, scope: &Scope, _: Option<&SessionId>, _: Fence) -> Result<u64> {
        let queued = inner.queued(Some(scope), None, usize::MAX).await?;
        let numbers: Vec<_> = queued.iter().map(|queued| queued.number).collect();
        inner.acknowledge(&numbers).await?;
        Ok(numbers.len() as u64)
    }
}

#[tokio::test]
async fn an_erasure_that_leaves_or_takes_too_much_is_caught() {
    let by = ["erasing_an_owner_takes_queued_and_rejected_messages", "erasing_a_session_leaves_the_others"];
    caught(ErasesHalf, &by).await;
}

/// Erases what came after the erasure too.
#[derive(Clone, Debug)]
struct ErasesWhatIsNew;

#[async_trait]
impl Break for ErasesWhatIsNew {
    async fn erase(&self, inner: &MemJournal, scope: &Scope, session: Option<&SessionId>, _: Fence) -> Result<u64> {
        inner.erase(scope, session, Fence { epoch: Epoch(u64::MAX), generation: 0 }).await
    }
}

#[tokio::test]
async fn an_erasure_that_takes_what_came_later_is_caught() {
    caught(ErasesWhatIsNew, &["erasing_below_a_fence_leaves_what_came_later"]).await;
}

/// Forgets what is queued and keeps what was rejected.
#[derive(Clone, Debug)]
struct ForgetsHalf;

#[async_trait]
impl Break for ForgetsHalf {
    async fn forget(&self, inner: &MemJournal, scope: &Scope, ids: &[MessageId]) -> Result<u64> {
        let queued = inner.queued(Some(scope), None, usize::MAX).await?;
        let named = queued.iter().filter(|queued| ids.contains(&queued.new.message.id));
        let numbers: Vec<_> = named.map(|queued| queued.number).collect();
        inner.acknowledge(&numbers).await?;
        Ok(numbers.len() as u64)
    }
}

#[tokio::test]
async fn a_journal_that_keeps_forgotten_messages_is_caught() {
    caught(ForgetsHalf, &["forgetting_takes_the_named_messages_alone"]).await;
}

/// Revives messages without their fences.
#[derive(Clone, Debug)]
struct LosesFences;

#[async_trait]
impl Break for LosesFences {
    async fn revive(&self, inner: &MemJournal, revived: &[(u64, Option<Fence>)]) -> Result<()> {
        inner.revive(&revived.iter().map(|(number, _)| (*number, None)).collect::<Vec<_>>()).await
    }
}

#[tokio::test]
async fn a_journal_that_loses_the_fence_of_what_it_revives_is_caught() {
    caught(LosesFences, &["a_revived_message_carries_the_fence_it_is_given"]).await;
}

/// Discards messages that wait as well as rejected ones.
#[derive(Clone, Debug)]
struct DiscardsWaiting;

#[async_trait]
impl Break for DiscardsWaiting {
    async fn discard(&self, inner: &MemJournal, numbers: &[u64]) -> Result<u64> {
        inner.acknowledge(numbers).await?;
        inner.discard(numbers).await
    }
}

#[tokio::test]
async fn a_journal_that_discards_what_waits_is_caught() {
    caught(DiscardsWaiting, &["discarding_removes_rejected_messages_and_no_others"]).await;
}
