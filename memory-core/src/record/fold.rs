//! The fold of a record's tellings, which readers and filters see. Pure functions.
//!
//! Only the tellings of the highest trust contribute, so that nobody adds to what somebody more trusted told. Sources and
//! sessions are those of all tellings, so that forgetting finds every one.

use std::collections::HashSet;
use std::hash::Hash;

use serde_json::{Map, Value};

use super::{Record, Telling};
use crate::id::{ItemId, SessionId};
use crate::message::Trust;
use crate::time::Timestamp;

impl Record {
    /// Returns the tellings, in their order.
    pub fn tellings(&self) -> impl DoubleEndedIterator<Item = &Telling> {
        std::iter::once(&self.first).chain(&self.again)
    }

    /// Returns the tellings to be changed, in their order.
    pub fn tellings_mut(&mut self) -> impl DoubleEndedIterator<Item = &mut Telling> {
        std::iter::once(&mut self.first).chain(&mut self.again)
    }

    /// Returns the trust of the record, which is the highest of its tellings.
    pub fn trust(&self) -> Trust {
        self.tellings().fold(self.first.trust, |highest, telling| highest.max(telling.trust))
    }

    fn contributing(&self) -> impl DoubleEndedIterator<Item = &Telling> {
        let trust = self.trust();
        self.tellings().filter(move |telling| telling.trust == trust)
    }

    fn earliest(&self) -> &Telling {
        let earliest = self.contributing().min_by(|a, b| (a.at, &a.origin).cmp(&(b.at, &b.origin)));
        earliest.unwrap_or(&self.first)
    }

    /// Returns when the record was made: the time of the first of its most trusted tellings.
    pub fn created_at(&self) -> Timestamp {
        self.earliest().at
    }

    /// Returns the origin of the first of the most trusted tellings, in the caller's words.
    pub fn origin(&self) -> Option<&str> {
        self.earliest().origin.as_deref()
    }

    /// Returns the importance that was told last, 0 to 1; none counts as 0.5.
    pub fn importance(&self) -> Option<f32> {
        self.contributing().rev().find_map(|telling| telling.importance)
    }

    /// Returns whether a telling pins the record, so that it never expires and is never evicted.
    pub fn is_pinned(&self) -> bool {
        self.contributing().any(|telling| telling.pinned)
    }

    /// Returns whether the record is pinned or on hold, so that no bound of age or size takes it.
    pub(crate) fn is_protected(&self) -> bool {
        self.hold || self.is_pinned()
    }

    /// Returns when the record expires: the latest time that a telling asks for; none if one sets no end, or the record is
    /// pinned.
    pub fn expires_at(&self) -> Option<Timestamp> {
        if self.is_pinned() {
            return None;
        }
        let mut ends = self.contributing().map(|telling| telling.expires_at);
        let first = ends.next()??;
        ends.try_fold(first, |latest, end| Some(latest.max(end?)))
    }

    /// Returns the times from which, and until which, it is true, as they were told last.
    pub fn validity(&self) -> (Option<Timestamp>, Option<Timestamp>) {
        self.contributing().next_back().map_or((None, None), |telling| (telling.valid_from, telling.valid_to))
    }

    /// Returns the time from which it is true: when it was made, unless one was told.
    pub(crate) fn begins(&self) -> Timestamp {
        self.validity().0.unwrap_or(self.created_at())
    }

    /// Returns the tags of the contributing tellings, each once.
    pub fn tags(&self) -> Vec<&str> {
        once(self.contributing().flat_map(|telling| telling.tags.iter().map(String::as_str)))
    }

    /// Returns the runs of the contributing tellings, each once.
    pub fn runs(&self) -> Vec<&str> {
        once(self.contributing().filter_map(|telling| telling.run.as_deref()))
    }

    /// Returns the sessions of all tellings, each once.
    pub fn sessions(&self) -> Vec<&SessionId> {
        once(self.tellings().filter_map(|telling| telling.session.as_ref()))
    }

    /// Returns the sources of all tellings, each once.
    pub fn sources(&self) -> Vec<&ItemId> {
        once(self.tellings().flat_map(|telling| &telling.sources))
    }

    /// Returns the caller's own values; for each key the one told last.
    pub fn metadata(&self) -> Map<String, Value> {
        let mut metadata = Map::new();
        for telling in self.contributing() {
            metadata.extend(telling.metadata.iter().map(|(key, value)| (key.clone(), value.clone())));
        }
        metadata
    }

    /// Returns the record with one more telling, no longer doomed.
    #[must_use]
    pub fn told(&self, telling: Telling) -> Self {
        let tellings = super::telling::add(self.tellings().cloned().collect(), telling);
        self.of(tellings).unwrap_or_else(|| self.clone())
    }

    /// Returns the record with one more telling in place of the oldest that gives way to it; none if there is no such. The one that
    /// says when and by whom the record was made stays.
    pub(crate) fn told_instead(&self, telling: Telling) -> Option<Self> {
        let made = self.earliest();
        let old = self.tellings().find(|old| *old != made && old.gives_way_to(&telling))?;
        Some(self.without(|told| told == old)?.told(telling))
    }

    /// Returns the record without the tellings taken back, and no longer doomed; none if no telling is left.
    pub fn without(&self, is_taken_back: impl Fn(&Telling) -> bool) -> Option<Self> {
        self.of(self.tellings().filter(|telling| !is_taken_back(telling)).cloned().collect())
    }

    /// Returns the record with each of its tellings true until `end` at the latest, so that it ends then even if some are
    /// taken back.
    #[must_use]
    pub fn until(&self, end: Timestamp) -> Self {
        let mut ended = self.clone();
        for telling in std::iter::once(&mut ended.first).chain(&mut ended.again) {
            telling.valid_to = Some(telling.valid_to.map_or(end, |until| until.min(end)));
        }
        ended
    }

    fn of(&self, tellings: Vec<Telling>) -> Option<Self> {
        let mut tellings = tellings.into_iter();
        let first = tellings.next()?;
        let Self { id, kind, text, agent, first: _, again: _, hold, superseded, doomed: _ } = self;
        Some(Self {
            id: *id,
            kind: kind.clone(),
            text: text.clone(),
            agent: agent.clone(),
            first,
            again: tellings.collect(),
            hold: *hold,
            superseded: *superseded,
            doomed: false,
        })
    }
}

fn once<T: Copy + Eq + Hash>(items: impl Iterator<Item = T>) -> Vec<T> {
    let mut seen = HashSet::new();
    items.filter(|item| seen.insert(*item)).collect()
}
