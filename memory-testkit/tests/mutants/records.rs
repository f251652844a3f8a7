//! Broken record stores.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;
use memory_core::reference::MemRecords;
use memory_core::store::records::RecordStore as _;
use memory_core::store::records::{Expect, Put, RecordBatch, Replace};
use memory_core::store::upkeep::Upkeep as _;
use memory_core::{Epoch, Fields, Filter, RecordId, Result, Scope, StoredRecord, Timestamp};

use crate::records_stores::{Break, caught};

/// Takes a version for a wish.
#[derive(Clone, Debug)]
struct AcceptsStaleVersions;

#[async_trait]
impl Break for AcceptsStaleVersions {
    async fn put(&self, inner: &MemRecords, scope: &Scope, batch: &RecordBatch) -> Result<Vec<u64>> {
        let puts = batch.puts.iter().map(|put| Put { record: put.record.clone(), expect: Expect::Anything }).collect();
        inner.put(scope, &RecordBatch { fence: batch.fence, puts }).await
    }
}

#[tokio::test]
async fn a_store_that_accepts_stale_versions_is_caught() {
    let by = ["refuses_another_version_than_expected", "refuses_other_content_where_none_is_expected"];
    caught(AcceptsStaleVersions, &by).await;
}

/// Lets every handle write.
#[derive(Clone, Debug)]
struct IgnoresEpochs;

#[async_trait]
impl Break for IgnoresEpochs {
    async fn put(&self, inner: &MemRecords, scope: &Scope, batch: &RecordBatch) -> Result<Vec<u64>> {
        inner.put(scope, &RecordBatch { fence: None, puts: batch.puts.clone() }).await
    }
}

#[tokio::test]
async fn a_store_that_ignores_epochs_is_caught() {
    caught(IgnoresEpochs, &["refuses_another_epoch", "an_erasure_fences_older_epochs_without_a_burial"]).await;
}

/// Puts a batch record by record, and stops where it fails or is dropped.
#[derive(Clone, Debug)]
struct PutsOneByOne;

#[async_trait]
impl Break for PutsOneByOne {
    async fn put(&self, inner: &MemRecords, scope: &Scope, batch: &RecordBatch) -> Result<Vec<u64>> {
        let mut versions = Vec::new();
        for put in &batch.puts {
            let one = RecordBatch { fence: batch.fence, puts: vec![put.clone()] };
            versions.extend(inner.put(scope, &one).await?);
            tokio::task::yield_now().await;
        }
        Ok(versions)
    }
}

#[tokio::test]
async fn a_store_that_puts_one_by_one_is_caught() {
    caught(PutsOneByOne, &["puts_all_records_of_a_batch_or_none", "refuses_one_id_twice_in_a_batch"]).await;
    caught(PutsOneByOne, &["dropped_puts_happen_fully_or_not_at_all"]).await;
}

/// Numbers a record anew after its deletion.
#[derive(Clone, Debug, Default)]
struct ForgetsTombstones {
    deleted: Arc<Mutex<BTreeSet<RecordId>>>,
}

#[async_trait]
impl Break for ForgetsTombstones {
    async fn put(&self, inner: &MemRecords, scope: &Scope, batch: &RecordBatch) -> Result<Vec<u64>> {
        let versions = inner.put(scope, batch).await?;
        let mut deleted = self.deleted.lock().unwrap_or_else(PoisonError::into_inner);
        let pairs = batch.puts.iter().zip(versions);
        Ok(pairs.map(|(put, version)| if deleted.remove(&put.record.id) { 1 } else { version }).collect())
    }

    async fn delete(&self, inner: &MemRecords, scope: &Scope, records: &[(RecordId, u64)]) -> Result<u64> {
        let ids = records.iter().map(|(id, _)| *id);
        self.deleted.lock().unwrap_or_else(PoisonError::into_inner).extend(ids);
        inner.delete(scope, records).await
    }
}

#[tokio::test]
async fn a_store_that_forgets_tombstones_is_caught() {
    caught(ForgetsTombstones::default(), &["a_record_put_after_its_deletion_gets_a_higher_version"]).await;
}

/// Counts every touch.
#[derive(Clone, Debug)]
struct CountsTwice;

#[async_trait]
impl Break for CountsTwice {
    async fn touch(&self, inner: &MemRecords, scope: &Scope, ids: &[RecordId], at: Timestamp) -> Result<()> {
        let rows = inner.get(scope, ids).await?;
        for row in rows {
            let last = row.accessed_at.unwrap_or(at).max(Timestamp(at.0 - 1));
            inner.touch(scope, &[row.record.id], Timestamp(last.0 + 1)).await?;
        }
        Ok(())
    }
}

