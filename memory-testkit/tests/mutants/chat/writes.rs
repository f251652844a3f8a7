//! Broken appends, and broken ways to tell owners and sessions apart.

use std::sync::Arc;

use async_trait::async_trait;
use memory_core::reference::MemChat;
use memory_core::store::chat::{Append, Appended, ChatStore as _, NewMessage, Placement, SessionState};
use memory_core::store::upkeep::Upkeep as _;
use memory_core::store::{Erased, Store as _};
use memory_core::{Epoch, Error, MessageId, Result, Scope, SessionId};

use crate::chat_stores::{Break, caught};

/// Takes all owners for one.
#[derive(Clone, Debug)]
struct IgnoresScope;

impl Break for IgnoresScope {
    fn scope(&self, _: &Scope) -> Scope {
        Scope::new("all", "owners").unwrap_or_else(|_| unreachable!())
    }
}

#[tokio::test]
async fn a_store_that_ignores_the_scope_is_caught() {
    let by = ["takes_one_id_of_two_owners_for_two_messages", "keeps_every_name_of_an_owner"];
    caught(IgnoresScope, &by).await;
    caught(IgnoresScope, &["an_erasure_leaves_all_other_owners_as_they_are"]).await;
}

/// Takes owners whose names differ in case alone for one.
#[derive(Clone, Debug)]
struct FoldsCase;

impl Break for FoldsCase {
    fn scope(&self, scope: &Scope) -> Scope {
        Scope::new(&scope.tenant(), &scope.subject().to_lowercase()).unwrap_or_else(|_| scope.clone())
    }
}

#[tokio::test]
async fn a_store_that_folds_the_case_of_owners_is_caught() {
    caught(FoldsCase, &["keeps_every_name_of_an_owner", "a_burial_touches_no_other_owner"]).await;
}

/// Lists the sessions of every owner whose key begins with the owner's.
#[derive(Clone, Debug)]
struct MatchesPrefixes;

#[async_trait]
impl Break for MatchesPrefixes {
    async fn sessions(
        &self,
        inner: &MemChat,
        scope: &Scope,
        after: Option<&SessionId>,
        limit: usize,
    ) -> Result<Vec<SessionState>> {
        let mut found = Vec::new();
        for owner in inner.owners(None, usize::MAX).await? {
            if owner.key().starts_with(scope.key()) {
                found.extend(inner.sessions(&owner, after, limit).await?);
            }
        }
        Ok(found)
    }
}

#[tokio::test]
async fn a_store_that_matches_prefixes_is_caught() {
    caught(MatchesPrefixes, &["lists_the_sessions_of_one_owner"]).await;
}

/// Knows no message again.
#[derive(Clone, Debug)]
struct AppendsTwice;

#[async_trait]
impl Break for AppendsTwice {
    async fn append(&self, inner: &MemChat, scope: &Scope, session: &SessionId, batch: &Append) -> Result<Appended> {
        let fresh = |new: &NewMessage| {
            let message = (*new.message).clone().with_id(MessageId::fresh());
            NewMessage { message: Arc::new(message), ..new.clone() }
        };
        let messages = batch.messages.iter().map(fresh).collect();
        inner.append(scope, session, &Append { messages, ..batch.clone() }).await
    }
}

#[tokio::test]
async fn a_store_that_appends_repeats_again_is_caught() {
    caught(AppendsTwice, &["answers_already_to_a_repeat", "append_is_repeated_after_a_lost_answer"]).await;
    caught(AppendsTwice, &["thirty_two_identical_appends_store_one"]).await;
}

/// Appends a batch message by message, and stops where it fails or is dropped.
#[derive(Clone, Debug)]
struct AppendsOneByOne;

#[async_trait]
impl Break for AppendsOneByOne {
    async fn append(&self, inner: &MemChat, scope: &Scope, session: &SessionId, batch: &Append) -> Result<Appended> {
        let empty = Append { messages: Vec::new(), ..batch.clone() };
        let mut all = inner.append(scope, session, &empty).await?;
        for new in &batch.messages {
            let one = Append { messages: vec![new.clone()], ..batch.clone() };
            let appended = inner.append(scope, session, &one).await?;
            all.placements.extend(appended.placements);
            all.state = appended.state;
            tokio::task::yield_now().await;
        }
        Ok(all)
    }
}

