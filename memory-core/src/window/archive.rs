//! What stands in a window for messages that left it without a summary.

use std::sync::Arc;

use crate::id::MessageId;
use crate::message::{Left, Message, Role};
use crate::model::CounterId;
use crate::store::chat::NewMessage;
use crate::time::Timestamp;

/// Returns what stands for the messages from `first` on, with an id as [`Left::archive`] makes it. It has no words, and no context
/// shows it.
pub(crate) fn archive(left: Left, first: MessageId, revision: u64, at: Timestamp) -> NewMessage {
    let message = Message { id: left.archive(first, revision), ..Message::of_blocks(Role::Assistant, Vec::new(), at) };
    NewMessage { tokens: 0, counter: CounterId::UNKNOWN, message: Arc::new(message) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_stands_for_messages_has_their_id_and_no_words() {
        let (first, left) = (MessageId::of_content(b"first"), Left::Evicted);
        let NewMessage { tokens, message, .. } = archive(left, first, 3, Timestamp(5));
        assert_eq!((message.id, message.at), (left.archive(first, 3), Timestamp(5)));
        assert!(tokens == 0 && message.blocks.is_empty());
    }
}
