//! What waits, in memory: a copy of the journal by owner and session, and what is known of the sessions in the primary.
//!
//! Everything here is decided at once, without waiting for anything.

pub(super) mod admit;
mod counts;

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::time::Duration;

use tokio::time::Instant;

use crate::error::Result;
use crate::id::{MessageId, Seq, SessionId};
use crate::scope::{Epoch, Scope};
use crate::store::chat::{Fence, SessionState};
use crate::store::journal::Queued;
use crate::time::{LONGEST, Timestamp};

use super::policy::WriteBehindPolicy;
use super::waiting::{Reach, Row, Waiting};

/// How many sessions, and how many owners, are known at most.
const KNOWN: usize = 10_000;

/// A session of an owner.
pub(super) type Key = (Scope, SessionId);

/// What waits of a session at one moment.
#[derive(Clone, Debug)]
pub(super) struct Snapshot {
    pub(super) rows: Vec<Row>,
    /// The session in the primary, as it was last seen; none if it was not.
    pub(super) known: Option<SessionState>,
    pub(super) change: u64,
    pub(super) is_sent: bool,
    pub(super) is_in_doubt: bool,
}

/// Messages of a session on their way to the primary, with their fence, if that is known.
#[derive(Clone, Debug)]
pub(super) struct Sending {
    pub(super) scope: Scope,
    pub(super) session: SessionId,
    pub(super) fence: Option<Fence>,
    pub(super) rows: Vec<Queued>,
    /// How many older ones were left where they are.
    pub(super) skipped: usize,
    /// Its number: an owner that is erased and writes again may have two at once.
    pub(super) flight: u64,
}

/// Messages that were queued before their session or owner was erased.
#[derive(Clone, Debug)]
pub(super) struct Stale {
    pub(super) scope: Scope,
    pub(super) session: SessionId,
    /// Every fence from before the erasure is lower.
    pub(super) below: Fence,
    pub(super) numbers: Vec<u64>,
}

/// The primary did not answer lately.
#[derive(Clone, Copy, Debug)]
struct Away {
    until: Instant,
    failures: u32,
}

#[derive(Debug, Default)]
struct Owner {
    sessions: BTreeMap<SessionId, Waiting>,
    /// Where each message waits, and how often.
    ids: HashMap<MessageId, (SessionId, usize)>,
}

/// All that waits.
#[derive(Debug)]
pub(super) struct Queue {
    policy: WriteBehindPolicy,
    owners: HashMap<Scope, Owner>,
    schedule: BTreeSet<(Instant, Scope, SessionId)>,
    count: usize,
    bytes: u64,
    flights: usize,
    changes: u64,
    away: Option<Away>,
    /// How many want everything to go at once.
    hurries: usize,
    known: HashMap<Key, SessionState>,
    /// The least epochs of owners that were erased by this process.
    floors: HashMap<Scope, Epoch>,
    /// Messages that were forgotten by this process, and their sessions.
    forgotten: HashMap<Scope, HashMap<MessageId, SessionId>>,
    stale: Vec<Stale>,
}

impl Queue {
    pub(super) fn new(policy: WriteBehindPolicy) -> Self {
        Self {
            policy: WriteBehindPolicy { age: policy.age.min(LONGEST), ..policy },
            owners: HashMap::new(),
            schedule: BTreeSet::new(),
            count: 0,
            bytes: 0,
            flights: 0,
            changes: 0,
            away: None,
            hurries: 0,
            known: HashMap::new(),
            floors: HashMap::new(),
            forgotten: HashMap::new(),
            stale: Vec::new(),
        }
    }

    /// Lets everything go at once until [`Queue::slow_down`] is called as often.
    pub(super) fn hurry(&mut self, now: Instant) {
        self.hurries += 1;
        for (scope, session) in self.keys() {
            self.hasten(&scope, &session, now);
        }
    }

    /// Ends what [`Queue::hurry`] began.
    pub(super) fn slow_down(&mut self) {
        self.hurries = self.hurries.saturating_sub(1);
    }

    /// Returns how many calls to the primary are under way.
    pub(super) fn flights(&self) -> usize {
        self.flights
    }

    fn waiting(&self, scope: &Scope, session: &SessionId) -> Option<&Waiting> {
        self.owners.get(scope)?.sessions.get(session)
    }

    fn waiting_mut(&mut self, scope: &Scope, session: &SessionId) -> Option<&mut Waiting> {
        self.owners.get_mut(scope)?.sessions.get_mut(session)
    }

    /// Returns those of the messages that wait.
    pub(super) fn among(&self, scope: &Scope, ids: &[MessageId]) -> Vec<MessageId> {
        let Some(owner) = self.owners.get(scope) else { return Vec::new() };
        ids.iter().filter(|id| owner.ids.contains_key(id)).copied().collect()
    }

    /// Returns the sessions in which some of the messages wait.
    pub(super) fn sessions_of(&self, scope: &Scope, ids: &[MessageId]) -> Vec<SessionId> {
        let Some(owner) = self.owners.get(scope) else { return Vec::new() };
        let sessions: BTreeSet<&SessionId> =
            ids.iter().filter_map(|id| owner.ids.get(id)).map(|(session, _)| session).collect();
        sessions.into_iter().cloned().collect()
    }

