//! The upkeep of conversations.

use std::ops::Bound;

use async_trait::async_trait;

use super::{MemChat, Tables};
use crate::error::Result;
use crate::id::Seq;
use crate::reference::notes::Mark;
use crate::scope::{Epoch, Scope};
use crate::store::upkeep::{Backlog, Enlisted, Incarnation, IndexName, Note, Outcome, Target, Upkeep};
use crate::time::Timestamp;

#[async_trait]
impl Upkeep for MemChat {
    async fn enlist(&self, index: &IndexName, incarnation: Option<Incarnation>, limit: usize) -> Result<bool> {
        let mut state = self.state.lock();
        let Tables { owners, notes } = &mut *state;
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

    /// Messages do not expire.
    async fn sweep(&self, _now: Timestamp, _limit: usize) -> Result<u64> {
        Ok(0)
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
        let Tables { owners, notes } = &mut *state;
        let owner = owners.entry(scope.clone()).or_default();
        if owner.bury(seen) {
            notes.bury(scope, owner.epoch);
        }
        Ok(owner.epoch)
    }

    async fn epoch(&self, scope: &Scope) -> Result<Epoch> {
        Ok(self.state.lock().read(scope, |owner| owner.epoch))
    }
}
