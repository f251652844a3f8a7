//! What is taken into the queue: what is known of sessions and owners decides it.

use std::collections::HashMap;

use crate::error::{Error, Result};
use crate::id::{MessageId, SessionId};
use crate::number;
use crate::plan::chat::id_conflict;
use crate::scope::{Epoch, Scope};
use crate::store::chat::{Append, Fence, NewMessage, Placement, Redacted, SessionState};
use crate::store::journal::Queued;

use super::super::waiting::{Reach, Row};
use super::{KNOWN, Queue, Stale};

/// An append that may be queued.
#[derive(Clone, Debug)]
pub(crate) struct Admitted {
    /// What of it does not wait yet.
    pub(crate) new: Append,
    /// One per message.
    pub(crate) placements: Vec<Placement>,
    /// The least epoch that the owner could have then.
    pub(crate) floor: Epoch,
}

/// Whether the primary was asked how a session is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Look {
    NotYet,
    Answered,
    Away,
}

impl Queue {
    /// Checks an append, and returns what of it is to be queued: messages that do not wait yet. None if the session must be looked
    /// at in the primary before, or once more, because the answer tells nothing.
    ///
    /// # Errors
    /// `Fenced` if the session has another fence; `IdConflict` if an id waits with other content or elsewhere; `Invalid` for a
    /// number that is too large to be stored.
    pub(crate) fn admit(
        &self,
        scope: &Scope,
        session: &SessionId,
        batch: &Append,
        look: Look,
    ) -> Result<Option<Admitted>> {
        let Some(fence) = self.fence(scope, session, batch.fence, look)? else { return Ok(None) };
        let forgotten = self.forgotten.get(scope);
        let mut placements = Vec::with_capacity(batch.messages.len());
        let mut messages: Vec<NewMessage> = Vec::with_capacity(batch.messages.len());
        let mut new: HashMap<MessageId, usize> = HashMap::new();
        number::stored(batch.asked)?;
        for message in &batch.messages {
            // What no primary could store is not queued for it.
            number::stored(message.tokens)?;
            let id = message.message.id;
            let is_forgotten = forgotten.is_some_and(|forgotten| forgotten.contains_key(&id));
            placements.push(if is_forgotten { Placement::Forgotten } else { Placement::Queued });
            if is_forgotten {
                continue;
            }
            let earlier = new.get(&id).and_then(|place| messages.get(*place));
            let same = match earlier {
                Some(earlier) => is_same(earlier, message),
                None => match self.find(scope, id) {
                    None => {
                        new.insert(id, messages.len());
                        messages.push(message.clone());
                        continue;
                    }
                    Some(row) => row.queued.session == *session && is_same(&row.queued.new, message),
                },
            };
            if !same {
                return Err(id_conflict(id));
            }
        }
        let new = Append { fence, asked: batch.asked, messages };
        Ok(Some(Admitted { new, placements, floor: self.floor(scope) }))
    }

    /// Returns the fence that messages of a handle are queued with, which is none if nothing can be known of the session. None
    /// if the session must be looked at before, or once more.
    fn fence(
        &self,
        scope: &Scope,
        session: &SessionId,
        seen: Option<Fence>,
        look: Look,
    ) -> Result<Option<Option<Fence>>> {
        if seen.is_some_and(|seen| seen.epoch < self.floor(scope)) {
            return Err(Error::Fenced);
        }
        let known = self.known(scope, session).map(|state| state.fence);
        match (seen, known, look) {
            (None, Some(known), _) => Ok(Some(Some(known))),
            (Some(seen), Some(known), _) if seen == known => Ok(Some(Some(known))),
            // Also for a handle that has seen an older state: the primary may have gone back to that.
            (_, _, Look::NotYet) | (None, None, Look::Answered) => Ok(None),
            (Some(seen), Some(known), _) if seen < known => Err(Error::Fenced),
            (Some(_), Some(_), Look::Answered) => Err(Error::Fenced),
            // Who could not ask the primary saw a session that nobody has erased, which may not be so.
            (seen, None, _) => Ok(Some(seen.filter(|seen| *seen != Fence::default()))),
            (Some(seen), Some(_), Look::Away) => Ok(Some(Some(seen))),
        }
    }

    /// Returns whether a message that was admitted with this fence, when `floor` was the least epoch of its owner, is one from before
    /// an erasure that is known by now. One without a fence was admitted while nothing was known of its session: it is overtaken by
    /// whatever tells that the session or its owner was erased.
    pub(crate) fn is_overtaken(&self, scope: &Scope, session: &SessionId, fence: Option<Fence>, floor: Epoch) -> bool {
        let least = self.floor(scope);
        let is_erased = least > floor && fence.is_none_or(|fence| fence.epoch < least);
        is_erased || self.known(scope, session).is_some_and(|known| fence.unwrap_or_default() < known.fence)
    }

