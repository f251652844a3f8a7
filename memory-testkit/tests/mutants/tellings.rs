//! Record stores that lose sight of tellings.

use std::sync::Arc;

use async_trait::async_trait;
use memory_core::reference::MemRecords;
use memory_core::store::records::RecordStore as _;
use memory_core::store::records::{Put, RecordBatch};
use memory_core::{Fields, Filter, Record, RecordId, Result, Scope, StoredRecord};

use crate::records_stores::{Break, caught};

/// Keeps the first telling of a record.
#[derive(Clone, Debug)]
struct DropsTellings;

#[async_trait]
impl Break for DropsTellings {
    async fn put(&self, inner: &MemRecords, scope: &Scope, batch: &RecordBatch) -> Result<Vec<u64>> {
        let first = |record: &Record| Arc::new(Record { again: Vec::new(), ..record.clone() });
        let puts = batch.puts.iter().map(|put| Put { record: first(&put.record), expect: put.expect }).collect();
        inner.put(scope, &RecordBatch { fence: batch.fence, puts }).await
    }
}

#[tokio::test]
async fn a_store_that_drops_tellings_is_caught() {
    let by = ["s1_10_keeps_every_record_byte_for_byte", "filters_see_the_fold_of_all_tellings"];
    caught(DropsTellings, &by).await;
}

/// Filters by what a record was told at first, whoever told it again.
#[derive(Clone, Debug)]
struct SeesTheFirstTelling;

#[async_trait]
impl Break for SeesTheFirstTelling {
    async fn scan(
        &self,
        inner: &MemRecords,
        scope: &Scope,
        filter: &Filter,
        after: Option<RecordId>,
        limit: usize,
    ) -> Result<Vec<StoredRecord>> {
        let mut rows = inner.scan(scope, &Filter::All, after, usize::MAX).await?;
        let first = |record: &Record| Record { again: Vec::new(), ..record.clone() };
        rows.retain(|row| filter.matches(&Fields::of_record(&first(&row.record))));
        rows.truncate(limit);
        Ok(rows)
    }
}

#[tokio::test]
async fn a_filter_that_sees_the_first_telling_alone_is_caught() {
    let by = ["filters_see_the_fold_of_all_tellings", "what_a_telling_added_is_found_no_more_when_it_is_taken_back"];
    caught(SeesTheFirstTelling, &by).await;
}
