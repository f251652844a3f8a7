//! A summary as it stands in a context: in a frame, which no text of it can end.

use crate::id::SeqRange;
use crate::message::{Message, Role};
use crate::model::TokenCounter;

/// Returns a summary as it stands in a context.
pub(crate) fn framed(summary: &Message, covers: SeqRange) -> Message {
    let text = format!(
        "<summary of=\"messages {} to {}\">\n{}\n</summary>",
        covers.first.0,
        covers.last.0,
        escape(&summary.text())
    );
    let mut message = Message::new(Role::User, text, summary.at).with_id(summary.id);
    message.trust = summary.trust;
    message
}

/// Returns the tokens of a message, or of a summary of `covers`, as it stands in a context.
pub(crate) fn count_shown(message: &Message, covers: Option<SeqRange>, counter: &dyn TokenCounter) -> u64 {
    covers.map_or_else(|| counter.count(message), |covers| counter.count(&framed(message, covers)))
}

/// Returns a text that ends no frame.
pub(crate) fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}
