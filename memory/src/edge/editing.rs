//! Another text in the place of a record's.

use memory_core::engine::Remember;
use memory_core::{Record, Timestamp};

/// Returns the request to supersede a record by `text`, for [`Scoped::supersede`](crate::Scoped::supersede): with the same kind,
/// trust, tags, agent, sources and so on. The caller sets its origin.
pub fn edited(record: &Record, text: &str, now: Timestamp) -> Remember {
    let mut remember = Remember::new(&record.kind, text).with_trust(record.trust());
    let (from, until) = record.validity();
    remember = remember.valid(from, until);
    for tag in record.tags() {
        remember = remember.with_tag(tag);
    }
    for source in record.sources() {
        remember = remember.with_source(source.clone());
    }
    if let Some(agent) = &record.agent {
        remember = remember.with_agent(agent);
    }
    if let Some(run) = record.runs().last() {
        remember = remember.with_run(*run);
    }
    if let Some(session) = record.sessions().first() {
        remember = remember.with_session((*session).clone());
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
