//! Record stores that lead to the wrong records.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;
use memory_core::reference::MemRecords;
use memory_core::store::records::RecordBatch;
use memory_core::store::records::RecordStore as _;
use memory_core::{Field, Fields, Filter, RecordId, Result, Scope, StoredRecord};

use crate::records_stores::{Break, caught};

/// Finds records by the sources and sessions that they had when they were put first.
#[derive(Clone, Debug, Default)]
struct FollowsOldSources {
    first: Arc<Mutex<BTreeMap<RecordId, Fields>>>,
}

#[async_trait]
impl Break for FollowsOldSources {
    async fn put(&self, inner: &MemRecords, scope: &Scope, batch: &RecordBatch) -> Result<Vec<u64>> {
        let versions = inner.put(scope, batch).await?;
        let mut first = self.first.lock().unwrap_or_else(PoisonError::into_inner);
        for put in &batch.puts {
            first.entry(put.record.id).or_insert_with(|| Fields::of_record(&put.record));
        }
        Ok(versions)
    }

    async fn scan(
        &self,
        inner: &MemRecords,
        scope: &Scope,
        filter: &Filter,
        after: Option<RecordId>,
        limit: usize,
    ) -> Result<Vec<StoredRecord>> {
        let Filter::Eq(Field::Source | Field::Session, _) = filter else {
            return inner.scan(scope, filter, after, limit).await;
        };
        let mut rows = inner.scan(scope, &Filter::All, after, usize::MAX).await?;
        let first = self.first.lock().unwrap_or_else(PoisonError::into_inner);
        rows.retain(|row| first.get(&row.record.id).is_some_and(|fields| filter.matches(fields)));
        rows.truncate(limit);
        Ok(rows)
    }
}

#[tokio::test]
async fn a_store_that_follows_old_sources_is_caught() {
    caught(FollowsOldSources::default(), &["follows_sources_and_sessions_as_they_are_now"]).await;
}

/// Finds a record once for each of its sources that are sought, and counts it as often.
#[derive(Clone, Debug)]
struct FindsOncePerSource;

#[async_trait]
impl Break for FindsOncePerSource {
    async fn scan(
        &self,
        inner: &MemRecords,
        scope: &Scope,
        filter: &Filter,
        after: Option<RecordId>,
        limit: usize,
    ) -> Result<Vec<StoredRecord>> {
        let Filter::In(Field::Source, values) = filter else { return inner.scan(scope, filter, after, limit).await };
        let mut rows = Vec::new();
        for value in values {
            rows.extend(inner.scan(scope, &Filter::Eq(Field::Source, value.clone()), after, limit).await?);
        }
        rows.sort_by_key(|row| row.record.id);
        rows.truncate(limit);
        Ok(rows)
    }
}

#[tokio::test]
async fn a_store_that_finds_once_per_source_is_caught() {
    caught(FindsOncePerSource, &["pages_through_what_has_one_of_many_sources"]).await;
}
