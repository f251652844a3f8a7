//! Index entries: what is searched of a message, a span and a record. Pure functions.

mod changes;
mod message;
mod pieces;
mod record;
mod span;
#[cfg(test)]
mod tests;
mod version;

use crate::analysis::Analysis;
use crate::id::SeqRange;
use crate::message::StoredMessage;
use crate::store::chat::SessionState;

pub use changes::Changes;
pub use message::{NEIGHBOURS, message_entries, searched_text};
pub(crate) use pieces::passages;
pub use pieces::{PIECE_WORDS, message_pieces, record_pieces};
pub use record::record_entry;
pub(crate) use record::record_terms;
pub use version::{SPAN_MESSAGES, deleted_version, session_version, span_of, span_range};

/// Returns what a text index must do for the messages of `range` ([`message_entries`]) and for the spans that it touches.
/// Each message is analysed once.
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
