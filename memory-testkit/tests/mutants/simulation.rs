//! What the engine did wrong once, put back by a store: the simulation finds it within the seeds that CI plays.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use memory_core::analysis::Analysis;
use memory_core::engine::Forget;
use memory_core::reference::{MemCache, MemChat, MemRecords, MemText};
use memory_core::store::cache::Cache;
use memory_core::store::chat::{ChatStore, Page, SessionState, Slice};
use memory_core::store::text::{Deletion, TextStore as _};
use memory_core::store::upkeep::{Enlisted, Incarnation, IndexName, Note, Outcome, Upkeep};
use memory_core::{Epoch, ItemId, Result, Scope, SessionId, Version};
use memory_testkit::Texts;
use memory_testkit::simulation::{Call, Ground, Plan, play};

use crate::search::{caches, texts, unbounded};
use crate::{chat_stores, records_stores};

/// Checks that a play of the first 5,000 fails, and says so.
fn is_found(plan: &Plan, says: &str) {
    let found = (0..5_000).filter_map(|seed| play(seed, plan).err());
    let found = found.map(|failed| failed.why.join("; ")).find(|why| why.contains(says));
    assert!(found.is_some(), "no play says: {says}");
}

fn in_time(_: Call) -> bool {
    false
}

/// Returns a text store with a break, of the terms that plays are told in.
fn text<B: texts::Break>(broken: B) -> Texts {
    texts::store_of(Analysis::english().name(), broken)
}

/// Shows nothing of what it holds, so that nobody compares it with truth.
#[derive(Debug)]
struct ListsNothing;

#[async_trait]
impl texts::Break for ListsNothing {
    async fn scan(&self, _: &MemText, _: &Scope, _: Option<&ItemId>, _: usize) -> Result<Vec<(ItemId, Version)>> {
        Ok(Vec::new())
    }
}

/// Gives notes up that a store refuses, for good.
#[derive(Debug)]
struct GivesUpWhatIsRefused;

#[async_trait]
impl chat_stores::Break for GivesUpWhatIsRefused {
    async fn settle(&self, inner: &MemChat, index: &IndexName, notes: &[(Note, Outcome)]) -> Result<()> {
        let given_up = notes.iter().map(|(note, outcome)| match outcome {
            Outcome::Retry { why, .. } if note.attempts >= 4 && why.contains("401") => {
                (note.clone(), Outcome::Dead { why: why.clone() })
            }
            other => (note.clone(), other.clone()),
        });
        inner.settle(index, &given_up.collect::<Vec<_>>()).await
    }

    async fn revive(&self, _: &MemChat, _: &IndexName) -> Result<u64> {
        Ok(0)
    }
}

#[test]
fn an_expired_key_that_kills_notes_is_found() {
    let ground =
        |clock, space| Ground { chat: chat_stores::store(GivesUpWhatIsRefused), ..Ground::reference(clock, space) };
    is_found(&Plan::new(ground).late(in_time).forgetting(|_| false), "notes are pending");
}

/// Does not tell that a session has changed, so that a slow process cannot see it.
#[derive(Debug)]
struct NeverChanges;

#[async_trait]
impl chat_stores::Break for NeverChanges {
    async fn read(&self, inner: &MemChat, scope: &Scope, session: &SessionId, page: &Page) -> Result<Slice> {
        let slice = inner.read(scope, session, page).await?;
        Ok(Slice { state: SessionState { revision: 0, ..slice.state }, ..slice })
    }
}

#[test]
fn a_slow_process_that_puts_back_what_was_forgotten_is_found() {
    // What is put back would be cleaned out by the walk through the index.
    let ground = |clock, space| Ground {
        chat: chat_stores::store(NeverChanges),
        text: text(ListsNothing),
        ..Ground::reference(clock, space)
    };
    let plan = Plan::new(ground).late(in_time).forgetting(|what| matches!(what, Forget::Messages(_)));
    is_found(&plan, "the index of words holds");
}

/// Takes every place of an index for the one that was filled.
#[derive(Debug)]
struct KnowsNoIncarnation;

#[async_trait]
impl chat_stores::Break for KnowsNoIncarnation {
    async fn enlist(&self, inner: &MemChat, index: &IndexName, _: Option<Incarnation>, limit: usize) -> Result<bool> {
        inner.enlist(index, None, limit).await
    }
}

#[test]
fn an_index_that_was_lost_and_stays_empty_is_found() {
    let ground =
        |clock, space| Ground { chat: chat_stores::store(KnowsNoIncarnation), ..Ground::reference(clock, space) };
    is_found(&Plan::new(ground).late(in_time).forgetting(|_| false), "the index of vectors lacks");
}

/// Deletes whatever stands under the ids or in the session, how new it may be.
#[derive(Debug)]
struct DeletesAnyVersion;

