//! Stores that break what neither large numbers nor wrong clocks may break.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;
use memory_core::number::LARGEST;
use memory_core::reference::{MemChat, MemRecords};
use memory_core::store::records::{RecordStore as _, Replace};
use memory_core::store::upkeep::{IndexName, Note, Outcome, Target, Upkeep as _};
use memory_core::store::{Erased, Store as _};
use memory_core::{Epoch, Error, Result, Scope, StoredRecord, Timestamp};

use crate::chat_stores::{Break, caught};
use crate::records_stores;

/// Waits for the moment that a retry named, however far ahead it is.
#[derive(Clone, Debug, Default)]
struct KeepsFarDues {
    dues: Arc<Mutex<BTreeMap<Target, Timestamp>>>,
}

impl KeepsFarDues {
    fn dues(&self) -> MutexGuard<'_, BTreeMap<Target, Timestamp>> {
        self.dues.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[async_trait]
impl Break for KeepsFarDues {
    async fn settle(&self, inner: &MemChat, index: &IndexName, notes: &[(Note, Outcome)]) -> Result<()> {
        let retries = notes.iter().filter_map(|(note, outcome)| match outcome {
            Outcome::Retry { at, .. } => Some((note.target.clone(), *at)),
            _ => None,
        });
        self.dues().extend(retries);
        inner.settle(index, notes).await
    }

    async fn pending(&self, inner: &MemChat, index: &IndexName, now: Timestamp, limit: usize) -> Result<Vec<Note>> {
        let mut notes = inner.pending(index, now, limit).await?;
        notes.retain(|note| self.dues().get(&note.target).is_none_or(|due| *due <= now));
        Ok(notes)
    }
}

#[tokio::test]
async fn a_store_that_keeps_a_far_due_is_caught() {
    let by = ["a_retry_beyond_the_longest_wait_is_due_at_once"];
    caught(KeepsFarDues::default(), &by).await;
    caught(KeepsFarDues::default(), &["what_was_put_off_by_a_wrong_clock_comes_behind_what_is_due"]).await;
}

/// Erases below any epoch, if only up to the largest.
#[derive(Clone, Debug)]
struct ClampsEpochs;

#[async_trait]
impl Break for ClampsEpochs {
    async fn erase(&self, inner: &MemChat, scope: &Scope, below: Epoch) -> Result<Erased> {
        inner.erase(scope, below.min(Epoch(LARGEST))).await
    }
}

#[tokio::test]
async fn a_store_that_erases_below_any_epoch_is_caught() {
    caught(ClampsEpochs, &["refuses_to_erase_below_an_epoch_that_none_can_follow"]).await;
}

/// Refuses to settle through a number that no note has.
#[derive(Clone, Debug)]
struct RefusesLargeSettlements;

#[async_trait]
impl Break for RefusesLargeSettlements {
    async fn settle(&self, inner: &MemChat, index: &IndexName, notes: &[(Note, Outcome)]) -> Result<()> {
        let is_large = |outcome: &Outcome| matches!(outcome, Outcome::Done { through } if through.0 > LARGEST);
        if notes.iter().any(|(_, outcome)| is_large(outcome)) {
            return Err(Error::invalid("a number is too large to be stored"));
        }
        inner.settle(index, notes).await
    }
}

#[tokio::test]
async fn a_store_that_refuses_large_settlements_is_caught() {
    caught(RefusesLargeSettlements, &["a_settlement_through_the_largest_number_is_a_settlement"]).await;
}

/// Restores any number as the largest that is allowed.
#[derive(Clone, Debug)]
struct ClampsNumbers;

#[async_trait]
impl records_stores::Break for ClampsNumbers {
    async fn restore(
        &self,
        inner: &MemRecords,
        scope: &Scope,
        epoch: Option<Epoch>,
        rows: &[StoredRecord],
        replace: Replace,
    ) -> Result<()> {
        let clamped = rows.iter().map(|row| {
            let (version, access_count) = (row.version.min(LARGEST), row.access_count.min(LARGEST));
            StoredRecord { version, access_count, ..row.clone() }
        });
        inner.restore(scope, epoch, &clamped.collect::<Vec<_>>(), replace).await
    }
}

#[tokio::test]
async fn a_store_that_restores_any_number_is_caught() {
    records_stores::caught(ClampsNumbers, &["refuses_numbers_that_cannot_be_counted_on_from"]).await;
}

/// Looks for the number behind the one settled, and finds none behind the largest.
#[derive(Clone, Debug)]
struct NeverSettlesTheLargest;

#[async_trait]
impl records_stores::Break for NeverSettlesTheLargest {
    async fn settle(&self, inner: &MemRecords, index: &IndexName, notes: &[(Note, Outcome)]) -> Result<()> {
        let has_next = |(note, _): &&(Note, Outcome)| note.upto.0 < LARGEST;
        inner.settle(index, &notes.iter().filter(has_next).cloned().collect::<Vec<_>>()).await
    }
}

#[tokio::test]
async fn a_store_that_never_settles_the_largest_version_is_caught() {
    records_stores::caught(NeverSettlesTheLargest, &["the_note_of_the_largest_version_is_settled"]).await;
}
