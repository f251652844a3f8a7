//! Another text in the place of a record's.

use std::collections::HashSet;
use std::hash::Hash;

use memory_core::Timestamp;
use memory_core::engine::Remember;
use memory_core::record::{Record, Telling};

/// Returns the first telling of each place that a record was told in. What a place is, `place` says: the session and the run, say.
pub fn told_in<'a, P: Eq + Hash>(record: &'a Record, place: impl Fn(&'a Telling) -> P) -> Vec<&'a Telling> {
    let mut seen = HashSet::new();
    record.tellings().filter(|&telling| seen.insert(place(telling))).collect()
}

/// Returns the request to supersede a record by `text`, for [`Scoped::supersede`](crate::Scoped::supersede): with the same kind,
/// trust, tags, agent and so on. The caller sets its origin.
///
/// The new record has the tellings of the old one: the same sessions, runs and sources. So whatever makes the old one forgotten makes the
/// new one forgotten too. It is valid from `now`, or from when the old one was to begin, and has no end: how long the old text was to
/// be true says nothing about the new one.
pub fn edited(record: &Record, text: &str, now: Timestamp) -> Remember {
    let begins = record.validity().0.map(|from| from.max(now));
    let mut remember = Remember::new(&record.kind, text).with_trust(record.trust()).valid(begins, None);
    let mut places = told_in(record, |telling| (&telling.session, &telling.run, &telling.sources)).into_iter();
    if let Some(Telling { session, run, sources, .. }) = places.next() {
        remember = sources.iter().cloned().fold(remember, Remember::with_source);
        if let Some(session) = session {
            remember = remember.with_session(session.clone());
        }
        if let Some(run) = run {
            remember = remember.with_run(run);
        }
    }
    for Telling { session, run, sources, .. } in places {
        remember = remember.also_told(session.clone(), run.clone(), sources.clone());
    }
    for tag in record.tags() {
        remember = remember.with_tag(tag);
    }
    if let Some(agent) = &record.agent {
        remember = remember.with_agent(agent);
    }
    if let Some(importance) = record.importance() {
        remember = remember.with_importance(importance);
    }
    if let Some(at) = record.expires_at() {
        remember = remember.with_ttl(at.since(now));
    }
    if record.is_pinned() {
        remember = remember.pinned();
    }
    record.metadata().into_iter().fold(remember, |remember, (key, value)| remember.with_metadata(key, value))
}
