//! The hits of a search, and their content.

use std::fmt;

use serde_json::{Value, json};

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
        match self {
            Self::Message(row) => {
                let message = row.message.as_deref();
                json!({
                    "unit": "message", "id": row.id, "text": self.text(), "session": row.session.name(), "seq": row.seq,
                    "title": message.and_then(Message::title),
                    "role": message.map(|message| message.role), "speaker": message.and_then(|m| m.speaker.as_deref()),
                    "at": message.map(|message| message.at.to_string()), "trust": message.map(|message| message.trust),
                    "agent": message.and_then(|message| message.agent.as_deref()),
                    "runs": message.map(|message| message.run.iter().collect::<Vec<_>>()),
                })
            }
            Self::Record(stored) => {
                let record = &stored.record;
                json!({
                    "unit": "record", "id": record.id, "text": record.text, "kind": record.kind, "tags": record.tags(),
                    "at": record.created_at().to_string(), "session": record.sessions().first(),
                    "trust": record.trust(), "version": stored.version, "agent": record.agent, "runs": record.runs(),
                })
            }
        }
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
        let mut value = self.content.to_json();
        if let Value::Object(members) = &mut value {
            members.insert("signals".to_owned(), json!(self.signals));
            members.extend(self.shared_by.iter().map(|owner| ("shared_by".to_owned(), json!(owner))));
        }
        value
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
