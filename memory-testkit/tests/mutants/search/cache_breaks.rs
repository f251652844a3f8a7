//! Broken caches.

use std::collections::VecDeque;
use std::time::Duration;

use async_trait::async_trait;
use memory_core::reference::MemCache;
use memory_core::store::cache::Cache as _;
use memory_core::store::{Erased, Store as _};
use memory_core::{Epoch, Result, Scope};

use super::caches::{Break, caught};
use super::{Shared, joined, lock};

/// Lets a value live a moment too long, and takes a life of zero for the shortest one.
#[derive(Clone, Debug)]
struct LivesTooLong;

impl Break for LivesTooLong {
    fn life(&self, ttl: Duration) -> Duration {
        ttl.saturating_add(Duration::from_micros(1))
    }
}

#[tokio::test]
async fn a_life_that_is_off_by_one_is_caught() {
    let by = ["a_value_expires_at_the_exact_moment", "a_life_of_zero_is_invalid"];
    caught(LivesTooLong, &by).await;
}

/// Lets a value die a moment too early.
#[derive(Clone, Debug)]
struct DiesTooEarly;

impl Break for DiesTooEarly {
    fn life(&self, ttl: Duration) -> Duration {
        ttl.saturating_sub(Duration::from_millis(2))
    }
}

#[tokio::test]
async fn a_life_that_ends_early_is_caught() {
    let by = ["a_value_expires_at_the_exact_moment", "a_push_lets_the_whole_list_live_on"];
    caught(DiesTooEarly, &by).await;
}

/// Looks at no epoch.
#[derive(Clone, Debug)]
struct IgnoresEpochs;

impl Break for IgnoresEpochs {
    fn epoch(&self, _: Epoch) -> Epoch {
        Epoch(100)
    }
}

#[tokio::test]
async fn a_cache_that_ignores_epochs_is_caught() {
    let by = [
        "a_later_epoch_hides_what_an_earlier_one_wrote",
        "a_fill_that_lost_the_race_with_an_erasure_is_never_returned",
        "a_list_begins_anew_in_a_later_epoch",
        "erasing_removes_everything_and_counts_it",
    ];
    caught(IgnoresEpochs, &by).await;
}

/// Joins the names of an owner and a key with colons.
#[derive(Clone, Debug)]
struct JoinsNames;

impl Break for JoinsNames {
    fn scope(&self, scope: &Scope) -> Scope {
        joined(scope)
    }
}

#[tokio::test]
async fn names_joined_by_a_colon_are_caught() {
    caught(JoinsNames, &["owners_with_hostile_names_stay_apart"]).await;
}

/// Gives lists newest first.
#[derive(Clone, Debug)]
struct ReversesLists;

#[async_trait]
impl Break for ReversesLists {
    async fn tail(
        &self,
        inner: &MemCache,
        scope: &Scope,
        epoch: Epoch,
        key: &str,
        count: usize,
    ) -> Result<Vec<Vec<u8>>> {
        Ok(inner.tail(scope, epoch, key, count).await?.into_iter().rev().collect())
    }
}

#[tokio::test]
async fn reversed_lists_are_caught() {
    caught(ReversesLists, &["a_list_gives_its_newest_values_oldest_first"]).await;
}

/// Keeps one value too many.
#[derive(Clone, Debug)]
struct KeepsOneMore;

impl Break for KeepsOneMore {
    fn cap(&self, cap: usize) -> usize {
        cap.saturating_add(1)
    }
}

#[tokio::test]
async fn a_cap_that_is_off_by_one_is_caught() {
    let by = ["s3_4_a_list_keeps_its_newest_values_up_to_the_cap", "a_cap_of_zero_is_invalid"];
    caught(KeepsOneMore, &by).await;
}

/// Takes an empty list of keys for all keys, and a star for any ending.
#[derive(Clone, Debug)]
struct DeletesByPattern;

#[async_trait]
impl Break for DeletesByPattern {
    async fn delete(&self, inner: &MemCache, scope: &Scope, epoch: Epoch, keys: &[&str]) -> Result<()> {
        let all = ["a", "ab", "a*", "*", "a?", "?", "[a]", "b", "key", "list", "list*"];
        let begins = |key: &str| keys.iter().any(|pattern| key.starts_with(pattern.trim_end_matches('*')));
        let matching: Vec<&str> = all.into_iter().filter(|key| keys.is_empty() || begins(key)).collect();
        inner.delete(scope, epoch, &matching).await
    }
}

#[tokio::test]
async fn deletions_by_pattern_are_caught() {
    let by = ["an_empty_deletion_deletes_nothing", "deletes_the_keys_named_and_no_others"];
    caught(DeletesByPattern, &by).await;
}

/// Reads answers from one connection in the order of the calls, those of dropped calls too.
#[derive(Clone, Debug, Default)]
struct LeavesAnswers {
    answers: Shared<VecDeque<Option<Vec<u8>>>>,
}

#[async_trait]
impl Break for LeavesAnswers {
    async fn get(&self, inner: &MemCache, scope: &Scope, epoch: Epoch, key: &str) -> Result<Option<Vec<u8>>> {
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

/// Erases whatever there is, new or old.
#[derive(Clone, Debug)]
struct ErasesTheNew;

#[async_trait]
impl Break for ErasesTheNew {
    async fn erase(&self, inner: &MemCache, scope: &Scope, below: Epoch) -> Result<Erased> {
        inner.erase(scope, Epoch(below.0.saturating_add(1))).await
    }
}

#[tokio::test]
async fn an_erasure_of_the_new_epoch_is_caught() {
    caught(ErasesTheNew, &["erasing_keeps_what_is_not_older"]).await;
}
