//! Broken changes of what was appended.

use async_trait::async_trait;
use memory_core::reference::MemChat;
use memory_core::store::chat::{Appended, ChatStore as _, Compaction, Fence, Page, Redacted, SessionState, View};
use memory_core::store::upkeep::Upkeep as _;
use memory_core::{Epoch, MessageId, Result, Scope, Seq, SessionId, StoredMessage};

use crate::chat_stores::{Break, caught};

/// Folds whatever is active, whatever the caller has seen.
#[derive(Clone, Debug)]
struct ComparesNothing;

#[async_trait]
impl Break for ComparesNothing {
    async fn compact(
        &self,
        inner: &MemChat,
        scope: &Scope,
        session: &SessionId,
        change: &Compaction,
    ) -> Result<SessionState> {
        let Compaction::Fold { fence, span, summary, .. } = change else {
            return inner.compact(scope, session, change).await;
        };
        let rows = inner.read(scope, session, &Page::after(Seq(0), usize::MAX, View::Active)).await?.messages;
        let ids = rows.iter().filter(|row| span.contains(row.seq)).map(|row| row.id).collect();
        let change = Compaction::Fold { fence: *fence, span: *span, ids, summary: summary.clone() };
        inner.compact(scope, session, &change).await
    }
}

#[tokio::test]
async fn a_fold_that_compares_nothing_is_caught() {
    caught(ComparesNothing, &["refuses_a_fold_of_other_rows_than_are_active"]).await;
}

/// Folds rows of the same ids, whatever was deleted or erased since the caller saw them.
#[derive(Clone, Debug)]
struct FoldsWithoutAFence;

#[async_trait]
impl Break for FoldsWithoutAFence {
    async fn compact(
        &self,
        inner: &MemChat,
        scope: &Scope,
        session: &SessionId,
        change: &Compaction,
    ) -> Result<SessionState> {
        let mut change = change.clone();
        if let Compaction::Fold { fence, .. } = &mut change {
            *fence = inner.read(scope, session, &Page::newest(0)).await?.state.fence;
        }
        inner.compact(scope, session, &change).await
    }
}

#[tokio::test]
async fn a_fold_without_a_fence_is_caught() {
    let by = [
        "refuses_a_fold_from_before_a_deletion",
        "refuses_a_fold_from_before_an_erasure",
        "refuses_a_fold_with_a_fence_that_nobody_has_seen",
    ];
    caught(FoldsWithoutAFence, &by).await;
}

/// Loses the first original of a summary that is unfolded.
#[derive(Clone, Debug)]
struct LosesAnOriginal;

#[async_trait]
impl Break for LosesAnOriginal {
    async fn compact(
        &self,
        inner: &MemChat,
        scope: &Scope,
        session: &SessionId,
        change: &Compaction,
    ) -> Result<SessionState> {
        let all = inner.read(scope, session, &Page::after(Seq(0), usize::MAX, View::All)).await?.messages;
        let state = inner.compact(scope, session, change).await?;
        let Compaction::Unfold { summary } = change else { return Ok(state) };
        let lost = all.iter().find(|row| row.archived_by == Some(*summary)).map(|row| row.id);
        inner.redact(scope, lost.as_slice()).await?;
        Ok(state)
    }
}

#[tokio::test]
async fn an_unfold_that_loses_an_original_is_caught() {
    caught(LosesAnOriginal, &["an_unfold_makes_the_originals_active_again"]).await;
}

/// Says that no summary fell with a message.
#[derive(Clone, Debug)]
struct HidesFallenSummaries;

#[async_trait]
impl Break for HidesFallenSummaries {
    async fn redact(&self, inner: &MemChat, scope: &Scope, ids: &[MessageId]) -> Result<Vec<Redacted>> {
        let mut touched = inner.redact(scope, ids).await?;
        touched.iter_mut().for_each(|touched| touched.summaries.clear());
        Ok(touched)
    }
}

#[tokio::test]
async fn a_redaction_that_hides_fallen_summaries_is_caught() {
    caught(HidesFallenSummaries, &["a_summary_falls_with_a_message_it_covers"]).await;
}

/// Keeps the summaries of a message that is forgotten, and with them what they say of it.
#[derive(Clone, Debug)]
struct KeepsSummaries;

#[async_trait]
impl Break for KeepsSummaries {
    async fn redact(&self, inner: &MemChat, scope: &Scope, ids: &[MessageId]) -> Result<Vec<Redacted>> {
        let rows = inner.get(scope, ids).await?.messages;
        let free: Vec<_> = rows.iter().filter(|row| row.archived_by.is_none()).map(|row| row.id).collect();
        inner.redact(scope, &free).await
    }
}

#[tokio::test]
async fn a_redaction_that_spares_archived_messages_is_caught() {
    caught(KeepsSummaries, &["a_summary_falls_with_a_message_it_covers", "all_summaries_around_a_message_fall"]).await;
}

/// Frees the ids of messages that are forgotten, by deleting their session and writing it anew.
#[derive(Clone, Debug)]
struct FreesForgottenIds;

