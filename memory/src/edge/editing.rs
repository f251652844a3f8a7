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

/// Returns the request that says `text` in the place of a record, for [`Scoped::supersede`](crate::Scoped::supersede): of the same
/// kind, trust, tags, agent and so on. Its origin is the caller's to set.
///
/// Everybody who told the record tells this, each in the same session and run and from the same sources: so it is forgotten with
/// these, as that was. It is true from now on, or from when the record was to be, and without an end: how long the old text was to be
/// true says nothing of the new one.
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
