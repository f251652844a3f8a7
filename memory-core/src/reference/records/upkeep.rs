//! The upkeep of records.

use std::ops::Bound;

use async_trait::async_trait;

use super::{MemRecords, Tables};
use crate::error::Result;
use crate::id::RecordId;
use crate::reference::notes::Mark;
use crate::scope::{Epoch, Scope};
use crate::store::upkeep::{Backlog, Enlisted, Incarnation, IndexName, Note, Outcome, Target, Upkeep};
use crate::time::Timestamp;

#[async_trait]
impl Upkeep for MemRecords {
    async fn enlist(&self, index: &IndexName, incarnation: Option<Incarnation>, limit: usize) -> Result<bool> {
        let mut state = self.state.lock();
        let Tables { owners, notes, expiring: _ } = &mut *state;
        notes.enlist(index, incarnation);
        Ok(notes.stock(index, limit, |through| {
            let from = through.clone().map_or(Bound::Unbounded, |(scope, _)| Bound::Included(scope));
            owners.range::<Scope, _>((from, Bound::Unbounded)).flat_map(move |(scope, owner)| {
                let through = through.as_ref().filter(|(last, _)| last == scope);
                let record = through.map_or(Bound::Unbounded, |(_, target)| match target {
                    Target::Record(id) => Bound::Excluded(*id),
                    _ => Bound::Unbounded,
                });
                owner.rows.range((record, Bound::Unbounded)).map(move |(id, row)| {
                    let mark = Mark::Versioned { version: row.version, gone: false };
                    (scope, Target::Record(*id), owner.epoch, mark)
                })
            })
        }))
    }

    async fn doubt(&self, index: &IndexName) -> Result<()> {
        self.state.lock().notes.doubt(index);
        Ok(())
    }

    async fn indexes(&self) -> Result<Vec<Enlisted>> {
        Ok(self.state.lock().notes.indexes())
    }

    async fn retire(&self, index: &IndexName) -> Result<()> {
        self.state.lock().notes.retire(index);
        Ok(())
    }

    async fn pending(&self, index: &IndexName, now: Timestamp, limit: usize) -> Result<Vec<Note>> {
        Ok(self.state.lock().notes.pending(index, now, limit))
    }

    async fn settle(&self, index: &IndexName, notes: &[(Note, Outcome)]) -> Result<()> {
        self.state.lock().notes.settle(index, notes);
        Ok(())
    }

    async fn revive(&self, index: &IndexName) -> Result<u64> {
        Ok(self.state.lock().notes.revive(index))
    }

    async fn backlog(&self, index: &IndexName) -> Result<Backlog> {
        Ok(self.state.lock().notes.backlog(index))
    }

    async fn backlog_of(&self, scope: &Scope, index: &IndexName) -> Result<Backlog> {
        Ok(self.state.lock().notes.backlog_of(scope, index))
    }

    async fn sweep(&self, now: Timestamp, limit: usize) -> Result<u64> {
        let mut state = self.state.lock();
        let expired = state.expiring.iter().take_while(|(at, ..)| *at <= now).take(limit);
        let expired: Vec<(Scope, RecordId)> = expired.map(|(_, scope, id)| (scope.clone(), *id)).collect();
        Ok(expired.iter().filter(|(scope, id)| state.delete(scope, *id)).count() as u64)
    }

    async fn owners(&self, after: Option<&Scope>, limit: usize) -> Result<Vec<Scope>> {
        let state = self.state.lock();
        let from = after.map_or(Bound::Unbounded, Bound::Excluded);
        let owners = state.owners.range::<Scope, _>((from, Bound::Unbounded));
        Ok(owners.filter(|(_, owner)| owner.is_known()).take(limit).map(|(scope, _)| scope.clone()).collect())
    }

    async fn bury(&self, scope: &Scope, seen: Epoch) -> Result<Epoch> {
        seen.check()?;
        let mut state = self.state.lock();
        let epoch = state.owners.get(scope).map(|owner| owner.epoch).unwrap_or_default();
        if epoch > seen {
            return Ok(epoch);
        }
        let epoch = Epoch(seen.0.saturating_add(1));
        state.drop_all(scope, epoch);
        state.notes.bury(scope, epoch);
        Ok(epoch)
    }

    async fn epoch(&self, scope: &Scope) -> Result<Epoch> {
        Ok(self.state.lock().owners.get(scope).map(|owner| owner.epoch).unwrap_or_default())
    }
}
