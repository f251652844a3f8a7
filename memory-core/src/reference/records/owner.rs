//! All records of one owner.

use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::ops::Bound;
use std::sync::Arc;

use crate::error::{Error, Result};
use crate::fields::Fields;
use crate::filter::Filter;
use crate::id::RecordId;
use crate::plan::records::check;
use crate::record::{Record, StoredRecord};
use crate::scope::Epoch;
use crate::store::chat::Fence;
use crate::store::records::{Put, RecordBatch, Replace};
use crate::time::Timestamp;

#[derive(Debug, Default)]
pub(super) struct Owner {
    pub(super) epoch: Epoch,
    /// Rises with each deletion.
    generation: u64,
    pub(super) rows: BTreeMap<RecordId, StoredRecord>,
    /// The versions of deleted records, so that no version is given twice.
    pub(super) deleted: HashMap<RecordId, u64>,
    /// Records deleted by a burial that no erasure has counted yet.
    pub(super) buried: usize,
}

impl Owner {
    /// Returns whether there is data or a tombstone.
    pub(super) fn is_known(&self) -> bool {
        self.fence() > Fence::default() || !self.rows.is_empty() || !self.deleted.is_empty()
    }

    pub(super) fn fence(&self) -> Fence {
        Fence { epoch: self.epoch, generation: self.generation }
    }

    /// Raises the generation above that of `seen`, if `seen` is of this epoch; returns the fence afterwards.
    pub(super) fn advance(&mut self, seen: Fence) -> Fence {
        if seen.epoch == self.epoch && seen.generation >= self.generation {
            self.generation = seen.generation.saturating_add(1);
        }
        self.fence()
    }

    /// Raises the generation, unless one of the records is newer than the version to delete.
    pub(super) fn plan_delete(&mut self, records: &[(RecordId, u64)]) -> Result<()> {
        let is_newer = |(id, version): &(RecordId, u64)| self.rows.get(id).is_some_and(|row| row.version > *version);
        if records.iter().any(is_newer) {
            return Err(Error::Conflict);
        }
        self.generation = self.generation.saturating_add(1);
        Ok(())
    }

    /// Returns the records after the id `after` that match, in order.
    pub(super) fn scan<'a>(
        &'a self,
        filter: &'a Filter,
        after: Option<RecordId>,
    ) -> impl Iterator<Item = &'a StoredRecord> {
        let from = after.map_or(Bound::Unbounded, Bound::Excluded);
        let rows = self.rows.range((from, Bound::Unbounded)).map(|(_, row)| row);
        rows.filter(|row| *filter == Filter::All || filter.matches(&Fields::of_record(&row.record)))
    }

    /// Returns the newest records that match and stand behind `before`, in order.
    pub(super) fn newest(
        &self,
        filter: &Filter,
        before: Option<(Timestamp, RecordId)>,
        limit: usize,
    ) -> Vec<StoredRecord> {
        let place = |row: &StoredRecord| (row.record.created_at(), row.record.id);
        let mut found: Vec<&StoredRecord> = self.scan(filter, None).collect();
        found.retain(|row| before.is_none_or(|before| place(row) < before));
        found.sort_unstable_by_key(|row| Reverse(place(row)));
        found.into_iter().take(limit).cloned().collect()
    }

    /// Returns the version of each record of the batch, and the rows that change.
    pub(super) fn plan_put(&self, batch: &RecordBatch) -> Result<(Vec<u64>, Vec<StoredRecord>)> {
        let RecordBatch { fence, puts } = batch;
        if fence.is_some_and(|fence| fence.epoch != self.epoch) {
            return Err(Error::Fenced);
        }
        let is_outrun = fence.is_some_and(|fence| fence.generation != self.generation);
        let mut seen = HashSet::with_capacity(puts.len());
        if !puts.iter().all(|put| seen.insert(put.record.id)) {
            return Err(Error::invalid("a batch puts a record once"));
        }
        let (mut versions, mut rows) = (Vec::with_capacity(puts.len()), Vec::new());
        for Put { record, expect } in puts {
            let stored = self.rows.get(&record.id);
            if let Some(same) = stored.filter(|row| is_same(&row.record, record)) {
                versions.push(same.version);
                continue;
            }
            check(record.id, *expect, stored.map(|row| row.version), is_outrun)?;
            let version = self.last_version(record.id).saturating_add(1);
            versions.push(version);
            rows.push(StoredRecord {
                record: Arc::clone(record),
                version,
                accessed_at: stored.and_then(|row| row.accessed_at),
                access_count: stored.map_or(0, |row| row.access_count),
            });
        }
        Ok((versions, rows))
    }

    /// Returns the rows of a restore that are newer than the stored ones.
    pub(super) fn plan_restore(&self, rows: &[StoredRecord], replace: Replace) -> Result<Vec<StoredRecord>> {
        let mut plan: BTreeMap<RecordId, &StoredRecord> = BTreeMap::new();
        for row in rows {
            row.check_numbers()?;
            let id = row.record.id;
            let stored = plan.get(&id).copied().or_else(|| self.rows.get(&id));
            let last = stored.map_or_else(|| self.last_version(id), |stored| stored.version);
            let may_replace = replace == Replace::Older || last == 0;
            if may_replace && row.version > last {
                plan.insert(id, row);
            } else if !stored.is_some_and(|stored| is_same(&stored.record, &row.record)) {
                return Err(Error::Conflict);
            }
        }
        Ok(plan.into_values().cloned().collect())
    }

    /// Begins `epoch` without data; returns the old data.
    pub(super) fn begin(&mut self, epoch: Epoch) -> BTreeMap<RecordId, StoredRecord> {
        self.epoch = epoch;
        self.buried += self.rows.len();
        self.deleted = HashMap::new();
        std::mem::take(&mut self.rows)
    }

    /// Returns the highest version that the record ever had; 0 if it is new.
    fn last_version(&self, id: RecordId) -> u64 {
        let stored = self.rows.get(&id).map(|row| row.version);
        stored.or_else(|| self.deleted.get(&id).copied()).unwrap_or(0)
    }
}

fn is_same(stored: &Arc<Record>, record: &Arc<Record>) -> bool {
    Arc::ptr_eq(stored, record) || stored.encode() == record.encode()
}
