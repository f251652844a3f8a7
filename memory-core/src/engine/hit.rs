//! What a search finds.

use crate::fields::Fields;
use crate::id::ItemId;
use crate::message::StoredMessage;
use crate::record::StoredRecord;

use super::receipt::{SearchReceipt, Signals};

/// What an item says.
#[derive(Clone, Debug, PartialEq)]
pub enum Content {
    /// A message.
    Message(StoredMessage),
    /// A record.
    Record(StoredRecord),
}

impl Content {
    /// Returns what filters see; none for a message that was forgotten.
    pub fn fields(&self) -> Option<Fields> {
        match self {
            Self::Message(row) => row.message.as_ref().map(|message| Fields::of_message(row, message)),
            Self::Record(stored) => Some(Fields::of_record(&stored.record)),
        }
    }

    /// Returns the words.
    pub fn text(&self) -> String {
        match self {
            Self::Message(row) => row.message.as_ref().map(|message| message.text()).unwrap_or_default(),
            Self::Record(stored) => stored.record.text.clone(),
        }
    }
}

/// Something found.
#[derive(Clone, Debug, PartialEq)]
pub struct Hit {
    /// What it is.
    pub item: ItemId,
    /// What it says.
    pub content: Content,
    /// How it was found.
    pub signals: Signals,
}

/// The answer to a search.
#[derive(Clone, Debug, PartialEq)]
pub struct Found {
    /// The hits, best first.
    pub hits: Vec<Hit>,
    /// How they were found.
    pub receipt: SearchReceipt,
}
