//! Breaks of what stands beside the messages for budgets.

use async_trait::async_trait;
use memory_core::reference::MemChat;
use memory_core::store::chat::{Append, Appended, ChatStore as _, Fence, FoundMessages, Page, Slice};
use memory_core::{CounterId, MessageId, Result, Scope, SessionId, StoredMessage};

use crate::chat_stores::{Break, caught};

/// Keeps counts alone.
#[derive(Clone, Debug)]
struct DropsCounters;

#[async_trait]
impl Break for DropsCounters {
    async fn append(&self, inner: &MemChat, scope: &Scope, session: &SessionId, batch: &Append) -> Result<Appended> {
        let mut batch = batch.clone();
        batch.messages.iter_mut().for_each(|new| new.counter = CounterId::UNKNOWN);
        inner.append(scope, session, &batch).await
    }
}

#[tokio::test]
async fn a_store_that_drops_counters_is_caught() {
    caught(DropsCounters, &["keeps_who_counted_each_message", "s2_9_reads_any_history_as_the_model_does"]).await;
}

/// Raises the revision by one where a session is deleted.
#[derive(Clone, Debug)]
struct CountsDeletions;

#[async_trait]
impl Break for CountsDeletions {
    async fn read(&self, inner: &MemChat, scope: &Scope, session: &SessionId, page: &Page) -> Result<Slice> {
        let mut slice = inner.read(scope, session, page).await?;
        slice.state.revision -= slice.state.fence.generation * 1_000;
        Ok(slice)
    }
}

#[tokio::test]
async fn a_revision_that_does_not_tell_of_a_deletion_is_caught() {
    caught(CountsDeletions, &["the_revision_tells_where_the_generation_began"]).await;
}

/// Keeps one counter for each batch.
#[derive(Clone, Debug)]
struct MixesCounters;

#[async_trait]
impl Break for MixesCounters {
    async fn append(&self, inner: &MemChat, scope: &Scope, session: &SessionId, batch: &Append) -> Result<Appended> {
        let mut batch = batch.clone();
        let first = batch.messages.first().map(|new| new.counter).unwrap_or_default();
        batch.messages.iter_mut().for_each(|new| new.counter = first);
        inner.append(scope, session, &batch).await
    }
}

#[tokio::test]
async fn a_store_that_mixes_counters_up_is_caught() {
    caught(MixesCounters, &["keeps_who_counted_each_message", "s2_9_reads_any_history_as_the_model_does"]).await;
}

/// Answers without the counter where a message is asked for by its id.
#[derive(Clone, Debug)]
struct GetsNoCounters;

#[async_trait]
impl Break for GetsNoCounters {
    async fn get(&self, inner: &MemChat, scope: &Scope, ids: &[MessageId]) -> Result<FoundMessages> {
        let mut found = inner.get(scope, ids).await?;
        found.messages.iter_mut().for_each(|row| row.counter = CounterId::UNKNOWN);
        Ok(found)
    }
}

#[tokio::test]
async fn a_store_that_gets_no_counters_is_caught() {
    caught(GetsNoCounters, &["keeps_who_counted_each_message"]).await;
}

/// Restores counts alone.
#[derive(Clone, Debug)]
struct RestoresNoCounters;

#[async_trait]
impl Break for RestoresNoCounters {
    async fn restore(
        &self,
        inner: &MemChat,
        scope: &Scope,
        session: &SessionId,
        fence: Option<Fence>,
        rows: &[StoredMessage],
    ) -> Result<Appended> {
        let mut rows = rows.to_vec();
        rows.iter_mut().for_each(|row| row.counter = CounterId::UNKNOWN);
        inner.restore(scope, session, fence, &rows).await
    }
}

#[tokio::test]
async fn a_store_that_restores_no_counters_is_caught() {
    caught(RestoresNoCounters, &["restores_who_counted", "moves_any_history_to_another_owner"]).await;
}

/// Knows of no budget.
#[derive(Clone, Debug)]
struct ForgetsBudgets;

#[async_trait]
impl Break for ForgetsBudgets {
    async fn append(&self, inner: &MemChat, scope: &Scope, session: &SessionId, batch: &Append) -> Result<Appended> {
        inner.append(scope, session, &Append { asked: 0, ..batch.clone() }).await
    }
}

#[tokio::test]
async fn a_store_that_forgets_budgets_is_caught() {
    caught(ForgetsBudgets, &["keeps_the_largest_budget_asked"]).await;
}

/// Answers with the newest budget, not the largest.
#[derive(Clone, Debug)]
struct AnswersWithTheNewestBudget;

#[async_trait]
impl Break for AnswersWithTheNewestBudget {
    async fn append(&self, inner: &MemChat, scope: &Scope, session: &SessionId, batch: &Append) -> Result<Appended> {
        let mut appended = inner.append(scope, session, batch).await?;
        appended.state.asked = batch.asked;
        Ok(appended)
    }
}

#[tokio::test]
async fn a_store_that_answers_with_the_newest_budget_is_caught() {
    caught(AnswersWithTheNewestBudget, &["keeps_the_largest_budget_asked"]).await;
}