    /// Returns the sessions of an owner in which something waits, after one of them.
    pub(super) fn sessions(&self, scope: &Scope, after: Option<&SessionId>) -> Vec<SessionId> {
        let sessions = self.owners.get(scope).into_iter().flat_map(|owner| owner.sessions.keys());
        sessions.filter(|session| after.is_none_or(|after| *session > after)).cloned().collect()
    }

    /// Returns all sessions in which something waits.
    pub(super) fn keys(&self) -> Vec<Key> {
        let of_owner = |(scope, owner): (&Scope, &Owner)| {
            owner.sessions.keys().map(|session| (scope.clone(), session.clone())).collect::<Vec<_>>()
        };
        self.owners.iter().flat_map(of_owner).collect()
    }

    /// Adds messages that are in the journal.
    pub(super) fn insert(&mut self, queued: Vec<Queued>, now: Instant) {
        for queued in queued {
            let (scope, session) = (queued.scope.clone(), queued.session.clone());
            self.changes += 1;
            let (change, due) = (self.changes, now + self.policy.age);
            let owner = self.owners.entry(scope.clone()).or_default();
            owner.ids.entry(queued.new.message.id).or_insert_with(|| (session.clone(), 0)).1 += 1;
            let is_first = !owner.sessions.contains_key(&session);
            let waiting = owner.sessions.entry(session.clone()).or_insert_with(|| Waiting::new(change, due));
            let row = Row::new(queued, now);
            (self.count, self.bytes) = (self.count + 1, self.bytes + row.bytes);
            waiting.insert(row);
            if is_first {
                self.schedule.insert((due, scope.clone(), session.clone()));
            }
            let is_full = self.waiting(&scope, &session).is_some_and(|waiting| self.is_full(waiting));
            if is_full {
                self.hasten(&scope, &session, now);
            }
        }
    }

    fn is_full(&self, waiting: &Waiting) -> bool {
        self.hurries > 0 || waiting.rows.len() >= self.policy.batch || waiting.bytes >= self.policy.bytes
    }

    /// Lets a session's messages go at `at`, if they would go later.
    pub(super) fn hasten(&mut self, scope: &Scope, session: &SessionId, at: Instant) {
        if self.waiting(scope, session).is_some_and(|waiting| waiting.due > at && waiting.sent == 0) {
            self.schedule_at(scope, session, at);
        }
    }

    fn schedule_at(&mut self, scope: &Scope, session: &SessionId, at: Instant) {
        let Some(waiting) = self.waiting_mut(scope, session) else { return };
        let before = std::mem::replace(&mut waiting.due, at);
        let is_sent = waiting.sent > 0;
        let mut entry = (before, scope.clone(), session.clone());
        self.schedule.remove(&entry);
        entry.0 = at;
        if !is_sent {
            self.schedule.insert(entry);
        }
    }

    /// Marks the oldest messages of the session that is due first as sent, and returns them. If none is due, when to look again.
    pub(super) fn next(&mut self, now: Instant) -> Result<Sending, Option<Instant>> {
        // While the primary is away, one call at a time looks whether it is back.
        if let Some(away) = self.away
            && (self.flights > 0 || now < away.until)
        {
            return Err((self.flights == 0).then_some(away.until));
        }
        while let Some((due, scope, session)) = self.schedule.first().cloned() {
            if due > now {
                return Err(Some(due));
            }
            match self.send(&scope, &session) {
                Some(sending) => return Ok(sending),
                None => self.schedule.remove(&(due, scope, session)),
            };
        }
        Err(None)
    }

    /// Marks the oldest messages of a session as sent, and returns them. None if nothing waits, or some are under way.
    pub(super) fn send(&mut self, scope: &Scope, session: &SessionId) -> Option<Sending> {
        self.changes += 1;
        let change = self.changes;
        let waiting = self.waiting_mut(scope, session).filter(|waiting| waiting.sent == 0)?;
        let (fence, rows) = waiting.send()?;
        (waiting.change, waiting.flight) = (change, change);
        let skipped = waiting.sent - rows.len();
        let entry = (waiting.due, scope.clone(), session.clone());
        self.schedule.remove(&entry);
        self.flights += 1;
        Some(Sending { scope: scope.clone(), session: session.clone(), fence, rows, skipped, flight: change })
    }

    /// Ends what [`Queue::send`] began. What was sent stays, and goes again at `at`; `is_in_doubt` tells whether the primary may
    /// have it, `passed` how many of the oldest it refused just now, so that the next one is tried.
    pub(super) fn landed(&mut self, sending: &Sending, at: Instant, is_in_doubt: bool, passed: usize) {
        let Sending { scope, session, flight, .. } = sending;
        self.flights = self.flights.saturating_sub(1);
        self.changes += 1;
        let change = self.changes;
        // What waits now may be under way on another flight.
        let Some(waiting) = self.waiting_mut(scope, session).filter(|waiting| waiting.flight == *flight) else {
            return;
        };
        if is_in_doubt {
            waiting.rows.iter_mut().take(waiting.sent).for_each(|row| row.is_new = false);
        }
        (waiting.sent, waiting.change, waiting.passed) = (0, change, passed);
        waiting.is_in_doubt |= is_in_doubt;
        self.schedule_at(scope, session, at);
    }

