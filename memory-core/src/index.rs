//! From truth to index entries: what is searched of a message, a span and a record. Pure.

mod message;
mod pieces;
mod record;
mod span;
#[cfg(test)]
mod tests;

use crate::id::ItemId;
use crate::message::Message;
use crate::text::TextEntry;

pub use message::message_entries;
pub use pieces::{PIECE_WORDS, message_pieces, record_pieces};
pub use record::record_entry;
pub use span::{SPAN_MESSAGES, span_entries, span_of, span_range};

/// What an index must do to follow truth.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Changes {
    /// Entries to be put.
    pub puts: Vec<TextEntry>,
    /// Items to be deleted, because nothing is left of them.
    pub deletions: Vec<ItemId>,
}

/// Returns what is searched of a message: `Speaker: text`, or the text alone where nobody is named.
pub fn searched_text(message: &Message) -> String {
    match &message.speaker {
        Some(speaker) => format!("{speaker}: {}", message.text()),
        None => message.text(),
    }
}
