//! Counting the tokens of messages, and recounting those that another counter counted.

use std::sync::Arc;

use crate::error::Result;
use crate::limits::Limits;
use crate::message::{Message, StoredMessage};
use crate::model::{CounterId, HEAVY, TokenCounter, beside};
use crate::store::chat::NewMessage;
use crate::window::count_shown;

use super::careful::Careful;

/// Counts texts of so many bytes, apart from the tasks that wait for servers if they are long.
///
/// # Errors
/// `Backend` if the counter panics.
pub(super) async fn counting<T: Send + 'static>(
    bytes: usize,
    counter: &Arc<dyn TokenCounter>,
    count: impl FnOnce(&Careful) -> T + Send + 'static,
) -> Result<T> {
    let counter = Arc::clone(counter);
    let counted = move || {
        let counter = Careful::new(&counter);
        let counted = count(&counter);
        counter.verdict(Ok(counted))
    };
    beside(bytes, "counter", "count tokens", counted).await
}

/// Returns how many bytes the messages of rows have.
pub(super) fn bytes_of(rows: &[StoredMessage]) -> usize {
    rows.iter().filter_map(|row| row.message.as_deref()).map(Message::encoded_len).sum()
}

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
    let limits = limits.clone();
    let measured = move |counter: &Careful| -> Result<Vec<NewMessage>> {
        messages.into_iter().map(|message| measure(message, &limits, counter)).collect()
    };
    counting(bytes, counter, measured).await?
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

/// Recounts the rows that another counter counted, as [`counting`] does.
///
/// # Errors
/// `Backend` if the counter panics.
pub(super) async fn recount_all(
    mut rows: Vec<StoredMessage>,
    counter: &Arc<dyn TokenCounter>,
) -> Result<Vec<StoredMessage>> {
    let bytes = bytes_of(&rows);
    let recounted = move |counter: &Careful| {
        recount(&mut rows, counter);
        rows
    };
    counting(bytes, counter, recounted).await
}

/// Recounts the rows that another counter counted, if they are so long that other tasks would wait. Returns how many it recounted.
///
/// # Errors
/// `Backend` if the counter panics.
pub(super) async fn recount_long(rows: &mut Vec<StoredMessage>, counter: &Arc<dyn TokenCounter>) -> Result<u64> {
    let own = CounterId::of(&Careful::new(counter));
    let others = rows.iter().filter(|row| row.counter != own).filter_map(|row| row.message.as_deref());
    let bytes: usize = others.map(Message::encoded_len).sum();
    if bytes <= HEAVY {
        return Ok(0);
    }
    let mut taken = std::mem::take(rows);
    let recounted = move |counter: &Careful| {
        let again = recount(&mut taken, counter);
        (taken, again)
    };
    let (counted, again) = counting(bytes, counter, recounted).await?;
    *rows = counted;
    Ok(again)
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