#[async_trait]
impl texts::Break for DeletesAnyVersion {
    async fn delete(&self, inner: &MemText, scope: &Scope, what: &Deletion) -> Result<()> {
        inner.delete(scope, &unbounded(what)).await
    }
}

#[test]
fn a_late_deletion_from_an_index_that_takes_what_came_since_is_found() {
    let ground = |clock, space| Ground { text: text(DeletesAnyVersion), ..Ground::reference(clock, space) };
    let late = |call: Call| (call.part, call.method) == ("text", "delete");
    is_found(&Plan::new(ground).late(late), "the index of words lacks");
}

/// Deletes a session whatever was begun under its name since.
#[derive(Debug)]
struct DeletesAnyGeneration;

#[async_trait]
impl chat_stores::Break for DeletesAnyGeneration {
    async fn delete(&self, inner: &MemChat, scope: &Scope, seen: &SessionState) -> Result<u64> {
        let now = inner.read(scope, &seen.session, &Page::newest(0)).await?.state;
        inner.delete(scope, &now).await
    }
}

#[test]
fn a_late_deletion_of_a_session_that_takes_what_was_said_since_is_found() {
    let ground =
        |clock, space| Ground { chat: chat_stores::store(DeletesAnyGeneration), ..Ground::reference(clock, space) };
    let late = |call: Call| (call.part, call.method) == ("chat", "delete");
    is_found(&Plan::new(ground).late(late), "was acknowledged and is lost");
}

/// Buries an owner once more, whatever was stored since.
#[derive(Debug)]
struct BuriesAgain;

#[async_trait]
impl chat_stores::Break for BuriesAgain {
    async fn bury(&self, inner: &MemChat, scope: &Scope, _: Epoch) -> Result<Epoch> {
        let seen = inner.epoch(scope).await?;
        inner.bury(scope, seen).await
    }
}

#[test]
fn a_late_burial_that_takes_what_was_stored_since_is_found() {
    let ground = |clock, space| Ground { chat: chat_stores::store(BuriesAgain), ..Ground::reference(clock, space) };
    let late = |call: Call| (call.part, call.method) == ("chat upkeep", "bury");
    let plan = Plan::new(ground).late(late).forgetting(|what| matches!(what, Forget::Everything));
    is_found(&plan, "was acknowledged and is lost");
}

/// Lists no index, so that nobody knows of one that is open elsewhere.
#[derive(Debug)]
struct ListsNoIndex;

#[async_trait]
impl chat_stores::Break for ListsNoIndex {
    async fn indexes(&self, _: &MemChat) -> Result<Vec<Enlisted>> {
        Ok(Vec::new())
    }
}

#[async_trait]
impl records_stores::Break for ListsNoIndex {
    async fn indexes(&self, _: &MemRecords) -> Result<Vec<Enlisted>> {
        Ok(Vec::new())
    }
}

#[test]
fn a_receipt_that_says_complete_although_an_index_was_not_asked_is_found() {
    let ground = |clock, space| Ground {
        chat: chat_stores::store(ListsNoIndex),
        records: records_stores::store(ListsNoIndex),
        ..Ground::reference(clock, space)
    };
    let plan = Plan::new(ground).late(in_time).forgetting(|what| matches!(what, Forget::Everything));
    is_found(&plan, "is complete, but [\"an index holds");
}

#[test]
fn what_a_late_put_leaves_in_an_index_that_nobody_walks_through_is_found() {
    let ground = |clock, space| Ground { text: text(ListsNothing), ..Ground::reference(clock, space) };
    let late = |call: Call| (call.part, call.method) == ("text", "put");
    let plan = Plan::new(ground).late(late).forgetting(|what| !matches!(what, Forget::Session(_)));
    is_found(&plan, "the index of words holds");
}

/// Forgets that a write gave up which may come later.
#[derive(Debug)]
struct KeepsNoMarkOfLateWrites;

#[async_trait]
impl caches::Break for KeepsNoMarkOfLateWrites {
    async fn put(
        &self,
        inner: &MemCache,
        scope: &Scope,
        epoch: Epoch,
        key: &str,
        value: &[u8],
        ttl: Duration,
    ) -> Result<()> {
        if key.starts_with("late/") {
            return Ok(());
        }
        inner.put(scope, epoch, key, value, ttl).await
    }
}

#[test]
fn a_cache_that_serves_what_a_late_write_took_back_is_found() {
    is_found(
        &Plan::new(|clock, space| {
            let cache = caches::store(Arc::clone(&clock), KeepsNoMarkOfLateWrites);
            Ground { cache: Some(cache), ..Ground::reference(clock, space) }
        }),
        "the cache serves other",
    );
}
