//! The in-process record store.

mod owner;
#[cfg(test)]
mod tests;
mod upkeep;

use std::collections::{BTreeMap, BTreeSet};

use async_trait::async_trait;

use super::in_process;
use super::notes::{Mark, Notes};
use crate::error::{Error, Result};
use crate::filter::Filter;
use crate::id::RecordId;
use crate::record::StoredRecord;
use crate::scope::{Epoch, Scope};
use crate::store::Durability;
use crate::store::chat::Fence;
use crate::store::records::{RecordBatch, RecordStore, Replace};
use crate::store::upkeep::Target;
use crate::sync::Lock;
use crate::time::Timestamp;

use owner::Owner;

/// Records in this process: [`RecordStore`] and [`crate::store::upkeep::Upkeep`].
#[derive(Debug, Default)]
pub struct MemRecords {
    state: Lock<Tables>,
}

#[derive(Default)]
struct Tables {
    owners: BTreeMap<Scope, Owner>,
    notes: Notes,
    /// The records that will expire, soonest first.
    expiring: BTreeSet<(Timestamp, Scope, RecordId)>,
}

/// When a sweep may delete the record.
fn expiry(row: &StoredRecord) -> Option<Timestamp> {
    let record = &row.record;
    if record.hold { None } else { record.expires_at() }
}

impl Tables {
    /// Stores rows of an owner in place of the old ones, and notes them.
    fn store(&mut self, scope: &Scope, rows: Vec<StoredRecord>) {
        if rows.is_empty() {
            return;
        }
        let Self { owners, notes, expiring } = self;
        let owner = owners.entry(scope.clone()).or_default();
        for row in rows {
            let (id, version) = (row.record.id, row.version);
            if let Some(at) = expiry(&row) {
                expiring.insert((at, scope.clone(), id));
            }
            let new = expiry(&row);
            let old = owner.rows.insert(id, row).as_ref().and_then(expiry).filter(|old| Some(*old) != new);
            if let Some(at) = old {
                expiring.remove(&(at, scope.clone(), id));
            }
            owner.deleted.remove(&id);
            notes.mark(scope, &Target::Record(id), owner.epoch, Mark::Versioned { version, gone: false });
        }
    }

    /// Deletes a record, keeps its version as a tombstone, and notes it gone; returns whether there was one.
    fn delete(&mut self, scope: &Scope, id: RecordId) -> bool {
        let Some(owner) = self.owners.get_mut(scope) else { return false };
        let Some(row) = owner.rows.remove(&id) else { return false };
        let version = row.version.saturating_add(1);
        owner.deleted.insert(id, version);
        if let Some(at) = expiry(&row) {
            self.expiring.remove(&(at, scope.clone(), id));
        }
        self.notes.mark(scope, &Target::Record(id), owner.epoch, Mark::Versioned { version, gone: true });
        true
    }

    /// Drops everything that an owner stored before `epoch`, which becomes its epoch.
    fn drop_all(&mut self, scope: &Scope, epoch: Epoch) {
        let owner = self.owners.entry(scope.clone()).or_default();
        for (id, row) in owner.begin(epoch) {
            if let Some(at) = expiry(&row) {
                self.expiring.remove(&(at, scope.clone(), id));
            }
        }
    }
}

impl MemRecords {
    fn drop_below(&self, scope: &Scope, below: Epoch) -> Result<usize> {
        below.check()?;
        let mut state = self.state.lock();
        state.notes.forget(scope, below);
        // All data is of the present epoch, because a new epoch begins with nothing.
        if state.owners.get(scope).is_none_or(|owner| owner.epoch < below) {
            state.drop_all(scope, below);
        }
        Ok(state.owners.get_mut(scope).map_or(0, |owner| std::mem::take(&mut owner.buried)))
    }
}

in_process!(MemRecords);

#[async_trait]
impl RecordStore for MemRecords {
    fn durability(&self) -> Durability {
        Durability::Volatile
    }

    async fn put(&self, scope: &Scope, batch: &RecordBatch) -> Result<Vec<u64>> {
        let mut state = self.state.lock();
        let (versions, rows) = match state.owners.get(scope) {
            Some(owner) => owner.plan_put(batch)?,
            None => Owner::default().plan_put(batch)?,
        };
        state.store(scope, rows);
        Ok(versions)
    }

    async fn get(&self, scope: &Scope, ids: &[RecordId]) -> Result<Vec<StoredRecord>> {
        let state = self.state.lock();
        let Some(owner) = state.owners.get(scope) else { return Ok(Vec::new()) };
        Ok(ids.iter().filter_map(|id| owner.rows.get(id).cloned()).collect())
    }

    async fn scan(
        &self,
        scope: &Scope,
        filter: &Filter,
        after: Option<RecordId>,
        limit: usize,
    ) -> Result<Vec<StoredRecord>> {
        let state = self.state.lock();
        let Some(owner) = state.owners.get(scope) else { return Ok(Vec::new()) };
        Ok(owner.scan(filter, after).take(limit).cloned().collect())
    }

    async fn newest(
        &self,
        scope: &Scope,
        filter: &Filter,
        before: Option<(Timestamp, RecordId)>,
        limit: usize,
    ) -> Result<Vec<StoredRecord>> {
        let state = self.state.lock();
        let Some(owner) = state.owners.get(scope) else { return Ok(Vec::new()) };
        Ok(owner.newest(filter, before, limit))
    }

    async fn touch(&self, scope: &Scope, ids: &[RecordId], at: Timestamp) -> Result<()> {
        let mut state = self.state.lock();
        let Some(owner) = state.owners.get_mut(scope) else { return Ok(()) };
        for id in ids {
            let Some(row) = owner.rows.get_mut(id).filter(|row| row.accessed_at < Some(at)) else { continue };
            row.accessed_at = Some(at);
            row.access_count = row.access_count.saturating_add(1);
        }
        Ok(())
    }

    async fn fence(&self, scope: &Scope) -> Result<Fence> {
        Ok(self.state.lock().owners.get(scope).map(Owner::fence).unwrap_or_default())
    }

    async fn advance(&self, scope: &Scope, seen: Fence) -> Result<Fence> {
        seen.check()?;
        Ok(self.state.lock().owners.entry(scope.clone()).or_default().advance(seen))
    }

    async fn delete(&self, scope: &Scope, records: &[(RecordId, u64)]) -> Result<u64> {
        if records.is_empty() {
            return Ok(0);
        }
        let mut state = self.state.lock();
        state.owners.entry(scope.clone()).or_default().plan_delete(records)?;
        Ok(records.iter().filter(|(id, _)| state.delete(scope, *id)).count() as u64)
    }

    async fn restore(
        &self,
        scope: &Scope,
        epoch: Option<Epoch>,
        rows: &[StoredRecord],
        replace: Replace,
    ) -> Result<()> {
        if rows.is_empty() {
            return Ok(());
        }
        let mut state = self.state.lock();
        let now = state.owners.get(scope).map_or(Epoch(0), |owner| owner.epoch);
        if epoch.is_some_and(|epoch| epoch != now) {
            return Err(Error::Fenced);
        }
        let rows = match state.owners.get(scope) {
            Some(owner) => owner.plan_restore(rows, replace)?,
            None => Owner::default().plan_restore(rows, replace)?,
        };
        state.store(scope, rows);
        Ok(())
    }
}
