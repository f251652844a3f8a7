//! From truth to index entries: what is searched of a message, a span and a record. Pure.

mod message;
mod pieces;
mod record;
mod span;
#[cfg(test)]
mod tests;

use crate::analysis::Analysis;
use crate::chat::SessionState;
use crate::id::{ItemId, SeqRange};
use crate::message::{Message, StoredMessage};
use crate::text::TextEntry;

pub use message::{NEIGHBOURS, message_entries, own_terms};
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

/// Returns the changes of [`message_entries`] and of [`span_entries`]; each message is analysed once.
///
/// `rows` holds what both need: the session's rows of the whole spans that `range` touches, and its neighbours.
pub fn session_entries(analysis: &Analysis, rows: &[StoredMessage], state: &SessionState, range: SeqRange) -> Changes {
    let analysed = message::analyse(analysis, rows.iter());
    let mut changes = message::entries(&analysed, state, range);
    let Changes { puts, deletions } = span::entries(&analysed, state, range);
    changes.puts.extend(puts);
    changes.deletions.extend(deletions);
    changes
}

/// Returns what is searched of a message: `Speaker: text`, or the text alone where nobody is named.
pub fn searched_text(message: &Message) -> String {
    match &message.speaker {
        Some(speaker) => format!("{speaker}: {}", message.text()),
        None => message.text(),
    }
}
