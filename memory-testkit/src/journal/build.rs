//! Builders of messages for the scenarios of journals.

use memory_core::store::chat::{Append, Fence, NewMessage};
use memory_core::store::journal::Queued;
use memory_core::{Epoch, Message, MessageId, Result, Role, Scope, SessionId, Timestamp};
use uuid::Uuid;

use crate::Journals;

/// A fence above all others: what is erased below it is everything.
pub(crate) const EVER: Fence = Fence { epoch: Epoch(u64::MAX), generation: 0 };

/// Returns the message whose id is `number`.
pub(crate) fn new(number: u64) -> NewMessage {
    let id = MessageId(Uuid::from_u64_pair(1, number));
    let message = Message::new(Role::User, format!("message {number}"), Timestamp(5)).with_id(id);
    NewMessage::sized(message, 3)
}

/// Returns messages to be appended together.
pub(crate) fn batch(numbers: impl IntoIterator<Item = u64>) -> Append {
    Append::new(numbers.into_iter().map(new).collect())
}

/// Pushes messages into the session `s`, and returns the number of the last.
pub(crate) async fn push(
    journal: &Journals,
    scope: &Scope,
    numbers: impl IntoIterator<Item = u64> + Send,
) -> Result<u64> {
    let batch = batch(numbers);
    journal.push(scope, &SessionId::new("s")?, &batch).await
}

/// Returns all that is queued, of all owners.
pub(crate) async fn queued(journal: &Journals) -> Result<Vec<Queued>> {
    journal.queued(None, None, 1_000).await
}

/// Returns the ids of queued messages as the numbers that [`new`] made them of.
pub(crate) fn ids(queued: &[Queued]) -> Vec<u64> {
    queued.iter().map(|queued| queued.new.message.id.0.as_u64_pair().1).collect()
}

/// Returns the places of queued messages.
pub(crate) fn numbers(queued: &[Queued]) -> Vec<u64> {
    queued.iter().map(|queued| queued.number).collect()
}

/// Returns these places as they are revived: without a fence.
pub(crate) fn revived(numbers: &[u64]) -> Vec<(u64, Option<Fence>)> {
    numbers.iter().map(|number| (*number, None)).collect()
}
