//! From truth to index entries: what is searched of a message, a span and a record. Pure.

mod message;
mod pieces;
mod record;
mod span;
#[cfg(test)]
mod tests;

use crate::analysis::Analysis;
use crate::chat::SessionState;
use crate::id::{ItemId, SeqRange, Version};
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
    /// Items to be deleted, because nothing is left of them, each with the version that its entry would have.
    pub deletions: Vec<(ItemId, Version)>,
}

/// How many versions an item of a session has at one revision of it.
const STEPS: u64 = 2 * SPAN_MESSAGES;

/// Returns the version of what is made of a session as `state` shows it: 128 times its revision, plus `step`, below 128,
/// which tells how many of the messages that it is made of were there.
pub fn session_version(state: &SessionState, step: u64) -> Version {
    let revision = state.revision.saturating_mul(STEPS).saturating_add(step.min(STEPS - 1));
    Version { epoch: state.fence.epoch, revision }
}

/// Returns a version that nothing of the session's present generation has, and nothing of its deleted ones exceeds; none
/// if no generation was deleted.
pub fn deleted_version(state: &SessionState) -> Option<Version> {
    let revision = state.began().saturating_mul(STEPS).checked_sub(1)?;
    Some(Version { epoch: state.fence.epoch, revision })
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
