//! The one view of messages, records and spans that filters see.

use std::cmp::Ordering;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::codec;
use crate::error::Result;
use crate::filter::{Field, Scalar};
use crate::id::{ItemId, Seq, SessionId, Unit};
use crate::message::{Message, Role, StoredMessage, Trust};
use crate::record::Record;
use crate::time::Timestamp;

/// What filters see of an item. Exhaustive: a new field breaks every adapter at compile time.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Fields {
    /// What kind of item it is.
    pub unit: Unit,
    /// Its session; of a record, the first one in which it was told.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<SessionId>,
    /// The other sessions in which a record was told.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sessions: Vec<SessionId>,
    /// A message's number.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seq: Option<Seq>,
    /// A message's role.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub role: Option<Role>,
    /// A message's speaker.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub speaker: Option<String>,
    /// The agent that it belongs to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    /// The runs in which it was said or told.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub runs: Vec<String>,
    /// A record's kind.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kind: Option<String>,
    /// Tags.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tags: Vec<String>,
    /// How far it may be believed.
    pub trust: Trust,
    /// What it was derived from.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sources: Vec<ItemId>,
    /// When it was said or made.
    pub at: Timestamp,
    /// From then on it is never returned.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires_at: Option<Timestamp>,
    /// The first moment at which it is true.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub valid_from: Option<Timestamp>,
    /// The first moment at which it is true no longer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub valid_to: Option<Timestamp>,
    /// When another record took its place.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub superseded_at: Option<Timestamp>,
    /// The caller's own values.
    #[serde(default, skip_serializing_if = "Map::is_empty", serialize_with = "codec::sorted_map")]
    pub metadata: Map<String, Value>,
}

impl Fields {
    /// Returns what filters see of a message that is stored as `row`.
    pub fn of_message(row: &StoredMessage, message: &Message) -> Self {
        Self {
            unit: Unit::Message,
            session: Some(row.session.clone()),
            sessions: Vec::new(),
            seq: Some(row.seq),
            role: Some(message.role),
            speaker: message.speaker.clone(),
            agent: message.agent.clone(),
            runs: message.run.iter().cloned().collect(),
            kind: None,
            tags: Vec::new(),
            trust: message.trust,
            sources: message.sources.clone(),
            at: message.at,
            expires_at: None,
            valid_from: None,
            valid_to: None,
            superseded_at: None,
            metadata: message.metadata.clone(),
        }
    }

    /// Returns what filters see of a record. A pinned record does not expire.
    pub fn of_record(record: &Record) -> Self {
        let owned = |texts: Vec<&str>| texts.into_iter().map(str::to_owned).collect();
        let mut sessions = record.sessions().into_iter().cloned();
        let (valid_from, valid_to) = record.validity();
        Self {
            unit: Unit::Record,
            session: sessions.next(),
            sessions: sessions.collect(),
            seq: None,
            role: None,
            speaker: None,
            agent: record.agent.clone(),
            runs: owned(record.runs()),
            kind: Some(record.kind.clone()),
            tags: owned(record.tags()),
            trust: record.trust(),
            sources: record.sources().into_iter().cloned().collect(),
            at: record.created_at(),
            expires_at: record.expires_at(),
            valid_from,
            valid_to,
            superseded_at: record.superseded.map(|superseded| superseded.at),
            metadata: record.metadata(),
        }
    }

    /// Returns what filters see of a stretch of a session.
    pub fn of_span(session: &SessionId, last: Seq, at: Timestamp) -> Self {
        Self {
            unit: Unit::Span,
            session: Some(session.clone()),
            sessions: Vec::new(),
            seq: Some(last),
            role: None,
            speaker: None,
            agent: None,
            runs: Vec::new(),
            kind: None,
            tags: Vec::new(),
            trust: Trust::Untrusted,
            sources: Vec::new(),
            at,
            expires_at: None,
            valid_from: None,
            valid_to: None,
            superseded_at: None,
            metadata: Map::new(),
        }
    }

    /// Returns the bytes in which an index keeps them, so that hits can carry them.
    pub fn encode(&self) -> Vec<u8> {
        codec::encode(self)
    }

    /// Reads bytes of [`Fields::encode`] back; `backend` is named in errors.
    ///
    /// # Errors
    /// [`crate::Error::Corrupt`] for bytes that are no fields, [`crate::Error::Unsupported`] for a newer version.
    pub fn decode(backend: &'static str, bytes: &[u8]) -> Result<Self> {
        codec::decode(backend, bytes)
    }

    /// Returns the values of `field`: none where it is missing, several for a list.
    ///
    /// Metadata: booleans, whole numbers that fit `i64`, other numbers and texts; lists give their elements; `null`
    /// and objects give nothing.
    pub fn values(&self, field: &Field) -> Vec<Scalar> {
        let mut values = Vec::new();
        self.any(field, &mut |value| {
            values.push(value.to_scalar());
            false
        });
        values
    }

