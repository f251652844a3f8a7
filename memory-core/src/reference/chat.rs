//! The in-process conversation store.

mod change;
mod owner;
mod page;
mod restore;
mod session;
#[cfg(test)]
mod tests;
mod upkeep;

use std::collections::BTreeMap;

use async_trait::async_trait;

use super::in_process;
use super::notes::{Mark, Notes};
use crate::error::Result;
use crate::id::{MessageId, Seq, SeqRange, SessionId};
use crate::message::StoredMessage;
use crate::plan::chat::{Restoration, Restored};
use crate::scope::{Epoch, Scope};
use crate::store::Durability;
use crate::store::chat::{
    Append, Appended, ChatStore, Compaction, Fence, FoundMessages, Page, Placement, Redacted, SessionState, Slice,
};
use crate::sync::Lock;

use owner::Owner;

/// Conversations in this process: [`ChatStore`] and [`crate::store::upkeep::Upkeep`].
#[derive(Debug, Default)]
pub struct MemChat {
    state: Lock<Tables>,
}

#[derive(Default)]
struct Tables {
    owners: BTreeMap<Scope, Owner>,
    notes: Notes,
}

impl Tables {
    /// Notes the messages `added` by a write, and returns its answer.
    fn answer(
        &mut self,
        scope: &Scope,
        session: &SessionId,
        placements: Vec<Placement>,
        added: Option<SeqRange>,
    ) -> Appended {
        let (state, epoch) = self.read(scope, |owner| (owner.state(session), owner.epoch));
        if let Some(SeqRange { first, last }) = added {
            self.notes.mark_session(scope, session, epoch, Mark::Appended { from: first, upto: last });
        }
        Appended { placements, state, durability: Durability::Volatile }
    }

    /// Reads from an owner, known or not.
    fn read<T>(&self, scope: &Scope, read: impl FnOnce(&Owner) -> T) -> T {
        match self.owners.get(scope) {
            Some(owner) => read(owner),
            None => read(&Owner::default()),
        }
    }
}

impl MemChat {
    fn drop_below(&self, scope: &Scope, below: Epoch) -> Result<usize> {
        below.check()?;
        let mut state = self.state.lock();
        state.notes.forget(scope, below);
        Ok(state.owners.entry(scope.clone()).or_default().erase(below))
    }
}

in_process!(MemChat);

#[async_trait]
impl ChatStore for MemChat {
    async fn append(&self, scope: &Scope, session: &SessionId, batch: &Append) -> Result<Appended> {
        let mut state = self.state.lock();
        state.read(scope, |owner| owner.check_append(session, batch))?;
        if batch.messages.is_empty() {
            return Ok(state.answer(scope, session, Vec::new(), None));
        }
        let owner = state.owners.entry(scope.clone()).or_default();
        let (placements, added) = owner.append(session, batch);
        Ok(state.answer(scope, session, placements, added))
    }

    async fn restore(
        &self,
        scope: &Scope,
        session: &SessionId,
        fence: Option<Fence>,
        rows: &[StoredMessage],
    ) -> Result<Appended> {
        let rows = rows.iter().map(|row| Restored::encode(session, row, |_| ())).collect::<Result<Vec<_>>>()?;
        let mut state = self.state.lock();
        state.read(scope, |owner| owner.check_fence(session, fence))?;
        let there = state.read(scope, |owner| owner.look(session, &rows));
        let plan = Restoration::plan(&there, &rows)?;
        if rows.is_empty() {
            return Ok(state.answer(scope, session, Vec::new(), None));
        }
        let owner = state.owners.entry(scope.clone()).or_default();
        let (placements, added) = owner.restore(session, plan);
        Ok(state.answer(scope, session, placements, added))
    }

    async fn read(&self, scope: &Scope, session: &SessionId, page: &Page) -> Result<Slice> {
        let state = self.state.lock();
        Ok(state.read(scope, |owner| {
            let messages = owner.session(session).map(|kept| kept.page(page)).unwrap_or_default();
            Slice { state: owner.state(session), messages, complete: true }
        }))
    }

    async fn get(&self, scope: &Scope, ids: &[MessageId]) -> Result<FoundMessages> {
        let state = self.state.lock();
        let found = |owner: &Owner| ids.iter().filter_map(|id| owner.row(*id).cloned()).collect::<Vec<_>>();
        Ok(FoundMessages::of(state.read(scope, found)))
    }

    async fn sessions(&self, scope: &Scope, after: Option<&SessionId>, limit: usize) -> Result<Vec<SessionState>> {
        let state = self.state.lock();
        Ok(state.read(scope, |owner| owner.filled(after).take(limit).map(|session| owner.state(session)).collect()))
    }

    async fn compact(&self, scope: &Scope, session: &SessionId, change: &Compaction) -> Result<SessionState> {
        let mut state = self.state.lock();
        if let Compaction::Fold { fence, .. } = change {
            state.read(scope, |owner| owner.check_fence(session, Some(*fence)))?;
        }
        match (state.owners.get_mut(scope), change) {
            (Some(owner), Compaction::Fold { fence: _, span, ids, summary }) => {
                owner.fold(session, *span, ids, summary)?;
            }
            (Some(owner), Compaction::Unfold { summary }) => owner.unfold(session, *summary)?,
            (None, Compaction::Fold { fence: _, span, ids, summary }) => {
                Owner::default().fold(session, *span, ids, summary)?;
            }
            (None, Compaction::Unfold { .. }) => {}
        }
        Ok(state.read(scope, |owner| owner.state(session)))
    }

    async fn redact(&self, scope: &Scope, ids: &[MessageId]) -> Result<Vec<Redacted>> {
        let mut state = self.state.lock();
        let Tables { owners, notes } = &mut *state;
        let Some(owner) = owners.get_mut(scope) else { return Ok(Vec::new()) };
        let mut touched = Vec::new();
        for id in ids {
            let Some((redacted, is_message)) = owner.redact(*id) else { continue };
            if is_message {
                // The entries of its neighbours hold its words too.
                let head = owner.session(&redacted.session).map(|kept| kept.head()).unwrap_or_default();
                let from = Seq(redacted.seq.0.saturating_sub(1).max(1));
                let upto = Seq(redacted.seq.0.saturating_add(1)).min(head);
                notes.mark_session(scope, &redacted.session, owner.epoch, Mark::Changed { from, upto });
            }
            touched.push(redacted);
        }
        Ok(touched)
    }

    async fn delete(&self, scope: &Scope, seen: &SessionState) -> Result<u64> {
        let mut state = self.state.lock();
        let Tables { owners, notes } = &mut *state;
        let Some(owner) = owners.get_mut(scope) else { return Ok(0) };
        let Some(removed) = owner.delete(seen)? else { return Ok(0) };
        notes.mark_session(scope, &seen.session, owner.epoch, Mark::Emptied);
        Ok(removed)
    }
}
