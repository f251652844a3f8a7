//! The hits of a search, and their content.

use std::fmt;

use serde::ser::{Serialize, SerializeMap, Serializer};
use serde_json::Value;

use crate::fields::Fields;
use crate::id::ItemId;
use crate::message::{Message, StoredMessage};
use crate::record::StoredRecord;
use crate::scope::Scope;

use super::receipt::{SearchReceipt, Signals};

/// The content of an item.
#[derive(Clone, Debug, PartialEq)]
pub enum Content {
    /// A message.
    Message(StoredMessage),
    /// A record.
    Record(StoredRecord),
}

impl Content {
    /// Returns whether it is a message whose place others took.
    pub(crate) fn is_replaced(&self) -> bool {
        matches!(self, Self::Message(row) if row.is_replaced())
    }

    /// Returns what it is the content of.
    pub(crate) fn item(&self) -> ItemId {
        match self {
            Self::Message(row) => ItemId::Message(row.id),
            Self::Record(stored) => ItemId::Record(stored.record.id),
        }
    }

    /// Returns the fields that filters look at; none for a forgotten message.
    pub fn fields(&self) -> Option<Fields> {
        match self {
            Self::Message(row) => row.message.as_ref().map(|message| Fields::of_message(row, message)),
            Self::Record(stored) => Some(Fields::of_record(&stored.record)),
        }
    }

    /// Returns the text.
    pub fn text(&self) -> String {
        match self {
            Self::Message(row) => row.message.as_ref().map(|message| message.text()).unwrap_or_default(),
            Self::Record(stored) => stored.record.text.clone(),
        }
    }

    /// Returns the item as JSON, with the members `id`, `text` and `unit`, and those of a message or of a record.
    pub fn to_json(&self) -> Value {
        serde_json::to_value(self).unwrap_or_default()
    }

    fn write<M: SerializeMap>(&self, members: &mut M) -> Result<(), M::Error> {
        members.serialize_entry("text", &self.text())?;
        match self {
            Self::Message(row) => {
                let message = row.message.as_deref();
                members.serialize_entry("unit", "message")?;
                members.serialize_entry("id", &row.id)?;
                members.serialize_entry("session", row.session.name())?;
                members.serialize_entry("seq", &row.seq)?;
                members.serialize_entry("title", &message.and_then(Message::title))?;
                members.serialize_entry("role", &message.map(|message| message.role))?;
                members.serialize_entry("speaker", &message.and_then(|message| message.speaker.as_deref()))?;
                members.serialize_entry("at", &message.map(|message| message.at.to_string()))?;
                members.serialize_entry("trust", &message.map(|message| message.trust))?;
                members.serialize_entry("agent", &message.and_then(|message| message.agent.as_deref()))?;
                members.serialize_entry("runs", &message.map(|message| message.run.as_slice()))
            }
            Self::Record(stored) => {
                let record = &stored.record;
                members.serialize_entry("unit", "record")?;
                members.serialize_entry("id", &record.id)?;
                members.serialize_entry("kind", &record.kind)?;
                members.serialize_entry("tags", &record.tags())?;
                members.serialize_entry("at", &record.created_at().to_string())?;
                members.serialize_entry("session", &record.sessions().first())?;
                members.serialize_entry("trust", &record.trust())?;
                members.serialize_entry("version", &stored.version)?;
                members.serialize_entry("agent", &record.agent)?;
                members.serialize_entry("runs", &record.runs())
            }
        }
    }
}

/// Writes what [`Content::to_json`] returns, without a value between.
impl Serialize for Content {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut members = serializer.serialize_map(None)?;
        self.write(&mut members)?;
        members.end()
    }
}

/// Shows who said it, where and when, to the minute.
impl fmt::Display for Content {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Message(row) => {
                let Some(message) = &row.message else { return f.write_str("forgotten") };
                let (at, session) = (message.at.to_minute(), row.session.name());
                write!(f, "{at}  {session} #{}  {}", row.seq.0, message.author())
            }
            Self::Record(stored) => {
                let record = &stored.record;
                write!(f, "{}  {}", record.created_at().to_minute(), record.kind)?;
                if record.tags().is_empty() { Ok(()) } else { write!(f, " [{}]", record.tags().join(", ")) }
            }
        }
    }
}

/// An item that a search found.
#[derive(Clone, Debug, PartialEq)]
pub struct Hit {
    /// The item's id.
    pub item: ItemId,
    /// Its content.
    pub content: Content,
    /// The owner who shares it ([`Search::sharing`](super::Search::sharing)); none if it is the own of whoever asked.
    pub shared_by: Option<Scope>,
    /// How it was found.
    pub signals: Signals,
}

impl Hit {
    /// Returns the hit as JSON: [`Content::to_json`] with the member `signals` and, of what another owner shares, `shared_by`.
    pub fn to_json(&self) -> Value {
        serde_json::to_value(self).unwrap_or_default()
    }
}

/// Writes what [`Hit::to_json`] returns, without a value between.
impl Serialize for Hit {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut members = serializer.serialize_map(None)?;
        self.content.write(&mut members)?;
        members.serialize_entry("signals", &self.signals)?;
        if let Some(owner) = &self.shared_by {
            members.serialize_entry("shared_by", owner)?;
        }
        members.end()
    }
}

/// The answer to a search.
#[derive(Clone, Debug, PartialEq)]
pub struct SearchResults {
    /// The hits, best first.
    pub hits: Vec<Hit>,
    /// How they were found.
    pub receipt: SearchReceipt,
}
