//! Builders of entries, queries and ids for the scenarios of text stores.

use memory_core::store::text::{Term, TextEntry, TextHits, TextQuery, Visibility};
use memory_core::{
    Epoch, Fields, Filter, ItemId, MessageId, RecordId, Result, Scope, Seq, SessionId, Timestamp, Trust, Unit, Version,
};
use serde_json::Map;
use uuid::Uuid;

use crate::{Scene, Texts, equal};

/// Returns the message whose id is `number`; ids sort as their numbers.
pub(crate) fn message(number: u64) -> ItemId {
    ItemId::Message(MessageId(Uuid::from_u64_pair(0, number)))
}

/// Returns the record whose id is `number`.
pub(crate) fn record(number: u64) -> ItemId {
    ItemId::Record(RecordId(Uuid::from_u64_pair(0, number)))
}

/// Returns a stretch of the session called `name`.
pub(crate) fn span(name: &str, number: u32) -> Result<ItemId> {
    Ok(ItemId::Span(SessionId::new(name)?, number))
}

/// Returns fields that say nothing but the unit and the time.
pub(crate) fn plain_fields(unit: Unit, at: i64) -> Fields {
    Fields {
        unit,
        session: None,
        sessions: Vec::new(),
        seq: None,
        role: None,
        speaker: None,
        agent: None,
        runs: Vec::new(),
        kind: None,
        tags: Vec::new(),
        trust: Trust::User,
        sources: Vec::new(),
        at: Timestamp(at),
        expires_at: None,
        valid_from: None,
        valid_to: None,
        superseded_at: None,
        metadata: Map::new(),
    }
}

/// Returns an entry of the first revision with these words of its own, each counted as often as it stands there.
pub(crate) fn entry(item: ItemId, words: &[&str]) -> Result<TextEntry> {
    let mut own: Vec<(Term, u32)> = Vec::new();
    for word in words {
        let term = Term::new(word)?;
        match own.iter_mut().find(|(held, _)| *held == term) {
            Some((_, count)) => *count += 1,
            None => own.push((term, 1)),
        }
    }
    let fields = plain_fields(item.unit(), 0);
    Ok(TextEntry { item, version: revision(1), own, near: Vec::new(), fields })
}

/// Returns the version of a revision in the owner's first epoch.
pub(crate) fn revision(number: u64) -> Version {
    Version { epoch: Epoch(0), revision: number }
}

/// Changes an entry in short words.
pub(crate) trait Change: Sized {
    /// Sets the revision.
    fn at_revision(self, number: u64) -> Self;
    /// Sets the epoch.
    fn in_epoch(self, number: u64) -> Self;
    /// Sets the session.
    fn in_session(self, name: &str) -> Result<Self>;
    /// Sets the time.
    fn said_at(self, micros: i64) -> Self;
    /// Adds a tag.
    fn tagged(self, tag: &str) -> Self;
}

impl Change for TextEntry {
    fn at_revision(mut self, number: u64) -> Self {
        self.version.revision = number;
        self
    }

    fn in_epoch(mut self, number: u64) -> Self {
        self.version.epoch = Epoch(number);
        self
    }

    fn in_session(mut self, name: &str) -> Result<Self> {
        self.fields.session = Some(SessionId::new(name)?);
        self.fields.seq = Some(Seq(1));
        Ok(self)
    }

    fn said_at(mut self, micros: i64) -> Self {
        self.fields.at = Timestamp(micros);
        self
    }

    fn tagged(mut self, tag: &str) -> Self {
        self.fields.tags.push(tag.to_owned());
        self
    }
}

/// Sets the neighbours' terms of an entry.
pub(crate) fn near(mut entry: TextEntry, words: &[(&str, f32)]) -> Result<TextEntry> {
    entry.near = words.iter().map(|(word, count)| Ok((Term::new(word)?, *count))).collect::<Result<_>>()?;
    Ok(entry)
}

/// Returns the terms `words`.
pub(crate) fn terms(words: &[&str]) -> Result<Vec<Term>> {
    words.iter().map(|word| Term::new(word)).collect()
}

/// Returns the question for up to 100 messages with these words.
pub(crate) fn query(words: &[&str]) -> Result<TextQuery> {
    Ok(TextQuery { terms: terms(words)?, unit: Unit::Message, filter: Filter::All, limit: 100 })
}

/// Puts entries that a store has no reason to refuse, findable on return.
pub(crate) async fn put(store: &Texts, scope: &Scope, entries: &[TextEntry]) -> Scene {
    let rejected = store.put(scope, entries, Visibility::OnReturn).await?;
    equal(rejected.len(), 0)
}

/// Returns the messages that hold one of `words`, best first.
pub(crate) async fn find(store: &Texts, scope: &Scope, words: &[&str]) -> Result<Vec<ItemId>> {
    let found: TextHits = store.search(scope, &query(words)?).await?;
    Ok(super::model::items(&found))
}