    /// Returns the least epoch that the owner may have, as far as this process knows.
    pub(crate) fn floor(&self, scope: &Scope) -> Epoch {
        self.floors.get(scope).copied().unwrap_or_default()
    }

    /// Returns the message with this id, if it waits.
    fn find(&self, scope: &Scope, id: MessageId) -> Option<&Row> {
        let owner = self.owners.get(scope)?;
        let waiting = owner.sessions.get(&owner.ids.get(&id)?.0)?;
        waiting.rows.iter().find(|row| row.id() == id)
    }

    /// Returns a session in the primary, as it was last seen.
    pub(crate) fn known(&self, scope: &Scope, session: &SessionId) -> Option<&SessionState> {
        self.known.get(&(scope.clone(), session.clone()))
    }

    /// Notes a session as it is in the primary. What was queued before it was erased leaves, and the ids of its messages are free
    /// again, whoever erased it.
    pub(crate) fn know(&mut self, scope: &Scope, state: &SessionState) {
        self.learn(scope, state, None);
    }

    /// As [`Queue::know`], from an answer to whoever knew the session as `before`: where that is still so, nothing has overtaken the
    /// answer, and an older state is one to which the primary has gone back.
    pub(crate) fn learn(&mut self, scope: &Scope, state: &SessionState, before: Option<Fence>) {
        let place = (scope.clone(), state.session.clone());
        let known = self.known.get(&place).map(|known| known.fence);
        let is_older = state.fence.epoch < self.floor(scope) || known > Some(state.fence);
        if is_older && (before.is_none() || known != before) {
            // The answer is from before an erasure, and comes late.
            return;
        }
        if known.is_some_and(|known| known != state.fence) {
            self.free(scope, &state.session);
        }
        if self.known.len() >= KNOWN && known.is_none() {
            self.known.clear();
            self.forgotten.clear();
        }
        self.known.insert(place, state.clone());
        let is_stale = |queued: &Queued| queued.fence.is_some_and(|fence| fence < state.fence);
        self.drop_stale(scope, &state.session, state.fence, is_stale);
    }

    /// Notes that an owner was erased: nothing below this epoch is taken any more, and what was queued before leaves.
    pub(crate) fn bury(&mut self, scope: &Scope, epoch: Epoch) {
        let below = Fence { epoch, generation: 0 };
        self.known.retain(|(owner, _), state| owner != scope || state.fence >= below);
        if self.floors.len() >= KNOWN && !self.floors.contains_key(scope) {
            self.floors.clear();
        }
        let floor = self.floors.entry(scope.clone()).or_default();
        *floor = (*floor).max(epoch);
        self.forgotten.remove(scope);
        for session in self.sessions(scope, None) {
            self.drop_stale(scope, &session, below, |queued| queued.is_before(below));
        }
    }

    /// Notes messages of an owner that were forgotten: their ids stay taken, as long as their session is known. Else nobody would
    /// notice that they are free again.
    pub(crate) fn forget(&mut self, scope: &Scope, redacted: &[Redacted]) {
        let known = redacted.iter().filter(|redacted| self.known(scope, &redacted.session).is_some());
        let ids: Vec<_> = known.map(|redacted| (redacted.id, redacted.session.clone())).collect();
        if ids.is_empty() {
            return;
        }
        if self.forgotten.values().map(HashMap::len).sum::<usize>() + ids.len() > KNOWN {
            self.forgotten.clear();
        }
        self.forgotten.entry(scope.clone()).or_default().extend(ids);
    }

    /// Notes that a session was deleted, so that the ids of its messages are free again.
    pub(crate) fn free(&mut self, scope: &Scope, session: &SessionId) {
        if let Some(forgotten) = self.forgotten.get_mut(scope) {
            forgotten.retain(|_, of| of != session);
            if forgotten.is_empty() {
                self.forgotten.remove(scope);
            }
        }
    }

    fn drop_stale(&mut self, scope: &Scope, session: &SessionId, below: Fence, is_stale: impl Fn(&Queued) -> bool) {
        let is_any =
            self.waiting(scope, session).is_some_and(|waiting| waiting.rows.iter().any(|row| is_stale(&row.queued)));
        if is_any {
            let numbers = self.remove(scope, session, Reach::All, is_stale);
            self.stale.push(Stale { scope: scope.clone(), session: session.clone(), below, numbers });
        }
    }

    /// Returns what left because its session or owner was erased, once: the journal still has it.
    pub(crate) fn take_stale(&mut self) -> Vec<Stale> {
        std::mem::take(&mut self.stale)
    }
}

/// Returns whether two messages of one id have the same content.
fn is_same(one: &NewMessage, other: &NewMessage) -> bool {
    one.message == other.message || one.message.encode() == other.message.encode()
}
