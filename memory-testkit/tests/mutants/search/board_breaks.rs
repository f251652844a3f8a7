//! Broken blackboards.

use std::collections::VecDeque;
use std::time::Duration;

use async_trait::async_trait;
use memory_core::reference::MemBlackboard;
use memory_core::store::blackboard::{Blackboard as _, BlackboardEntry, BlackboardStats, BoardHit, BoardQuery, Posted};
use memory_core::store::{Erased, Store as _};
use memory_core::{Epoch, Error, Result, Scope};

use super::boards::{Break, caught};
use super::{Shared, lock};

/// Evicts the entry that was put first, used or not.
#[derive(Clone, Debug, Default)]
struct ForgetsUse {
    keys: Shared<Vec<String>>,
}

impl ForgetsUse {
    /// Uses all entries once more in the order in which they were put.
    async fn level(&self, inner: &MemBlackboard, scope: &Scope, epoch: Epoch) -> Result<()> {
        let keys = lock(&self.keys).clone();
        for key in keys {
            inner.get(scope, epoch, &key).await?;
        }
        Ok(())
    }
}

#[async_trait]
impl Break for ForgetsUse {
    async fn put(
        &self,
        inner: &MemBlackboard,
        scope: &Scope,
        epoch: Epoch,
        entry: &BlackboardEntry,
    ) -> Result<Vec<String>> {
        let is_new = !lock(&self.keys).contains(&entry.key);
        let evicted = inner.put(scope, epoch, entry).await?;
        if is_new {
            lock(&self.keys).push(entry.key.clone());
        }
        self.level(inner, scope, epoch).await?;
        Ok(evicted)
    }

    async fn get(&self, inner: &MemBlackboard, scope: &Scope, epoch: Epoch, key: &str) -> Result<Option<Posted>> {
        let found = inner.get(scope, epoch, key).await?;
        self.level(inner, scope, epoch).await?;
        Ok(found)
    }

    async fn search(
        &self,
        inner: &MemBlackboard,
        scope: &Scope,
        epoch: Epoch,
        query: &BoardQuery,
        limit: usize,
    ) -> Result<Vec<BoardHit>> {
        let found = inner.search(scope, epoch, query, limit).await?;
        self.level(inner, scope, epoch).await?;
        Ok(found)
    }
}

#[tokio::test]
async fn a_board_that_forgets_use_is_caught() {
    for by in ["a_get_counts_as_use", "a_search_counts_as_use_of_what_it_returns", "a_put_counts_as_use"] {
        caught(ForgetsUse::default(), &[by]).await;
    }
}

/// Evicts by age before it looks at what has expired.
#[derive(Clone, Debug, Default)]
struct EvictsTheLive {
    keys: Shared<Vec<String>>,
}

#[async_trait]
impl Break for EvictsTheLive {
    async fn put(
        &self,
        inner: &MemBlackboard,
        scope: &Scope,
        epoch: Epoch,
        entry: &BlackboardEntry,
    ) -> Result<Vec<String>> {
        let stats = inner.stats(scope, epoch).await?;
        let is_new = !lock(&self.keys).contains(&entry.key);
        let mut evicted = Vec::new();
        if is_new && stats.live + stats.expired >= stats.capacity {
            let oldest = lock(&self.keys).remove(0);
            inner.delete(scope, epoch, &oldest).await?;
            evicted.push(oldest);
        }
        if is_new {
            lock(&self.keys).push(entry.key.clone());
        }
        evicted.extend(inner.put(scope, epoch, entry).await?);
        Ok(evicted)
    }
}

#[tokio::test]
async fn a_board_that_evicts_live_entries_before_expired_ones_is_caught() {
    caught(EvictsTheLive::default(), &["expired_entries_make_room_before_any_live_one"]).await;
}

/// Lets an entry live a moment too long.
#[derive(Clone, Debug)]
struct LivesTooLong;

#[async_trait]
impl Break for LivesTooLong {
    async fn put(
        &self,
        inner: &MemBlackboard,
        scope: &Scope,
        epoch: Epoch,
        entry: &BlackboardEntry,
    ) -> Result<Vec<String>> {
        let ttl = entry.ttl.map(|ttl| ttl.saturating_add(Duration::from_micros(1)));
        inner.put(scope, epoch, &BlackboardEntry { ttl, ..entry.clone() }).await
    }
}

#[tokio::test]
async fn a_life_that_is_off_by_one_is_caught() {
    let by = [
        "s4_7_an_entry_expires_at_the_exact_moment",
        "an_entry_put_is_got_back",
        "entries_that_cannot_be_kept_are_invalid",
        "a_sweep_deletes_what_has_expired_and_counts_it",
    ];
    caught(LivesTooLong, &by).await;
}

/// Reads answers from one connection in the order of the calls, those of dropped calls too.
#[derive(Clone, Debug, Default)]
struct LeavesAnswers {
    answers: Shared<VecDeque<Option<Posted>>>,
}

#[async_trait]
impl Break for LeavesAnswers {
    async fn get(&self, inner: &MemBlackboard, scope: &Scope, epoch: Epoch, key: &str) -> Result<Option<Posted>> {
        let answer = inner.get(scope, epoch, key).await?;
        lock(&self.answers).push_back(answer);
        tokio::task::yield_now().await;
        Ok(lock(&self.answers).pop_front().flatten())
    }
}