    /// Removes messages that need not go any more, and returns their numbers; what is left of their session goes when it is due.
    pub(super) fn remove(
        &mut self,
        scope: &Scope,
        session: &SessionId,
        reach: Reach,
        is_meant: impl Fn(&Queued) -> bool,
    ) -> Vec<u64> {
        self.changes += 1;
        let change = self.changes;
        let Some(owner) = self.owners.get_mut(scope) else { return Vec::new() };
        let Some(waiting) = owner.sessions.get_mut(session) else { return Vec::new() };
        let gone = waiting.remove(reach, is_meant);
        waiting.change = change;
        let (due, is_empty) = (waiting.due, waiting.rows.is_empty());
        for id in gone.iter().map(Row::id) {
            if let Some((_, count)) = owner.ids.get_mut(&id) {
                *count -= 1;
                if *count == 0 {
                    owner.ids.remove(&id);
                }
            }
        }
        if is_empty {
            owner.sessions.remove(session);
            self.schedule.remove(&(due, scope.clone(), session.clone()));
        }
        if owner.sessions.is_empty() {
            self.owners.remove(scope);
        }
        self.count -= gone.len();
        self.bytes -= gone.iter().map(|row| row.bytes).sum::<u64>();
        gone.into_iter().map(|row| row.queued.number).collect()
    }

    /// Notes that the primary has taken messages: those left go at once if they are many, and when they are old enough.
    pub(super) fn taken(&mut self, sending: &Sending, now: Instant) {
        let Sending { scope, session, flight, .. } = sending;
        self.away = None;
        let age = self.policy.age;
        // What waits now may be under way on another flight.
        let Some(waiting) = self.waiting_mut(scope, session).filter(|waiting| waiting.flight == *flight) else {
            return;
        };
        waiting.taken();
        let Some(waiting) = self.waiting(scope, session) else { return };
        let oldest = waiting.rows.front().map_or(now, |row| row.since + age);
        self.schedule_at(scope, session, if self.is_full(waiting) { now } else { oldest });
    }

    /// Notes that the primary did not answer, and returns when to ask it again: after `pause`, at least.
    pub(super) fn went_away(&mut self, now: Instant, pause: impl FnOnce(u32) -> Duration) -> Instant {
        let failures = self.away.map_or(1, |away| away.failures.saturating_add(1));
        let until = now + pause(failures).min(LONGEST);
        self.away = Some(Away { until, failures });
        until
    }

    /// Changes the rows of a session.
    pub(super) fn change(&mut self, scope: &Scope, session: &SessionId, change: impl FnOnce(&mut Waiting)) {
        self.waiting_mut(scope, session).map(change);
    }

    /// Returns what waits of a session; none if nothing does.
    pub(super) fn snapshot(&self, scope: &Scope, session: &SessionId) -> Option<Snapshot> {
        let waiting = self.waiting(scope, session)?;
        Some(Snapshot {
            rows: waiting.rows.iter().filter(|row| !row.is_forgotten).cloned().collect(),
            known: self.known(scope, session).cloned(),
            change: waiting.change,
            is_sent: waiting.sent > 0,
            is_in_doubt: waiting.is_in_doubt,
        })
    }

    /// Returns a session as it will be with what waits, as far as it is known.
    pub(super) fn state(&self, scope: &Scope, session: &SessionId) -> SessionState {
        let mut state = self.known(scope, session).cloned().unwrap_or_else(|| unknown(session));
        if let Some(waiting) = self.waiting(scope, session) {
            let count = waiting.rows.len() as u64;
            state.head.0 = state.head.0.saturating_add(count);
            state.active_messages = state.active_messages.saturating_add(count);
            state.active_tokens = state.active_tokens.saturating_add(waiting.tokens);
            state.asked = state.asked.max(waiting.asked);
            state.last_at = state.last_at.max(waiting.last_at);
        }
        state
    }

    /// Returns the least and the highest number that waits in a session.
    pub(super) fn bounds(&self, scope: &Scope, session: &SessionId) -> Option<(u64, u64)> {
        let numbers = || self.waiting(scope, session).into_iter().flat_map(|waiting| &waiting.rows);
        let numbers = || numbers().map(|row| row.queued.number);
        numbers().min().zip(numbers().max())
    }

    /// Returns the mark of what was sent and left of a session.
    pub(super) fn mark(&self, scope: &Scope, session: &SessionId) -> Option<(u64, bool)> {
        self.waiting(scope, session).map(|waiting| (waiting.change, waiting.sent > 0))
    }
}

/// Returns a session of which nothing is known.
pub(super) fn unknown(session: &SessionId) -> SessionState {
    SessionState {
        session: session.clone(),
        fence: Fence::default(),
        revision: 0,
        head: Seq(0),
        active_messages: 0,
        active_tokens: 0,
        asked: 0,
        last_at: Timestamp::default(),
    }
}

#[cfg(test)]
mod tests;
