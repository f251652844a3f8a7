//! Counting the tokens of messages, and recounting those that another counter counted.

use std::sync::Arc;

use crate::error::Result;
use crate::id::SeqRange;
use crate::limits::Limits;
use crate::message::{Message, StoredMessage};
use crate::model::{CounterId, TokenCounter};
use crate::store::chat::NewMessage;

use super::render;

/// Returns a message with its token count.
///
/// # Errors
/// `Invalid` for a message beyond the limits.
pub(super) fn measure(message: Message, limits: &Limits, counter: &dyn TokenCounter) -> Result<NewMessage> {
    limits.check_message(&message)?;
    let tokens = counter.count(&message);
    limits.check_tokens(tokens)?;
    Ok(NewMessage { tokens, counter: CounterId::of(counter), message: Arc::new(message) })
}

/// Recounts the rows that another counter counted, and returns how many there were.
pub(super) fn recount<'a>(rows: impl IntoIterator<Item = &'a mut StoredMessage>, counter: &dyn TokenCounter) -> u64 {
    let own = CounterId::of(counter);
    let mut again = 0;
    for row in rows {
        let Some(message) = row.message.as_ref().filter(|_| row.counter != own) else { continue };
        row.tokens = count(message, row.covers, counter);
        row.counter = own;
        again += 1;
    }
    again
}

/// Returns the tokens of a message, or of a summary of `covers`, as it stands in a context.
pub(super) fn count(message: &Message, covers: Option<SeqRange>, counter: &dyn TokenCounter) -> u64 {
    covers.map_or_else(|| counter.count(message), |covers| counter.count(&render::summary(message, covers)))
}