#[tokio::test]
async fn an_answer_left_to_the_next_call_is_caught() {
    let by = ["calls_given_up_halfway_leave_no_answer_for_another_call"];
    caught(LeavesAnswers::default(), &by).await;
}

/// Makes room for an entry before it looks whether it can be kept.
#[derive(Clone, Debug)]
struct DeletesBeforeItChecks;

#[async_trait]
impl Break for DeletesBeforeItChecks {
    async fn put(
        &self,
        inner: &MemBlackboard,
        scope: &Scope,
        epoch: Epoch,
        entry: &BlackboardEntry,
    ) -> Result<Vec<String>> {
        inner.delete(scope, epoch, &entry.key).await?;
        inner.put(scope, epoch, entry).await
    }
}

#[tokio::test]
async fn an_invalid_put_that_deletes_the_old_entry_is_caught() {
    caught(DeletesBeforeItChecks, &["an_invalid_put_leaves_the_old_entry"]).await;
}

/// Returns hits in any order, and more of them than asked for.
#[derive(Clone, Debug)]
struct ReversesHits;

#[async_trait]
impl Break for ReversesHits {
    async fn search(
        &self,
        inner: &MemBlackboard,
        scope: &Scope,
        epoch: Epoch,
        query: &BoardQuery,
        limit: usize,
    ) -> Result<Vec<BoardHit>> {
        let mut found = inner.search(scope, epoch, query, limit).await?;
        found.reverse();
        Ok(found)
    }
}

#[tokio::test]
async fn hits_in_the_reverse_order_are_caught() {
    let by = [
        "entries_that_share_the_most_words_stand_first",
        "the_nearest_entries_stand_first",
        "ties_stand_by_key_where_the_limit_cuts",
    ];
    caught(ReversesHits, &by).await;
}

/// Counts a miss as an access, and looking at the figures as a use of everything.
#[derive(Clone, Debug)]
struct CountsWrongly;

#[async_trait]
impl Break for CountsWrongly {
    async fn stats(&self, inner: &MemBlackboard, scope: &Scope, epoch: Epoch) -> Result<BlackboardStats> {
        let stats = inner.stats(scope, epoch).await?;
        Ok(BlackboardStats { accesses: stats.accesses + stats.misses, ..stats })
    }
}

#[tokio::test]
async fn wrong_figures_are_caught() {
    let by = ["figures_count_hits_misses_and_entries_returned", "an_expired_entry_is_a_miss"];
    caught(CountsWrongly, &by).await;
}

/// Does not look at the epoch of a call.
#[derive(Clone, Debug)]
struct KnowsNoEpochs;

impl Break for KnowsNoEpochs {
    fn epoch(&self, _: Epoch) -> Epoch {
        Epoch(0)
    }
}

#[tokio::test]
async fn a_board_that_outlives_an_erasure_that_did_not_reach_it_is_caught() {
    let by = [
        "the_first_call_of_a_later_epoch_empties_the_board",
        "a_call_of_an_earlier_epoch_is_fenced_and_changes_nothing",
    ];
    caught(KnowsNoEpochs, &by).await;
}

/// Takes a put that comes late for one of the present epoch.
#[derive(Clone, Debug)]
struct TakesLatePuts;

#[async_trait]
impl Break for TakesLatePuts {
    async fn put(
        &self,
        inner: &MemBlackboard,
        scope: &Scope,
        epoch: Epoch,
        entry: &BlackboardEntry,
    ) -> Result<Vec<String>> {
        match inner.put(scope, epoch, entry).await {
            Err(Error::Fenced) => inner.put(scope, Epoch(2), entry).await,
            answer => answer,
        }
    }
}

#[tokio::test]
async fn a_late_put_that_is_kept_is_caught() {
    caught(TakesLatePuts, &["a_call_of_an_earlier_epoch_is_fenced_and_changes_nothing"]).await;
}

/// Lets gets keep an entry, whatever was said.
#[derive(Clone, Debug)]
struct KeepsWhatIsGot;

#[async_trait]
impl Break for KeepsWhatIsGot {
    async fn get(&self, inner: &MemBlackboard, scope: &Scope, epoch: Epoch, key: &str) -> Result<Option<Posted>> {
        let found = inner.get(scope, epoch, key).await?;
        if let Some(Posted { key, value, .. }) = &found {
            inner.put(scope, epoch, &BlackboardEntry::new(key, value)).await?;
        }
        Ok(found)
    }
}

#[tokio::test]
async fn s4_8_a_board_that_keeps_what_is_got_is_caught() {
    caught(KeepsWhatIsGot, &["s4_8_where_only_a_put_keeps_an_entry_gets_and_searches_do_not"]).await;
}

/// Erases what there is each time it is asked.
#[derive(Clone, Debug, Default)]
struct ErasesAgain {
    epoch: Shared<u64>,
}

#[async_trait]
impl Break for ErasesAgain {
    async fn erase(&self, inner: &MemBlackboard, scope: &Scope, _: Epoch) -> Result<Erased> {
        let epoch = {
            let mut epoch = lock(&self.epoch);
            *epoch += 1;
            Epoch(*epoch)
        };
        inner.erase(scope, epoch).await
    }
}

#[tokio::test]
async fn an_erasure_repeated_over_new_entries_is_caught() {
    caught(ErasesAgain::default(), &["erasing_again_keeps_what_was_put_since"]).await;
}
