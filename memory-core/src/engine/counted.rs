//! Counting the tokens of messages, and recounting those that another counter counted.

use std::sync::Arc;

use tokio::task::spawn_blocking;

use crate::error::Result;
use crate::limits::Limits;
use crate::message::{Message, StoredMessage};
use crate::model::{CounterId, TokenCounter, panicked};
use crate::store::chat::NewMessage;
use crate::window::count_shown;

use super::careful::Careful;

/// A batch of more bytes than this is counted apart from the tasks that wait for servers.
const HEAVY: usize = 64 << 10;

/// Returns messages with their token counts.
///
/// # Errors
/// `Invalid` for a message beyond the limits; `Backend` if the counter panics.
pub(super) async fn measure_all(
    messages: Vec<Message>,
    limits: &Limits,
    counter: &Arc<dyn TokenCounter>,
) -> Result<Vec<NewMessage>> {
    let bytes: usize = messages.iter().map(Message::encoded_len).sum();
    let (limits, counter) = (limits.clone(), Arc::clone(counter));
    let count = move || {
        let counter = Careful::new(&counter);
        let measured = messages.into_iter().map(|message| measure(message, &limits, &counter));
        counter.verdict(measured.collect())
    };
    if bytes <= HEAVY {
        return count();
    }
    spawn_blocking(count).await.unwrap_or_else(|_| Err(panicked("counter", "count tokens")))
}

/// Returns a message with its token count.
///
/// # Errors
/// `Invalid` for a message beyond the limits.
fn measure(message: Message, limits: &Limits, counter: &dyn TokenCounter) -> Result<NewMessage> {
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
        row.tokens = count_shown(message, row.covers, counter);
        row.counter = own;
        again += 1;
    }
    again
}