    /// Returns whether one of the values of `field` passes `test`. Copies nothing, because a filter may be asked about
    /// every item of an owner.
    pub(crate) fn any(&self, field: &Field, test: &mut dyn FnMut(Seen<'_>) -> bool) -> bool {
        let mut time = |time: Option<Timestamp>| time.is_some_and(|time| test(Seen::Int(time.0)));
        match field {
            Field::ExpiresAt => time(self.expires_at),
            Field::ValidFrom => time(self.valid_from),
            Field::ValidTo => time(self.valid_to),
            Field::SupersededAt => time(self.superseded_at),
            Field::At => time(Some(self.at)),
            Field::Unit => test(Seen::Text(self.unit.name())),
            Field::Session => self.session.iter().chain(&self.sessions).any(|session| test(Seen::Text(session.name()))),
            Field::Seq => {
                self.seq.and_then(|seq| i64::try_from(seq.0).ok()).is_some_and(|number| test(Seen::Int(number)))
            }
            Field::Role => self.role.as_ref().is_some_and(|role| test(Seen::Text(role.name()))),
            Field::Speaker => self.speaker.as_deref().is_some_and(|speaker| test(Seen::Text(speaker))),
            Field::Agent => self.agent.as_deref().is_some_and(|agent| test(Seen::Text(agent))),
            Field::Run => self.runs.iter().any(|run| test(Seen::Text(run))),
            Field::Kind => self.kind.as_deref().is_some_and(|kind| test(Seen::Text(kind))),
            Field::Tag => self.tags.iter().any(|tag| test(Seen::Text(tag))),
            Field::Trust => test(Seen::Int(self.trust as i64)),
            Field::Source => self.sources.iter().any(|source| test(Seen::Text(&source.key()))),
            Field::Metadata(key) => self.metadata.get(key).is_some_and(|value| any_scalar(value, test)),
        }
    }
}

/// A value that filters see, where it stands.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Seen<'a> {
    Bool(bool),
    Int(i64),
    /// With -0.0 as 0.0, as in [`Scalar::float`].
    Float(f64),
    Text(&'a str),
}

impl Seen<'_> {
    fn to_scalar(self) -> Scalar {
        match self {
            Self::Bool(flag) => Scalar::Bool(flag),
            Self::Int(number) => Scalar::Int(number),
            Self::Float(number) => Scalar::float(number),
            Self::Text(text) => Scalar::Text(text.to_owned()),
        }
    }

    /// Returns the order of two values of one type, as [`Scalar::compare`] does.
    pub(crate) fn compare(self, other: &Scalar) -> Option<Ordering> {
        match (self, other) {
            (Self::Bool(a), Scalar::Bool(b)) => Some(a.cmp(b)),
            (Self::Int(a), Scalar::Int(b)) => Some(a.cmp(b)),
            (Self::Float(a), Scalar::Float(b)) => a.partial_cmp(b),
            (Self::Text(a), Scalar::Text(b)) => Some(a.as_bytes().cmp(b.as_bytes())),
            _ => None,
        }
    }
}

/// Returns the values that filters see in a metadata value.
pub fn scalars(value: &Value) -> Vec<Scalar> {
    let mut scalars = Vec::new();
    any_scalar(value, &mut |value| {
        scalars.push(value.to_scalar());
        false
    });
    scalars
}

fn any_scalar(value: &Value, test: &mut dyn FnMut(Seen<'_>) -> bool) -> bool {
    match value {
        Value::Bool(flag) => test(Seen::Bool(*flag)),
        Value::Number(number) => match (number.as_i64(), number.as_f64()) {
            (Some(whole), _) => test(Seen::Int(whole)),
            (None, Some(float)) => test(Seen::Float(if float == 0.0 { 0.0 } else { float })),
            (None, None) => false,
        },
        Value::String(text) => test(Seen::Text(text)),
        Value::Array(items) => items.iter().any(|item| any_scalar(item, test)),
        Value::Null | Value::Object(_) => false,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::id::{MessageId, RecordId};

    #[test]
    fn encoded_fields_are_read_back() {
        let session = SessionId::new("a b").unwrap();
        let mut full = Fields::of_span(&session, Seq(u64::MAX), Timestamp(i64::MIN));
        assert_eq!(Fields::decode("test", &full.encode()).unwrap(), full);
        full.role = Some(Role::Developer);
        full.speaker = Some(String::new());
        full.agent = Some("planner".to_owned());
        full.runs = vec!["2".to_owned(), "1".to_owned()];
        full.sessions = vec![session.clone(), SessionId::new("c").unwrap()];
        full.kind = Some("fact".to_owned());
        full.tags = vec!["b".to_owned(), "a".to_owned(), "b".to_owned()];
        full.sources =
            vec![ItemId::Message(MessageId::fresh()), ItemId::Record(RecordId::fresh()), ItemId::Span(session, 7)];
        full.expires_at = Some(Timestamp(i64::MAX));
        full.metadata.insert("v".to_owned(), json!([1, 1.5, 33e-60, null, { "v": u64::MAX }]));
        assert_eq!(Fields::decode("test", &full.encode()).unwrap(), full);
    }

    #[test]
    fn bytes_that_are_no_fields_are_corrupt() {
        for bytes in [&b""[..], b"{}", b"null", br#"{"v":1}"#] {
            assert!(matches!(Fields::decode("test", bytes), Err(crate::Error::Corrupt { .. })));
        }
    }
}
