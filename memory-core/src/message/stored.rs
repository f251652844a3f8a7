//! A message with its place in a conversation.

use std::sync::Arc;

use super::Message;
use super::left::Left;
use crate::id::{MessageId, Seq, SeqRange, SessionId};
use crate::model::CounterId;

/// A message as a store holds it.
#[derive(Clone, Debug, PartialEq)]
pub struct StoredMessage {
    /// The message's id, known even if its content is forgotten.
    pub id: MessageId,
    /// Its session.
    pub session: SessionId,
    /// Its number. A summary has none of its own: it stands at the last number that it covers.
    pub seq: Seq,
    /// Its tokens; 0 once forgotten.
    pub tokens: u64,
    /// The counter that counted them; unknown once forgotten.
    pub counter: CounterId,
    /// The numbers that this summary covers; `None` for an ordinary message.
    pub covers: Option<SeqRange>,
    /// The summary that replaces this message in the window; `None` while it is active.
    pub archived_by: Option<MessageId>,
    /// The content; `None` once forgotten. The number stays taken, so that reads are gapless.
    pub message: Option<Arc<Message>>,
}

impl StoredMessage {
    /// Returns whether the message is in the window: neither archived nor forgotten.
    pub fn is_active(&self) -> bool {
        self.message.is_some() && self.archived_by.is_none()
    }

    /// Returns whether other messages took its place in the window ([`Session::replace`](crate::engine::Session::replace)).
    pub fn is_replaced(&self) -> bool {
        matches!(self.left(), Some(Left::Replaced(_)))
    }

    /// Returns why it left the window without a summary; none if it did not.
    pub(crate) fn left(&self) -> Option<Left> {
        self.archived_by.and_then(Left::behind)
    }

    /// Returns whether it only stands for messages that left the window without a summary
    /// ([`Folding::Archive`](crate::window::Folding)). No context shows it.
    pub fn is_archive(&self) -> bool {
        self.covers.is_some() && self.message.as_ref().is_some_and(|message| message.blocks.is_empty())
    }

    /// Returns the row as it is seen by a branch that leaves its conversation at `at`: whatever was folded or replaced since is as it
    /// was said.
    pub(crate) fn seen_at(self, at: Seq) -> Self {
        let stays = matches!(self.left(), Some(Left::Replaced(by)) if by <= at);
        Self { archived_by: self.archived_by.filter(|_| stays), ..self }
    }
}

#[cfg(test)]
impl StoredMessage {
    /// Returns a row of the window, of the session `s`.
    pub(crate) fn of_tests(seq: u64, tokens: u64, message: Message) -> Self {
        Self {
            id: message.id,
            session: SessionId::new("s").unwrap(),
            seq: Seq(seq),
            tokens,
            counter: CounterId::UNKNOWN,
            covers: None,
            archived_by: None,
            message: Some(message.into()),
        }
    }
}
