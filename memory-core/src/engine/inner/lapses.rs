//! The bounds of retention, and how far upkeep has applied them.

use std::collections::{HashMap, HashSet, VecDeque};
use std::time::Duration;

use crate::engine::retention::Retentions;
use crate::id::{RecordId, Seq, SessionId};
use crate::scope::Scope;
use crate::store::chat::{Fence, SessionState};
use crate::sync::Lock;
use crate::time::Timestamp;

/// The pause between two steps, unless the last one left something to forget.
const PAUSE: Duration = Duration::from_secs(10);
/// How long after it began to count the records of owners a walk may count them again.
const COUNTING: Duration = Duration::from_secs(3_600);
/// Of how many conversations it is known how far they are looked through.
const SESSIONS: usize = 10_000;

/// The retention of everybody, and how far upkeep has come with it. Only this process knows; another one begins anew.
#[derive(Debug)]
pub(crate) struct Lapses {
    pub(crate) retentions: Retentions,
    state: Lock<State>,
}

#[derive(Debug, Default)]
struct State {
    /// When the last step was taken.
    at: Option<Timestamp>,
    /// Whether it left something to forget.
    has_more: bool,
    stand: Stand,
    /// What the count found of the owner that is visited.
    excess: Option<Excess>,
    /// When the last walk began that counts the records of owners.
    counted: Option<Timestamp>,
    /// Whether this walk does.
    is_counting: bool,
    /// How many walks have ended.
    walk: u64,
    /// Each with the walk that visited it last.
    looked: HashMap<(Scope, SessionId), (u64, Looked)>,
}

/// Where the walk stands.
#[derive(Clone, Debug, Default)]
pub(crate) struct Stand {
    /// The owner that was visited last.
    pub(crate) owner: Option<Scope>,
    /// Where it stands within that owner's data; none if all of it is visited.
    pub(crate) place: Option<Place>,
}

/// Where the walk stands within the data of an owner, in the order of a visit.
#[derive(Clone, Debug)]
pub(crate) enum Place {
    /// Behind this record, on the way through those that are too old; before all if none.
    Records(Option<RecordId>),
    /// Before the count of the records.
    Count,
    /// At what the count found to be too many.
    Excess,
    /// Behind this conversation; before all if none.
    Sessions(Option<SessionId>),
}

/// What a count of an owner's records found.
#[derive(Debug)]
pub(crate) struct Excess {
    pub(crate) owner: Scope,
    /// The fence of the records when they were counted, or when the last of them went; none if somebody else forgot any since.
    pub(crate) seen: Option<Fence>,
    /// How many records are still too many.
    pub(crate) count: usize,
    /// The records that may go and what they weighed, from the one that matters least. There are more of them, as some may have to
    /// stay.
    pub(crate) found: VecDeque<(RecordId, u32)>,
}

/// What is known of a conversation that was looked through.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Looked {
    pub(crate) fence: Fence,
    pub(crate) head: Seq,
    pub(crate) revision: u64,
    /// Up to here nothing is left to forget.
    pub(crate) through: Seq,
    /// When the next message is too old; none if none will be.
    pub(crate) due: Option<Timestamp>,
}

impl Looked {
    /// Returns whether there is nothing to forget in a conversation yet.
    pub(crate) fn holds(&self, state: &SessionState, now: Timestamp) -> bool {
        let seen = (self.fence, self.head, self.revision);
        seen == (state.fence, state.head, state.revision) && self.due.is_none_or(|due| now < due)
    }
}

impl Lapses {
    pub(crate) fn new(retentions: Retentions) -> Self {
        Self { retentions, state: Lock::default() }
    }

    /// Takes the next step, if it is due.
    pub(crate) fn take(&self, now: Timestamp) -> Option<Stand> {
        if self.retentions.is_empty() {
            return None;
        }
        let mut state = self.state.lock();
        // A clock that was set back does not tell how long ago the step was.
        let is_early = state.at.is_some_and(|at| at <= now && now.since(at) < PAUSE);
        if is_early && !state.has_more {
            return None;
        }
        (state.at, state.has_more) = (Some(now), false);
        if state.stand.owner.is_none() {
            state.is_counting = state.counted.is_none_or(|at| at > now || now.since(at) >= COUNTING);
            state.counted = if state.is_counting { Some(now) } else { state.counted };
        }
        Some(state.stand.clone())
    }

    /// Notes where the walk stands within the data of an owner.
    pub(crate) fn stands_in(&self, owner: &Scope, place: Place) {
        self.state.lock().stand = Stand { owner: Some(owner.clone()), place: Some(place) };
    }

