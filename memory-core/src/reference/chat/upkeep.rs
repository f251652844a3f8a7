//! The upkeep of conversations.

use std::ops::Bound;

use async_trait::async_trait;

use super::{MemChat, State};
use crate::error::Result;
use crate::id::Seq;
use crate::reference::notes::Mark;
use crate::scope::{Epoch, Scope};
use crate::time::Timestamp;
use crate::upkeep::{Backlog, IndexName, Note, Outcome, Target, Upkeep};

#[async_trait]
impl Upkeep for MemChat {
    async fn enlist(&self, index: &IndexName) -> Result<()> {
        let mut state = self.state.lock();
        let State { owners, notes } = &mut *state;
        if !notes.enlist(index) {
            return Ok(());
        }
        for (scope, owner) in owners {
            for session in owner.filled(None) {
                let upto = owner.session(session).map(|kept| kept.head()).unwrap_or_default();
                let mark = Mark::Appended { from: Seq(1), upto };
                notes.mark_for(index, scope, &Target::Messages(session.clone()), owner.epoch, mark);
            }
        }
        Ok(())
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
        let State { owners, notes } = &mut *state;
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
