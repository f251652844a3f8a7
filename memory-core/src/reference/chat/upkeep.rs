//! The upkeep of conversations.

use std::ops::Bound;

use super::{MemChat, Tables};
use crate::id::Seq;
use crate::methods::*;
use crate::reference::notes::{Mark, noted};
use crate::store::upkeep::Target;

crate::store_methods!(Upkeep => noted { MemChat });

impl Tables {
    fn enlist(&mut self, index: &IndexName, incarnation: Option<Incarnation>, limit: usize) -> Result<bool> {
        let Self { owners, notes } = self;
        notes.enlist(index, incarnation);
        Ok(notes.stock(index, limit, |through| {
            let from = through.clone().map_or(Bound::Unbounded, |(scope, _)| Bound::Included(scope));
            owners.range::<Scope, _>((from, Bound::Unbounded)).flat_map(move |(scope, owner)| {
                let through = through.as_ref().filter(|(last, _)| last == scope);
                let session = through.and_then(|(_, target)| match target {
                    Target::Messages(session) => Some(session),
                    _ => None,
                });
                let sessions: Vec<_> = owner.filled(session).collect();
                sessions.into_iter().map(move |session| {
                    let upto = owner.session(session).map(|kept| kept.head()).unwrap_or_default();
                    (scope, Target::Messages(session.clone()), owner.epoch, Mark::Changed { from: Seq(1), upto })
                })
            })
        }))
    }

    /// Messages do not expire.
    fn sweep(&self, _now: Timestamp, _limit: usize) -> Result<u64> {
        Ok(0)
    }

    fn owners(&self, after: Option<&Scope>, limit: usize) -> Result<Vec<Scope>> {
        let from = after.map_or(Bound::Unbounded, Bound::Excluded);
        let owners = self.owners.range::<Scope, _>((from, Bound::Unbounded));
        Ok(owners.filter(|(_, owner)| owner.is_known()).take(limit).map(|(scope, _)| scope.clone()).collect())
    }

    fn bury(&mut self, scope: &Scope, seen: Epoch) -> Result<Epoch> {
        seen.check()?;
        let owner = self.owners.entry(scope.clone()).or_default();
        if owner.bury(seen) {
            self.notes.bury(scope, owner.epoch);
        }
        Ok(owner.epoch)
    }

    fn epoch(&self, scope: &Scope) -> Result<Epoch> {
        Ok(self.read(scope, |owner| owner.epoch))
    }
}