#[async_trait]
impl Break for FreesForgottenIds {
    async fn redact(&self, inner: &MemChat, scope: &Scope, ids: &[MessageId]) -> Result<Vec<Redacted>> {
        let touched = inner.redact(scope, ids).await?;
        for session in touched.iter().map(|touched| &touched.session) {
            let mut rows = inner.read(scope, session, &Page::after(Seq(0), usize::MAX, View::All)).await?.messages;
            for row in rows.iter_mut().filter(|row| row.message.is_none()) {
                row.id = MessageId::fresh();
            }
            let seen = inner.read(scope, session, &Page::newest(0)).await?.state;
            inner.delete(scope, &seen).await?;
            inner.restore(scope, session, None, &rows).await?;
        }
        Ok(touched)
    }
}

#[tokio::test]
async fn a_redaction_that_frees_ids_is_caught() {
    caught(FreesForgottenIds, &["ids_and_numbers_of_forgotten_messages_stay_taken"]).await;
}

/// Restores every row as active.
#[derive(Clone, Debug)]
struct LosesMarks;

#[async_trait]
impl Break for LosesMarks {
    async fn restore(
        &self,
        inner: &MemChat,
        scope: &Scope,
        session: &SessionId,
        fence: Option<Fence>,
        rows: &[StoredMessage],
    ) -> Result<Appended> {
        let mut rows = rows.to_vec();
        rows.iter_mut().for_each(|row| row.archived_by = None);
        inner.restore(scope, session, fence, &rows).await
    }
}

#[tokio::test]
async fn a_restore_that_loses_marks_is_caught() {
    caught(LosesMarks, &["a_restored_session_equals_the_exported_one", "moves_any_history_to_another_owner"]).await;
}

/// Deletes every session whose name begins with this one's.
#[derive(Clone, Debug)]
struct DeletesByPrefix;

#[async_trait]
impl Break for DeletesByPrefix {
    async fn delete(&self, inner: &MemChat, scope: &Scope, seen: &SessionState) -> Result<u64> {
        for state in inner.sessions(scope, None, usize::MAX).await? {
            if state.session != seen.session && state.session.name().starts_with(seen.session.name()) {
                inner.delete(scope, &state).await?;
            }
        }
        inner.delete(scope, seen).await
    }
}

#[tokio::test]
async fn a_deletion_by_prefix_is_caught() {
    caught(DeletesByPrefix, &["a_deletion_touches_no_other_session_and_owner"]).await;
}

/// Deletes a session with what was said since it was looked at.
#[derive(Clone, Debug)]
struct TakesWhatWasSaidSince;

#[async_trait]
impl Break for TakesWhatWasSaidSince {
    async fn delete(&self, inner: &MemChat, scope: &Scope, seen: &SessionState) -> Result<u64> {
        let now = inner.read(scope, &seen.session, &Page::newest(0)).await?.state;
        inner.delete(scope, &SessionState { head: now.head, ..seen.clone() }).await
    }
}

#[tokio::test]
async fn a_deletion_that_takes_what_was_said_since_is_caught() {
    caught(TakesWhatWasSaidSince, &["a_deletion_spares_a_session_that_has_changed_since"]).await;
}

/// Deletes and buries whatever is there, also what came after it was asked for.
#[derive(Clone, Debug)]
struct TakesWhatCameSince;

#[async_trait]
impl Break for TakesWhatCameSince {
    async fn delete(&self, inner: &MemChat, scope: &Scope, seen: &SessionState) -> Result<u64> {
        let now = inner.read(scope, &seen.session, &Page::newest(0)).await?.state;
        inner.delete(scope, &now).await
    }

    async fn bury(&self, inner: &MemChat, scope: &Scope, _: Epoch) -> Result<Epoch> {
        let seen = inner.epoch(scope).await?;
        inner.bury(scope, seen).await
    }
}

#[tokio::test]
async fn late_deletions_that_take_what_came_since_are_caught() {
    let by = [
        "a_late_deletion_spares_a_session_that_was_begun_since",
        "a_deletion_spares_a_session_that_has_changed_since",
        "a_late_burial_spares_what_was_stored_since",
        "a_burial_raises_the_epoch_above_the_one_that_was_seen",
    ];
    caught(TakesWhatCameSince, &by).await;
}

/// Restores whatever was deleted or erased since.
#[derive(Clone, Debug)]
struct RestoresWithoutAFence;

#[async_trait]
impl Break for RestoresWithoutAFence {
    async fn restore(
        &self,
        inner: &MemChat,
        scope: &Scope,
        session: &SessionId,
        _: Option<Fence>,
        rows: &[StoredMessage],
    ) -> Result<Appended> {
        inner.restore(scope, session, None, rows).await
    }
}

#[tokio::test]
async fn a_restore_without_a_fence_is_caught() {
    let by = [
        "refuses_to_restore_with_the_fence_of_a_deleted_session",
        "refuses_to_restore_with_the_fence_of_a_buried_owner",
    ];
    caught(RestoresWithoutAFence, &by).await;
}