#[tokio::test]
async fn a_touch_that_counts_twice_is_caught() {
    caught(CountsTwice, &["counts_one_moment_once", "touch_is_repeated_after_a_lost_answer"]).await;
}

/// Hides what has expired from those who ask for it by id.
#[derive(Clone, Debug)]
struct HidesExpired;

#[async_trait]
impl Break for HidesExpired {
    async fn get(&self, inner: &MemRecords, scope: &Scope, ids: &[RecordId]) -> Result<Vec<StoredRecord>> {
        let mut rows = inner.get(scope, ids).await?;
        rows.retain(|row| row.record.expires_at().is_none());
        Ok(rows)
    }
}

#[tokio::test]
async fn a_get_that_hides_expired_records_is_caught() {
    caught(HidesExpired, &["gets_expired_and_superseded_records"]).await;
}

/// Gives what is found in the order of ids.
#[derive(Clone, Debug)]
struct GetsSorted;

#[async_trait]
impl Break for GetsSorted {
    async fn get(&self, inner: &MemRecords, scope: &Scope, ids: &[RecordId]) -> Result<Vec<StoredRecord>> {
        let mut rows = inner.get(scope, ids).await?;
        rows.sort_by_key(|row| row.record.id);
        Ok(rows)
    }
}

#[tokio::test]
async fn a_get_in_another_order_is_caught() {
    caught(GetsSorted, &["gets_in_the_order_of_the_ids"]).await;
}

/// Filters what the limit has left.
#[derive(Clone, Debug)]
struct FiltersAfterTheLimit;

#[async_trait]
impl Break for FiltersAfterTheLimit {
    async fn scan(
        &self,
        inner: &MemRecords,
        scope: &Scope,
        filter: &Filter,
        after: Option<RecordId>,
        limit: usize,
    ) -> Result<Vec<StoredRecord>> {
        let mut rows = inner.scan(scope, &Filter::All, after, limit).await?;
        rows.retain(|row| filter.matches(&Fields::of_record(&row.record)));
        Ok(rows)
    }
}

#[tokio::test]
async fn a_scan_that_filters_after_the_limit_is_caught() {
    caught(FiltersAfterTheLimit, &["filters_before_it_limits", "filters_as_the_definition_does"]).await;
}

/// Takes an empty list for all of them.
#[derive(Clone, Debug)]
struct DeletesAllForNone;

#[async_trait]
impl Break for DeletesAllForNone {
    async fn delete(&self, inner: &MemRecords, scope: &Scope, records: &[(RecordId, u64)]) -> Result<u64> {
        if !records.is_empty() {
            return inner.delete(scope, records).await;
        }
        let all = inner.scan(scope, &Filter::All, None, usize::MAX).await?;
        inner.delete(scope, &all.iter().map(|row| (row.record.id, row.version)).collect::<Vec<_>>()).await
    }
}

#[tokio::test]
async fn an_empty_list_that_deletes_all_is_caught() {
    caught(DeletesAllForNone, &["an_empty_list_deletes_nothing"]).await;
}

/// Restores one row after the other.
#[derive(Clone, Debug)]
struct RestoresOneByOne;

#[async_trait]
impl Break for RestoresOneByOne {
    async fn restore(
        &self,
        inner: &MemRecords,
        scope: &Scope,
        epoch: Option<Epoch>,
        rows: &[StoredRecord],
        replace: Replace,
    ) -> Result<()> {
        for row in rows {
            inner.restore(scope, epoch, std::slice::from_ref(row), replace).await?;
        }
        Ok(())
    }
}

#[tokio::test]
async fn a_restore_one_by_one_is_caught() {
    caught(RestoresOneByOne, &["restores_all_rows_or_none"]).await;
}

/// Restores as a copy that follows its original, whatever may be replaced.
#[derive(Clone, Debug)]
struct ReplacesOlder;

#[async_trait]
impl Break for ReplacesOlder {
    async fn restore(
        &self,
        inner: &MemRecords,
        scope: &Scope,
        epoch: Option<Epoch>,
        rows: &[StoredRecord],
        _: Replace,
    ) -> Result<()> {
        inner.restore(scope, epoch, rows, Replace::Older).await
    }
}

