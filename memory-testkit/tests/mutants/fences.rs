//! Record stores in which something late brings back or takes away what it must not.

use async_trait::async_trait;
use memory_core::reference::MemRecords;
use memory_core::store::chat::Fence;
use memory_core::store::records::RecordStore as _;
use memory_core::store::records::{RecordBatch, Replace};
use memory_core::{Epoch, Error, RecordId, Result, Scope, StoredRecord};

use crate::records_stores::{Break, caught};

/// Checks the epoch of a fence alone.
#[derive(Clone, Debug)]
struct IgnoresGenerations;

#[async_trait]
impl Break for IgnoresGenerations {
    async fn put(&self, inner: &MemRecords, scope: &Scope, batch: &RecordBatch) -> Result<Vec<u64>> {
        let generation = inner.fence(scope).await?.generation;
        let fence = batch.fence.map(|fence| Fence { generation, ..fence });
        inner.put(scope, &RecordBatch { fence, puts: batch.puts.clone() }).await
    }
}

#[tokio::test]
async fn a_put_that_outlives_deletions_is_caught() {
    let by = [
        "a_put_from_before_a_deletion_is_refused",
        "a_put_from_before_a_deletion_that_found_nothing_is_refused",
        "a_put_from_before_an_advance_is_refused",
        "of_a_put_and_a_deletion_of_its_record_one_is_refused",
    ];
    caught(IgnoresGenerations, &by).await;
}

/// Refuses what comes late before it looks whether that is stored.
#[derive(Clone, Debug)]
struct RefusesRepeats;

#[async_trait]
impl Break for RefusesRepeats {
    async fn put(&self, inner: &MemRecords, scope: &Scope, batch: &RecordBatch) -> Result<Vec<u64>> {
        let now = inner.fence(scope).await?;
        if batch.fence.is_some_and(|fence| fence.epoch == now.epoch && fence != now) {
            return Err(Error::Conflict);
        }
        inner.put(scope, batch).await
    }
}

#[tokio::test]
async fn a_put_that_is_not_to_be_repeated_is_caught() {
    caught(RefusesRepeats, &["an_equal_record_succeeds_whatever_was_deleted_since"]).await;
}

/// Raises the fence for what it deletes alone.
#[derive(Clone, Debug)]
struct RaisesForWhatIsThere;

#[async_trait]
impl Break for RaisesForWhatIsThere {
    async fn delete(&self, inner: &MemRecords, scope: &Scope, records: &[(RecordId, u64)]) -> Result<u64> {
        let ids: Vec<RecordId> = records.iter().map(|(id, _)| *id).collect();
        if inner.get(scope, &ids).await?.is_empty() {
            return Ok(0);
        }
        inner.delete(scope, records).await
    }
}

#[tokio::test]
async fn a_deletion_that_finds_nothing_and_raises_nothing_is_caught() {
    let by = [
        "a_put_from_before_a_deletion_that_found_nothing_is_refused",
        "of_a_put_and_a_deletion_of_its_record_one_is_refused",
    ];
    caught(RaisesForWhatIsThere, &by).await;
}

/// Does not advance.
#[derive(Clone, Debug)]
pub(crate) struct StandsStill;

#[async_trait]
impl Break for StandsStill {
    async fn advance(&self, inner: &MemRecords, scope: &Scope, _: Fence) -> Result<Fence> {
        inner.fence(scope).await
    }
}

#[tokio::test]
async fn a_fence_that_is_not_advanced_is_caught() {
    caught(StandsStill, &["a_put_from_before_an_advance_is_refused", "a_fence_is_advanced_once"]).await;
}

/// Advances whenever it is asked.
#[derive(Clone, Debug)]
struct AdvancesEachTime;

#[async_trait]
impl Break for AdvancesEachTime {
    async fn advance(&self, inner: &MemRecords, scope: &Scope, seen: Fence) -> Result<Fence> {
        seen.check()?;
        let now = inner.fence(scope).await?;
        let generation = now.generation.max(seen.generation);
        inner.advance(scope, Fence { generation, ..now }).await
    }
}

#[tokio::test]
async fn a_fence_that_is_advanced_by_each_repeat_is_caught() {
    let by = [
        "a_fence_is_advanced_once",
        "a_fence_of_another_epoch_advances_nothing",
        "advance_is_repeated_after_a_lost_answer",
    ];
    caught(AdvancesEachTime, &by).await;
}

/// Deletes whatever version a record has.
#[derive(Clone, Debug)]
struct DeletesNewer;

#[async_trait]
impl Break for DeletesNewer {
    async fn delete(&self, inner: &MemRecords, scope: &Scope, records: &[(RecordId, u64)]) -> Result<u64> {
        let records: Vec<_> = records.iter().map(|(id, _)| (*id, u64::MAX)).collect();
        inner.delete(scope, &records).await
    }
}

#[tokio::test]
async fn a_late_deletion_that_takes_something_newer_is_caught() {
    let by =
        ["a_late_deletion_of_a_record_takes_nothing_newer", "a_deletion_that_finds_something_newer_deletes_nothing"];
    caught(DeletesNewer, &by).await;
}

/// Deletes what it may of a list in which something is newer.
#[derive(Clone, Debug)]
struct DeletesTheRest;

#[async_trait]
impl Break for DeletesTheRest {
    async fn delete(&self, inner: &MemRecords, scope: &Scope, records: &[(RecordId, u64)]) -> Result<u64> {
        let mut outcome = Ok(0);
        for record in records {
            outcome = match (inner.delete(scope, &[*record]).await, outcome) {
                (Ok(one), Ok(all)) => Ok(one + all),
                (Err(error), _) | (_, Err(error)) => Err(error),
            };
        }
        outcome
    }
}

#[tokio::test]
async fn a_deletion_of_the_rest_is_caught() {
    caught(DeletesTheRest, &["a_deletion_that_finds_something_newer_deletes_nothing"]).await;
}

/// Deletes what has the very version that was said.
#[derive(Clone, Debug)]
struct SparesOlder;

#[async_trait]
impl Break for SparesOlder {
    async fn delete(&self, inner: &MemRecords, scope: &Scope, records: &[(RecordId, u64)]) -> Result<u64> {
        let ids: Vec<RecordId> = records.iter().map(|(id, _)| *id).collect();
        let rows = inner.get(scope, &ids).await?;
        let is_older = |(id, version): &(RecordId, u64)| {
            rows.iter().any(|row| row.record.id == *id && row.version < *version && *version < u64::MAX)
        };
        let records: Vec<_> = records.iter().filter(|record| !is_older(record)).copied().collect();
        inner.delete(scope, &records).await
    }
}

#[tokio::test]
async fn a_deletion_that_spares_what_is_older_is_caught() {
    caught(SparesOlder, &["deletes_what_is_older_than_said"]).await;
}

/// Restores whatever was erased since.
#[derive(Clone, Debug)]
struct RestoresWithoutAFence;

#[async_trait]
impl Break for RestoresWithoutAFence {
    async fn restore(
        &self,
        inner: &MemRecords,
        scope: &Scope,
        _: Option<Epoch>,
        rows: &[StoredRecord],
        replace: Replace,
    ) -> Result<()> {
        inner.restore(scope, None, rows, replace).await
    }
}

#[tokio::test]
async fn a_restore_of_records_without_a_fence_is_caught() {
    caught(RestoresWithoutAFence, &["a_restore_from_before_an_erasure_is_refused"]).await;
}
