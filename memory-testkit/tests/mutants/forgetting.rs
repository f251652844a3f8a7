//! Stores over which a memory cannot forget, caught by the rounds of forgetting.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;
use memory_core::reference::{MemChat, MemRecords};
use memory_core::store::chat::{ChatStore as _, FoundMessages, Redacted};
use memory_core::store::records::RecordBatch;
use memory_core::store::records::RecordStore as _;
use memory_core::{Field, Filter, MessageId, Record, RecordId, Result, Scope, StoredRecord};
use memory_testkit::forgetting::table;
use memory_testkit::isolation::Stores;
use memory_testkit::{Chat, Records};

use crate::fences::StandsStill;
use crate::{chat_stores, frame, records_stores};

async fn caught_in_chat(by: &[&str], make: impl Fn() -> Chat + Send + Sync + 'static) {
    frame::caught(&table(), by, move |_| Stores { chat: Some(make()), ..Stores::default() }).await;
}

async fn caught_in_records(by: &[&str], make: impl Fn() -> Records + Send + Sync + 'static) {
    frame::caught(&table(), by, move |_| Stores { records: Some(make()), ..Stores::default() }).await;
}

const LOST: &str = "a_forget_whose_answers_were_lost_is_ended_by_a_repeat";
const GIVEN_UP: &str = "a_forget_that_was_given_up_is_ended_by_a_repeat";

/// Looks for the first of several sources.
#[derive(Clone, Debug)]
struct LooksForOneSource;

#[async_trait]
impl records_stores::Break for LooksForOneSource {
    async fn scan(
        &self,
        inner: &MemRecords,
        scope: &Scope,
        filter: &Filter,
        after: Option<RecordId>,
        limit: usize,
    ) -> Result<Vec<StoredRecord>> {
        let mut filter = filter.clone();
        if let Filter::In(Field::Source, sources) = &mut filter {
            sources.truncate(1);
        }
        inner.scan(scope, &filter, after, limit).await
    }
}

#[tokio::test]
async fn a_scan_for_the_first_of_many_sources_is_caught() {
    let by =
        [LOST, GIVEN_UP, "all_falls_that_was_derived_from_one_message", "all_falls_that_was_derived_in_one_session"];
    caught_in_records(&by, || records_stores::store(LooksForOneSource)).await;
}

/// Deletes the first record of a list and says that it were all.
#[derive(Clone, Debug)]
struct DeletesTheFirst;

#[async_trait]
impl records_stores::Break for DeletesTheFirst {
    async fn delete(&self, inner: &MemRecords, scope: &Scope, records: &[(RecordId, u64)]) -> Result<u64> {
        inner.delete(scope, &records.iter().copied().take(1).collect::<Vec<_>>()).await?;
        Ok(records.len() as u64)
    }
}

#[tokio::test]
async fn a_deletion_of_the_first_of_many_is_caught() {
    caught_in_records(&["all_falls_that_was_derived_from_one_message"], || records_stores::store(DeletesTheFirst))
        .await;
}

/// Does not keep that a record is doomed.
#[derive(Clone, Debug)]
struct ForgetsDoom;

#[async_trait]
impl records_stores::Break for ForgetsDoom {
    async fn get(&self, inner: &MemRecords, scope: &Scope, ids: &[RecordId]) -> Result<Vec<StoredRecord>> {
        let spared = |row: StoredRecord| {
            let record = Arc::new(Record { doomed: false, ..Record::clone(&row.record) });
            StoredRecord { record, ..row }
        };
        Ok(inner.get(scope, ids).await?.into_iter().map(spared).collect())
    }
}

#[tokio::test]
async fn a_doom_that_is_not_kept_is_caught() {
    caught_in_records(&["what_is_derived_from_what_is_about_to_fall_is_refused"], || {
        records_stores::store(ForgetsDoom)
    })
    .await;
}

/// Still has by id what was deleted.
#[derive(Clone, Debug, Default)]
struct KeepsCopies(Arc<Mutex<BTreeMap<RecordId, StoredRecord>>>);

#[async_trait]
impl records_stores::Break for KeepsCopies {
    async fn put(&self, inner: &MemRecords, scope: &Scope, batch: &RecordBatch) -> Result<Vec<u64>> {
        let versions = inner.put(scope, batch).await?;
        let ids: Vec<_> = batch.puts.iter().map(|put| put.record.id).collect();
        let rows = inner.get(scope, &ids).await?;
        let mut copies = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        copies.extend(rows.into_iter().map(|row| (row.record.id, row)));
        Ok(versions)
    }

    async fn get(&self, _: &MemRecords, _: &Scope, ids: &[RecordId]) -> Result<Vec<StoredRecord>> {
        let copies = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        Ok(ids.iter().filter_map(|id| copies.get(id).cloned()).collect())
    }
}

#[tokio::test]
async fn deleted_records_that_are_still_read_are_caught() {
    let by = [LOST, GIVEN_UP, "nothing_is_derived_from_what_is_not_stored"];
    caught_in_records(&by, || records_stores::store(KeepsCopies::default())).await;
}

#[tokio::test]
async fn puts_that_outlive_a_forget_are_caught() {
    let by = [
        "a_put_that_was_under_way_brings_nothing_back",
        "what_takes_a_place_while_its_source_is_forgotten_is_refused_too",
    ];
    caught_in_records(&by, || records_stores::store(StandsStill)).await;
}

/// Does not say which summary covers a message.
#[derive(Clone, Debug)]
struct HidesWhatCovers;

#[async_trait]
impl chat_stores::Break for HidesWhatCovers {
    async fn get(&self, inner: &MemChat, scope: &Scope, ids: &[MessageId]) -> Result<FoundMessages> {
        let mut found = inner.get(scope, ids).await?;
        found.messages.iter_mut().for_each(|row| row.archived_by = None);
        Ok(found)
    }
}

#[tokio::test]
async fn a_get_that_does_not_tell_the_summary_is_caught() {
    caught_in_chat(&[LOST], || chat_stores::store(HidesWhatCovers)).await;
}

/// Forgets nothing where it is asked for the first time.
#[derive(Clone, Debug, Default)]
struct ForgetsTheSecondTime(Arc<Mutex<Vec<MessageId>>>);

#[async_trait]
impl chat_stores::Break for ForgetsTheSecondTime {
    async fn redact(&self, inner: &MemChat, scope: &Scope, ids: &[MessageId]) -> Result<Vec<Redacted>> {
        let known: Vec<MessageId> = {
            let mut asked = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            let known = ids.iter().copied().filter(|id| asked.contains(id)).collect();
            asked.extend(ids);
            known
        };
        inner.redact(scope, &known).await
    }
}

#[tokio::test]
async fn a_redaction_that_has_to_be_asked_twice_is_caught() {
    caught_in_chat(&[LOST, GIVEN_UP], || chat_stores::store(ForgetsTheSecondTime::default())).await;
}
