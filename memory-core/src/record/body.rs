//! The JSON members of an encoded record. A record with one telling has the same bytes as before tellings existed.

use std::borrow::Cow;

use serde::ser::Serializer;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Map, Value};

use super::{Record, Superseded, Telling};
use crate::codec;
use crate::id::{ItemId, RecordId, SessionId};
use crate::message::Trust;
use crate::time::Timestamp;

#[derive(Serialize, Deserialize)]
struct Body<'a> {
    id: RecordId,
    kind: Cow<'a, str>,
    text: Cow<'a, str>,
    #[serde(default, skip_serializing_if = "is_empty")]
    tags: Cow<'a, [String]>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    session: Option<SessionId>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    importance: Option<f32>,
    trust: Trust,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    origin: Option<Cow<'a, str>>,
    #[serde(default, skip_serializing_if = "is_empty")]
    sources: Cow<'a, [ItemId]>,
    #[serde(default, skip_serializing_if = "super::is_false")]
    pinned: bool,
    #[serde(default, skip_serializing_if = "super::is_false")]
    hold: bool,
    created_at: Timestamp,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    expires_at: Option<Timestamp>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    valid_from: Option<Timestamp>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    valid_to: Option<Timestamp>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    superseded: Option<Superseded>,
    #[serde(default, skip_serializing_if = "has_no_keys", serialize_with = "sorted")]
    metadata: Cow<'a, Map<String, Value>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    agent: Option<Cow<'a, str>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    run: Option<Cow<'a, str>>,
    /// The later tellings; the first one's members stand above.
    #[serde(default, skip_serializing_if = "is_empty")]
    told_again: Cow<'a, [Telling]>,
    #[serde(default, skip_serializing_if = "super::is_false")]
    doomed: bool,
}

fn is_empty<T>(list: &[T]) -> bool {
    list.is_empty()
}

fn has_no_keys(map: &Map<String, Value>) -> bool {
    map.is_empty()
}

fn sorted<S: Serializer>(map: &Map<String, Value>, serializer: S) -> Result<S::Ok, S::Error> {
    codec::sorted_map(map, serializer)
}

impl Serialize for Record {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Self { id, kind, text, agent, first, again, hold, superseded, doomed } = self;
        let Telling { at, trust, origin, session, run, sources, tags, .. } = first;
        let Telling { importance, pinned, expires_at, valid_from, valid_to, metadata, .. } = first;
        let body = Body {
            id: *id,
            kind: Cow::Borrowed(kind),
            text: Cow::Borrowed(text),
            tags: Cow::Borrowed(tags),
            session: session.clone(),
            importance: *importance,
            trust: *trust,
            origin: origin.as_deref().map(Cow::Borrowed),
            sources: Cow::Borrowed(sources),
            pinned: *pinned,
            hold: *hold,
            created_at: *at,
            expires_at: *expires_at,
            valid_from: *valid_from,
            valid_to: *valid_to,
            superseded: *superseded,
            metadata: Cow::Borrowed(metadata),
            agent: agent.as_deref().map(Cow::Borrowed),
            run: run.as_deref().map(Cow::Borrowed),
            told_again: Cow::Borrowed(again),
            doomed: *doomed,
        };
        body.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Record {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let body = Body::deserialize(deserializer)?;
        let first = Telling {
            at: body.created_at,
            trust: body.trust,
            origin: body.origin.map(Cow::into_owned),
            session: body.session,
            run: body.run.map(Cow::into_owned),
            sources: body.sources.into_owned(),
            tags: body.tags.into_owned(),
            importance: body.importance,
            pinned: body.pinned,
            expires_at: body.expires_at,
            valid_from: body.valid_from,
            valid_to: body.valid_to,
            metadata: body.metadata.into_owned(),
        };
        Ok(Self {
            id: body.id,
            kind: body.kind.into_owned(),
            text: body.text.into_owned(),
            agent: body.agent.map(Cow::into_owned),
            first,
            again: body.told_again.into_owned(),
            hold: body.hold,
            superseded: body.superseded,
            doomed: body.doomed,
        })
    }
}
