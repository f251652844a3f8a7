//! What the engine did wrong once, put back by a store: the simulation finds it within the seeds that CI plays.

use async_trait::async_trait;
use memory_core::analysis::Analysis;
use memory_core::chat::{ChatStore, Page, SessionState, Slice};
use memory_core::engine::Forget;
use memory_core::reference::{MemChat, MemText};
use memory_core::upkeep::{IndexName, Note, Outcome, Upkeep};
use memory_core::{ItemId, Result, Scope, SessionId, Version};
use memory_testkit::Texts;
use memory_testkit::simulation::{Call, Ground, Plan, play};

use crate::chat_stores;
use crate::search::texts;

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

/// Gives notes up that a store refuses.
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
}

#[test]
fn an_expired_key_that_kills_notes_is_found() {
    let ground =
        |clock, space| Ground { chat: chat_stores::broken(GivesUpWhatIsRefused), ..Ground::reference(clock, space) };
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
        chat: chat_stores::broken(NeverChanges),
        text: text(ListsNothing),
        ..Ground::reference(clock, space)
    };
    let plan = Plan::new(ground).late(in_time).forgetting(|what| matches!(what, Forget::Messages(_)));
    is_found(&plan, "the index of words holds");
}

#[test]
fn what_a_late_put_leaves_in_an_index_that_nobody_walks_through_is_found() {
    let ground = |clock, space| Ground { text: text(ListsNothing), ..Ground::reference(clock, space) };
    let late = |call: Call| (call.part, call.method) == ("text", "put");
    let plan = Plan::new(ground).late(late).forgetting(|what| !matches!(what, Forget::Session(_)));
    is_found(&plan, "the index of words holds");
}
