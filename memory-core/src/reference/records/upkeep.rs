//! The upkeep of records.

use std::ops::Bound;

use super::{MemRecords, Tables};
use crate::methods::*;
use crate::reference::notes::{Mark, noted};
use crate::store::upkeep::Target;

crate::store_methods!(Upkeep => noted { MemRecords });

impl Tables {
    fn enlist(&mut self, index: &IndexName, incarnation: Option<Incarnation>, limit: usize) -> Result<bool> {
        let Self { owners, notes, expiring: _ } = self;
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

    fn sweep(&mut self, now: Timestamp, limit: usize) -> Result<u64> {
        let expired = self.expiring.iter().take_while(|(at, ..)| *at <= now).take(limit);
        let expired: Vec<(Scope, RecordId)> = expired.map(|(_, scope, id)| (scope.clone(), *id)).collect();
        Ok(expired.iter().filter(|(scope, id)| self.delete(scope, *id)).count() as u64)
    }

    fn owners(&self, after: Option<&Scope>, limit: usize) -> Result<Vec<Scope>> {
        let from = after.map_or(Bound::Unbounded, Bound::Excluded);
        let owners = self.owners.range::<Scope, _>((from, Bound::Unbounded));
        Ok(owners.filter(|(_, owner)| owner.is_known()).take(limit).map(|(scope, _)| scope.clone()).collect())
    }

    fn bury(&mut self, scope: &Scope, seen: Epoch) -> Result<Epoch> {
        seen.check()?;
        let epoch = self.epoch(scope)?;
        if epoch > seen {
            return Ok(epoch);
        }
        let epoch = Epoch(seen.0.saturating_add(1));
        self.drop_all(scope, epoch);
        self.notes.bury(scope, epoch);
        Ok(epoch)
    }

    fn epoch(&self, scope: &Scope) -> Result<Epoch> {
        Ok(self.owners.get(scope).map(|owner| owner.epoch).unwrap_or_default())
    }
}
