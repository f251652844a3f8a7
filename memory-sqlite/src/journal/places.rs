//! The place of every entry of the journal, in memory: so that one that is missing in the file is told.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use memory_core::id::{MessageId, SessionId};
use memory_core::store::chat::Fence;
use memory_core::{Digest, Scope};

use super::entry::Entry;

/// Where an entry stands, without its text.
#[derive(Clone, Debug)]
pub(super) struct Place {
    pub(super) scope: Scope,
    pub(super) session: SessionId,
    pub(super) id: MessageId,
    pub(super) fence: Option<Fence>,
    pub(super) digest: Digest,
    pub(super) bytes: u64,
    pub(super) is_rejected: bool,
    pub(super) sum: u128,
}

impl Place {
    /// Returns the place of an entry.
    pub(super) fn of(entry: &Entry) -> Self {
        let Entry { draft, why, sum, .. } = entry;
        Self {
            scope: draft.scope.clone(),
            session: draft.session.clone(),
            id: draft.new.message.id,
            fence: draft.fence,
            digest: draft.digest,
            bytes: draft.bytes() + why.as_ref().map_or(0, |why| why.len() as u64),
            is_rejected: why.is_some(),
            sum: *sum,
        }
    }
}

/// How many entries there are of a kind, and how many bytes they take.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Room {
    pub(super) messages: usize,
    pub(super) bytes: u64,
}

/// The places of all entries.
#[derive(Debug, Default)]
pub(super) struct Places {
    by_number: BTreeMap<u64, Place>,
    owners: HashMap<Scope, BTreeSet<u64>>,
    /// What the rejected entries of each owner take who has some.
    rejected: HashMap<Scope, Room>,
    /// How many bytes all entries take.
    pub(super) bytes: u64,
    /// The highest number ever given.
    pub(super) last: u64,
    /// The sums of all entries, folded into one.
    pub(super) mark: u128,
}

impl Places {
    /// Returns none, where the highest number ever given was `last`.
    pub(super) fn after(last: u64) -> Self {
        Self { last, ..Self::default() }
    }

    /// Adds an entry, in place of one with its number.
    pub(super) fn put(&mut self, entry: &Entry) {
        self.set(entry.number, Some(Place::of(entry)));
        self.last = self.last.max(entry.number);
    }

    /// Returns where the entry with this number stands.
    pub(super) fn get(&self, number: u64) -> Option<&Place> {
        self.by_number.get(&number)
    }

    /// Returns how many entries there are.
    pub(super) fn len(&self) -> usize {
        self.by_number.len()
    }

    /// Puts or removes a place, and returns what stood there.
    pub(super) fn set(&mut self, number: u64, place: Option<Place>) -> Option<Place> {
        let before = self.by_number.remove(&number);
        if let Some(before) = &before {
            self.note_rejected(before, false);
            self.mark ^= before.sum;
            self.bytes -= before.bytes;
            if let Some(numbers) = self.owners.get_mut(&before.scope) {
                numbers.remove(&number);
                if numbers.is_empty() {
                    self.owners.remove(&before.scope);
                }
            }
        }
        if let Some(place) = place {
            self.note_rejected(&place, true);
            self.mark ^= place.sum;
            self.bytes += place.bytes;
            self.owners.entry(place.scope.clone()).or_default().insert(number);
            self.by_number.insert(number, place);
        }
        before
    }

    /// Notes that an entry came or left, if it is rejected.
    fn note_rejected(&mut self, place: &Place, has_come: bool) {
        if !place.is_rejected {
            return;
        }
        let room = self.rejected.entry(place.scope.clone()).or_default();
        if has_come {
            (room.messages, room.bytes) = (room.messages + 1, room.bytes + place.bytes);
        } else {
            (room.messages, room.bytes) = (room.messages - 1, room.bytes - place.bytes);
        }
        if room.messages == 0 {
            self.rejected.remove(&place.scope);
        }
    }

    /// Returns how many entries are rejected, of one owner or of all.
    pub(super) fn count_rejected(&self, scope: Option<&Scope>) -> usize {
        match scope {
            Some(scope) => self.rejected.get(scope).map_or(0, |room| room.messages),
            None => self.rejected.values().map(|room| room.messages).sum(),
        }
    }

    /// Returns what all entries take.
    pub(super) fn room(&self) -> Room {
        Room { messages: self.len(), bytes: self.bytes }
    }

    /// Returns what counts to the bound where this owner pushes messages: of each other owner's rejected entries at most `most`.
    pub(super) fn counted(&self, scope: &Scope, most: Room) -> Room {
        let mut counted = self.room();
        for (_, room) in self.rejected.iter().filter(|(owner, _)| *owner != scope) {
            counted.messages -= room.messages.saturating_sub(most.messages);
            counted.bytes -= room.bytes.saturating_sub(most.bytes);
        }
        counted
    }

    /// Returns the places of an owner, or of all, in order.
    pub(super) fn of<'a>(&'a self, scope: Option<&Scope>) -> Box<dyn Iterator<Item = (u64, &'a Place)> + Send + 'a> {
        let Some(scope) = scope else { return Box::new(self.by_number.iter().map(|(number, place)| (*number, place))) };
        let numbers = self.owners.get(scope).into_iter().flatten();
        Box::new(numbers.filter_map(|number| Some((*number, self.by_number.get(number)?))))
    }
}
