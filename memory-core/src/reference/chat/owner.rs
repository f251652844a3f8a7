//! All conversations of one owner.

use std::collections::hash_map::Entry;
use std::collections::{BTreeMap, HashMap};
use std::ops::Bound;
use std::sync::Arc;

use super::session::{Position, Session};
use crate::error::{Error, Result};
use crate::id::{MessageId, SeqRange, SessionId};
use crate::message::{Message, StoredMessage};
use crate::plan::chat::id_conflict;
use crate::scope::Epoch;
use crate::store::chat::{Append, Fence, NewMessage, Placement, SessionState};

/// Where an id is stored. If nothing is there any more, it was forgotten, and the id stays taken.
#[derive(Debug)]
pub(super) struct Location {
    pub(super) session: SessionId,
    pub(super) position: Position,
}

#[derive(Debug, Default)]
pub(super) struct Owner {
    pub(super) epoch: Epoch,
    pub(super) sessions: BTreeMap<SessionId, Session>,
    pub(super) ids: HashMap<MessageId, Location>,
    /// Items deleted by a burial that no erasure has counted yet.
    buried: usize,
}

impl Owner {
    pub(super) fn session(&self, session: &SessionId) -> Option<&Session> {
        self.sessions.get(session)
    }

    pub(super) fn state(&self, session: &SessionId) -> SessionState {
        match self.sessions.get(session) {
            Some(kept) => kept.state(session, self.epoch),
            None => Session::default().state(session, self.epoch),
        }
    }

    /// Returns the sessions that hold messages, after `after`, in order.
    pub(super) fn filled(&self, after: Option<&SessionId>) -> impl Iterator<Item = &SessionId> {
        let from = after.map_or(Bound::Unbounded, Bound::Excluded);
        let sessions = self.sessions.range::<SessionId, _>((from, Bound::Unbounded));
        sessions.filter(|(_, kept)| !kept.is_empty()).map(|(session, _)| session)
    }

    /// Returns whether there is data or a tombstone.
    pub(super) fn is_known(&self) -> bool {
        self.epoch > Epoch(0) || !self.sessions.is_empty()
    }

    /// Returns the message or summary with this id, unless it is forgotten or unknown.
    pub(super) fn content(&self, id: MessageId) -> Option<&StoredMessage> {
        self.row(id).filter(|row| row.message.is_some())
    }

    /// Returns the row with this id, also one without content.
    pub(super) fn row(&self, id: MessageId) -> Option<&StoredMessage> {
        let place = self.ids.get(&id)?;
        self.sessions.get(&place.session)?.get(place.position)
    }

    /// Returns `Ok` if this is the fence of a session, or none.
    pub(super) fn check_fence(&self, session: &SessionId, fence: Option<Fence>) -> Result<()> {
        let generation = self.sessions.get(session).map_or(0, Session::generation);
        let now = Fence { epoch: self.epoch, generation };
        if fence.is_none_or(|fence| fence == now) { Ok(()) } else { Err(Error::Fenced) }
    }

    /// Returns `Ok` if the batch can be appended.
    pub(super) fn check_append(&self, session: &SessionId, batch: &Append) -> Result<()> {
        let Append { fence, asked: _, messages } = batch;
        self.check_fence(session, *fence)?;
        let mut seen: HashMap<MessageId, &Message> = HashMap::with_capacity(messages.len());
        for NewMessage { message, .. } in messages {
            if let Some(stored) = self.content(message.id)
                && !is_same(stored, session, message)
            {
                return Err(id_conflict(message.id));
            }
            if let Some(earlier) = seen.insert(message.id, message)
                && earlier.encode() != message.encode()
            {
                return Err(id_conflict(message.id));
            }
        }
        Ok(())
    }

    /// Appends a checked batch; returns the placements and the numbers added.
    pub(super) fn append(&mut self, session: &SessionId, batch: &Append) -> (Vec<Placement>, Option<SeqRange>) {
        let kept = self.sessions.entry(session.clone()).or_default();
        let before = kept.head();
        let mut placements = Vec::with_capacity(batch.messages.len());
        for new in &batch.messages {
            placements.push(match self.ids.entry(new.message.id) {
                Entry::Occupied(known) => {
                    let Location { session: at, position } = known.get();
                    let is_there = at == session && kept.get(*position).is_some_and(|row| row.message.is_some());
                    if is_there { Placement::Already(position.seq) } else { Placement::Forgotten }
                }
                Entry::Vacant(free) => {
                    let position = kept.append(session, new);
                    free.insert(Location { session: session.clone(), position });
                    Placement::Added(position.seq)
                }
            });
        }
        let added = kept.since(before);
        if added.is_some() {
            kept.ask(batch.asked);
        }
        (placements, added)
    }

    /// Empties a session that is still as it was `seen`, and returns how many messages it held; none if there is nothing to
    /// delete.
    pub(super) fn delete(&mut self, seen: &SessionState) -> Result<Option<u64>> {
        let session = &seen.session;
        if !self.state(session).is_to_be_deleted(seen)? {
            return Ok(None);
        }
        let removed = self.sessions.get_mut(session).map(Session::empty);
        self.ids.retain(|_, place| place.session != *session);
        Ok(removed)
    }

    /// Begins the erasure, which makes everything stored unreachable. Returns false if that was done since `seen`.
    pub(super) fn bury(&mut self, seen: Epoch) -> bool {
        let is_meant = self.epoch <= seen;
        if is_meant {
            self.drop_all(Epoch(seen.0.saturating_add(1)));
        }
        is_meant
    }

    /// Ends the erasure of what was stored before `below`; returns how many items it deleted.
    ///
    /// All data is of the present epoch, because a new epoch begins with nothing.
    pub(super) fn erase(&mut self, below: Epoch) -> usize {
        if self.epoch < below {
            self.drop_all(below);
        }
        std::mem::take(&mut self.buried)
    }

    fn drop_all(&mut self, epoch: Epoch) {
        self.epoch = epoch;
        self.buried += self.ids.len();
        self.sessions = BTreeMap::new();
        self.ids = HashMap::new();
    }
}

/// Returns whether `stored` holds the content of `message`, said in `session`.
pub(super) fn is_same(stored: &StoredMessage, session: &SessionId, message: &Arc<Message>) -> bool {
    let is_same = |kept: &Arc<Message>| Arc::ptr_eq(kept, message) || kept.encode() == message.encode();
    stored.session == *session && stored.message.as_ref().is_some_and(is_same)
}