    /// Notes that the visit of an owner has ended.
    pub(crate) fn stands_behind(&self, owner: Scope) {
        self.state.lock().stand = Stand { owner: Some(owner), place: None };
    }

    /// Keeps what a count found, until the owner is visited to the end.
    pub(crate) fn found(&self, excess: Excess) {
        self.state.lock().excess = Some(excess).filter(|excess| excess.count > 0);
    }

    /// Returns those of an owner's records that go, unless some of them have to stay: as many as are too many.
    pub(crate) fn too_many(&self, scope: &Scope) -> HashSet<RecordId> {
        let state = self.state.lock();
        let Some(excess) = state.excess.as_ref().filter(|excess| excess.owner == *scope) else { return HashSet::new() };
        excess.found.iter().take(excess.count).map(|(id, _)| *id).collect()
    }

    /// Takes the next `most` records that may go, and how many of them do. These count as gone from now on.
    pub(crate) fn take_next(&self, scope: &Scope, most: usize) -> (Vec<(RecordId, u32)>, usize) {
        let mut state = self.state.lock();
        let excess = state.excess.as_mut().filter(|excess| excess.owner == *scope && excess.count > 0);
        let Some(excess) = excess else { return (Vec::new(), 0) };
        let next: Vec<(RecordId, u32)> = excess.found.drain(..most.min(excess.found.len())).collect();
        let goes = next.len().min(excess.count);
        excess.count -= goes;
        (next, goes)
    }

    /// Notes that so many of the records taken stay, so that others go in their place.
    pub(crate) fn spare(&self, scope: &Scope, count: usize) {
        let mut state = self.state.lock();
        if let Some(excess) = state.excess.as_mut().filter(|excess| excess.owner == *scope) {
            excess.count += count;
        }
    }

    /// Returns whether somebody else forgot records since they were counted, whose fence is this one now, or everything. Then nothing
    /// of the count is kept.
    pub(crate) fn is_outdated(&self, scope: &Scope, now: Fence) -> bool {
        let mut state = self.state.lock();
        let counted = state.excess.as_ref().filter(|excess| excess.owner == *scope);
        let is_so = counted.and_then(|excess| excess.seen) != Some(now);
        if is_so {
            state.excess = None;
        }
        is_so
    }

    /// Notes that records went which a count found, after which the fence is this one.
    pub(crate) fn went(&self, scope: &Scope, now: Fence) {
        let mut state = self.state.lock();
        if let Some(excess) = state.excess.as_mut().filter(|excess| excess.owner == *scope) {
            excess.seen = excess.seen.and(Some(now));
        }
    }

    /// Notes that somebody else forgot something of an owner in this process. Where that happens while records go which a count found,
    /// the fence does not tell it.
    pub(crate) fn outdate(&self, scope: &Scope) {
        let mut state = self.state.lock();
        if let Some(excess) = state.excess.as_mut().filter(|excess| excess.owner == *scope) {
            excess.seen = None;
        }
    }

    /// Returns whether this walk counts the records of owners.
    pub(crate) fn is_counting(&self) -> bool {
        self.state.lock().is_counting
    }

    /// Notes that the step left something to forget.
    pub(crate) fn has_more(&self) {
        self.state.lock().has_more = true;
    }

    /// Ends a walk through all owners. What it has not visited is not there any more.
    pub(crate) fn end(&self) {
        let mut state = self.state.lock();
        let walk = state.walk;
        state.looked.retain(|_, (visited, _)| *visited == walk);
        state.walk += 1;
        (state.stand, state.excess) = (Stand::default(), None);
    }

    pub(crate) fn looked(&self, scope: &Scope, session: &SessionId) -> Option<Looked> {
        let mut state = self.state.lock();
        let walk = state.walk;
        let (visited, looked) = state.looked.get_mut(&(scope.clone(), session.clone()))?;
        *visited = walk;
        Some(*looked)
    }

    pub(crate) fn note(&self, scope: &Scope, session: &SessionId, looked: Looked) {
        let (mut state, key) = (self.state.lock(), (scope.clone(), session.clone()));
        // One that finds no room is read again each time, which is better than all of them.
        if state.looked.len() < SESSIONS || state.looked.contains_key(&key) {
            let walk = state.walk;
            state.looked.insert(key, (walk, looked));
        }
    }

    /// Drops all that is known of an owner.
    pub(crate) fn forget(&self, scope: &Scope) {
        let mut state = self.state.lock();
        state.looked.retain(|(owner, _), _| owner != scope);
        // Its ids may come again with what is told anew.
        state.excess = state.excess.take().filter(|excess| excess.owner != *scope);
    }
}