#[tokio::test]
async fn a_restore_over_what_must_stay_is_caught() {
    caught(ReplacesOlder, &["a_row_that_replaces_nothing_leaves_an_older_one_as_it_is"]).await;
    caught(ReplacesOlder, &["a_row_that_replaces_nothing_brings_no_deleted_one_back"]).await;
}

/// Sweeps whatever has expired, pinned and held records too.
#[derive(Clone, Debug)]
struct SweepsPinned;

#[async_trait]
impl Break for SweepsPinned {
    async fn sweep(&self, inner: &MemRecords, now: Timestamp, limit: usize) -> Result<u64> {
        let mut swept = 0;
        for owner in inner.owners(None, usize::MAX).await? {
            let mut rows = inner.scan(&owner, &Filter::All, None, usize::MAX).await?;
            rows.retain(|row| row.record.tellings().any(|telling| telling.expires_at.is_some_and(|at| at <= now)));
            rows.truncate(limit);
            swept +=
                inner.delete(&owner, &rows.iter().map(|row| (row.record.id, row.version)).collect::<Vec<_>>()).await?;
        }
        Ok(swept)
    }
}

#[tokio::test]
async fn a_sweep_of_pinned_records_is_caught() {
    caught(SweepsPinned, &["a_sweep_spares_pinned_records"]).await;
    caught(SweepsPinned, &["a_sweep_spares_records_on_hold_until_it_is_lifted"]).await;
}

/// Sweeps a moment too late.
#[derive(Clone, Debug)]
struct SweepsTooLate;

#[async_trait]
impl Break for SweepsTooLate {
    async fn sweep(&self, inner: &MemRecords, now: Timestamp, limit: usize) -> Result<u64> {
        inner.sweep(Timestamp(now.0 - 1), limit).await
    }
}

#[tokio::test]
async fn a_sweep_that_comes_too_late_is_caught() {
    caught(SweepsTooLate, &["a_record_expires_at_its_moment_and_not_before"]).await;
}

/// Filters as if nothing had an agent or a run.
#[derive(Clone, Debug)]
struct IgnoresAgents;

#[async_trait]
impl Break for IgnoresAgents {
    async fn scan(
        &self,
        inner: &MemRecords,
        scope: &Scope,
        filter: &Filter,
        after: Option<RecordId>,
        limit: usize,
    ) -> Result<Vec<StoredRecord>> {
        let mut rows = inner.scan(scope, &Filter::All, after, usize::MAX).await?;
        rows.retain(|row| filter.matches(&Fields { agent: None, runs: Vec::new(), ..Fields::of_record(&row.record) }));
        rows.truncate(limit);
        Ok(rows)
    }
}

#[tokio::test]
async fn a_filter_that_ignores_agents_is_caught() {
    caught(IgnoresAgents, &["s0_15_o10_random_filters_give_the_answer_of_brute_force", "filters_by_agent_and_run"])
        .await;
}

/// Hides what was superseded, whatever was asked for.
#[derive(Clone, Debug)]
struct HidesHistory;

#[async_trait]
impl Break for HidesHistory {
    async fn scan(
        &self,
        inner: &MemRecords,
        scope: &Scope,
        filter: &Filter,
        after: Option<RecordId>,
        limit: usize,
    ) -> Result<Vec<StoredRecord>> {
        let current = Filter::Exists(memory_core::Field::SupersededAt).negate();
        inner.scan(scope, &filter.clone().and(current), after, limit).await
    }
}

#[tokio::test]
async fn a_store_that_hides_history_is_caught() {
    caught(HidesHistory, &["shows_what_has_not_expired", "shows_what_was_current"]).await;
}

/// Returns what has expired until it is swept.
#[derive(Clone, Debug)]
struct WaitsForTheSweep;

#[async_trait]
impl Break for WaitsForTheSweep {
    async fn scan(
        &self,
        inner: &MemRecords,
        scope: &Scope,
        filter: &Filter,
        after: Option<RecordId>,
        limit: usize,
    ) -> Result<Vec<StoredRecord>> {
        let is_of_expiry = format!("{filter:?}").contains("ExpiresAt");
        let rows = inner.scan(scope, if is_of_expiry { &Filter::All } else { filter }, after, limit).await?;
        let matches =
            |row: &StoredRecord| row.record.expires_at().is_some() || filter.matches(&Fields::of_record(&row.record));
        Ok(rows.into_iter().filter(matches).collect())
    }
}

#[tokio::test]
async fn a_store_that_shows_what_has_expired_is_caught() {
    caught(WaitsForTheSweep, &["shows_what_has_not_expired", "shows_what_is_current"]).await;
}