#[tokio::test]
async fn a_store_that_appends_one_by_one_is_caught() {
    caught(AppendsOneByOne, &["stores_all_of_a_batch_or_none", "dropped_calls_write_fully_or_not_at_all"]).await;
    caught(AppendsOneByOne, &["a_failed_append_notes_nothing"]).await;
}

/// Keeps the first content of an id and says nothing.
#[derive(Clone, Debug)]
struct SkipsConflicts;

#[async_trait]
impl Break for SkipsConflicts {
    async fn append(&self, inner: &MemChat, scope: &Scope, session: &SessionId, batch: &Append) -> Result<Appended> {
        match inner.append(scope, session, batch).await {
            Err(Error::IdConflict { .. }) => {
                let empty = Append::new(Vec::new());
                let answer = inner.append(scope, session, &empty).await?;
                let placements = vec![Placement::Already(answer.state.head); batch.messages.len()];
                Ok(Appended { placements, ..answer })
            }
            answer => answer,
        }
    }
}

#[tokio::test]
async fn a_store_that_skips_conflicts_is_caught() {
    caught(SkipsConflicts, &["refuses_other_content_under_a_stored_id", "refuses_an_id_of_another_session"]).await;
}

/// Lets every handle write.
#[derive(Clone, Debug)]
struct IgnoresFences;

#[async_trait]
impl Break for IgnoresFences {
    async fn append(&self, inner: &MemChat, scope: &Scope, session: &SessionId, batch: &Append) -> Result<Appended> {
        inner.append(scope, session, &Append { fence: None, ..batch.clone() }).await
    }
}

#[tokio::test]
async fn a_store_that_ignores_fences_is_caught() {
    let by = ["refuses_the_fence_of_a_deleted_session", "refuses_the_fence_of_a_buried_owner"];
    caught(IgnoresFences, &by).await;
}

/// Answers with the state that was there before the append.
#[derive(Clone, Debug)]
struct AnswersTooEarly;

#[async_trait]
impl Break for AnswersTooEarly {
    async fn append(&self, inner: &MemChat, scope: &Scope, session: &SessionId, batch: &Append) -> Result<Appended> {
        let before = inner.append(scope, session, &Append::new(Vec::new())).await?.state;
        let appended = inner.append(scope, session, batch).await?;
        Ok(Appended { state: before, ..appended })
    }
}

#[tokio::test]
async fn a_store_that_answers_with_an_old_state_is_caught() {
    caught(AnswersTooEarly, &["answers_with_the_state_afterwards"]).await;
}

/// Takes sessions whose names differ in case alone for one.
#[derive(Clone, Debug)]
struct FoldsSessionCase;

#[async_trait]
impl Break for FoldsSessionCase {
    async fn append(&self, inner: &MemChat, scope: &Scope, session: &SessionId, batch: &Append) -> Result<Appended> {
        inner.append(scope, &SessionId::new(&session.name().to_lowercase())?, batch).await
    }
}

#[tokio::test]
async fn a_store_that_folds_the_case_of_sessions_is_caught() {
    caught(FoldsSessionCase, &["keeps_every_name_of_a_session", "lists_sessions_in_the_order_of_their_ids"]).await;
}

/// Erases what was written after the burial too.
#[derive(Clone, Debug)]
struct ErasesTooMuch;

#[async_trait]
impl Break for ErasesTooMuch {
    async fn erase(&self, inner: &MemChat, scope: &Scope, below: Epoch) -> Result<Erased> {
        inner.erase(scope, Epoch(below.0 + 1)).await
    }
}

#[tokio::test]
async fn a_store_that_erases_too_much_is_caught() {
    let by = ["what_is_written_behind_the_burial_stays", "an_erasure_below_the_first_epoch_removes_nothing"];
    caught(ErasesTooMuch, &by).await;
}
