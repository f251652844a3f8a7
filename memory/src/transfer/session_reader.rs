//! Reading a whole session in pages, and noticing that it was folded, forgotten of or deleted between two of them. What
//! is appended meanwhile is read too.

use memory_core::store::chat::{Fence, Page, Slice, View};
use memory_core::{Seq, StoredMessage};

/// Rows that are read together.
const ROWS: usize = 500;
/// Tokens after which a page ends: long messages are not held in memory by the hundred.
const TOKENS: u64 = 500_000;
/// How often a session is read from its beginning, because somebody changed it meanwhile, before that is told.
pub(super) const TRIES: usize = 5;

/// Reads a session page by page.
#[derive(Debug, Default)]
pub(super) struct SessionReader {
    after: Seq,
    /// The session when its first page was read.
    first: Option<(Fence, u64)>,
}

impl SessionReader {
    /// Returns the next page to be read.
    pub(super) fn page(&self) -> Page {
        Page::after(self.after, ROWS, View::All).within(TOKENS)
    }

    /// Returns the rows of the page, none at the end of the session.
    ///
    /// # Errors
    /// [`Torn`] if the session was changed since its first page: its rows do not belong to one state.
    pub(super) fn take(&mut self, slice: Slice) -> Result<Vec<StoredMessage>, Torn> {
        let (fence, revision) = (slice.state.fence, slice.state.revision);
        let first = *self.first.get_or_insert((fence, revision));
        match slice.messages.last() {
            _ if fence != first.0 || !slice.complete => Err(Torn),
            Some(_) if revision != first.1 => Err(Torn),
            last => {
                self.after = last.map_or(self.after, |row| row.seq);
                Ok(slice.messages)
            }
        }
    }
}

/// A session was changed while it was read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Torn;

#[cfg(test)]
mod tests {
    use memory_core::store::chat::SessionState;
    use memory_core::{CounterId, MessageId, SessionId, Timestamp};

    use super::*;

    fn slice(seq: Option<u64>, revision: u64, generation: u64) -> Slice {
        let session = SessionId::new("talk").unwrap();
        let fence = Fence { generation, ..Fence::default() };
        let row = |seq| StoredMessage {
            id: MessageId::fresh(),
            session: session.clone(),
            seq: Seq(seq),
            tokens: 1,
            counter: CounterId::UNKNOWN,
            covers: None,
            archived_by: None,
            message: None,
        };
        let messages = seq.map(row).into_iter().collect();
        let state = SessionState {
            session,
            fence,
            revision,
            head: Seq(9),
            active_messages: 0,
            active_tokens: 0,
            asked: 0,
            last_at: Timestamp(0),
        };
        Slice { messages, state, complete: true }
    }

    #[test]
    fn pages_of_one_state_are_a_session() {
        let mut session_reader = SessionReader::default();
        assert_eq!(session_reader.take(slice(Some(3), 7, 1)).unwrap().len(), 1);
        assert_eq!(session_reader.page().edge, memory_core::store::chat::Edge::After(Seq(3)));
        assert_eq!(session_reader.take(slice(Some(5), 7, 1)).unwrap().len(), 1);
        assert_eq!(session_reader.take(slice(None, 7, 1)).unwrap().len(), 0);
    }

    #[test]
    fn a_page_that_says_it_is_torn_is() {
        assert_eq!(SessionReader::default().take(Slice { complete: false, ..slice(Some(3), 7, 1) }), Err(Torn));
    }

    #[test]
    fn what_is_changed_behind_the_last_page_tears_nothing() {
        let mut session_reader = SessionReader::default();
        session_reader.take(slice(Some(3), 7, 1)).unwrap();
        assert_eq!(session_reader.take(slice(None, 8, 1)), Ok(Vec::new()));
    }

    #[test]
    fn a_page_of_another_state_or_another_session_of_the_name_is_torn() {
        for other in [slice(Some(5), 8, 1), slice(Some(5), 7, 2), slice(None, 7, 2)] {
            let mut session_reader = SessionReader::default();
            session_reader.take(slice(Some(3), 7, 1)).unwrap();
            assert_eq!(session_reader.take(other), Err(Torn));
        }
    }
}
