//! One conversation: its messages by number, its summaries, and which of them are in the window.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use crate::id::{MessageId, Seq, SeqRange, SessionId};
use crate::message::StoredMessage;
use crate::scope::Epoch;
use crate::store::chat::{Fence, NewMessage, SessionState, revision_after_deletion};
use crate::time::Timestamp;

/// A position in a session: by number; at one number the message first, then summaries in the order they were made.
///
/// A summary at the number of an older one covers it, so this is the order of [`crate::store::chat::View::All`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Position {
    pub(super) seq: Seq,
    /// 0 for the message.
    pub(super) rank: u64,
}

impl Position {
    pub(super) fn of_message(seq: Seq) -> Self {
        Self { seq, rank: 0 }
    }

    /// Returns the last position that can be at `seq`.
    pub(super) fn end_of(seq: Seq) -> Self {
        Self { seq, rank: u64::MAX }
    }
}

#[derive(Debug, Default)]
pub(super) struct Session {
    generation: u64,
    pub(super) revision: u64,
    /// The message of each number, from 1.
    pub(super) rows: Vec<StoredMessage>,
    pub(super) summaries: BTreeMap<Position, StoredMessage>,
    /// The rows that each summary replaces.
    pub(super) originals: HashMap<MessageId, Vec<Position>>,
    /// The window, kept so that its ends and size need no search.
    pub(super) active: BTreeSet<Position>,
    /// The instructions in the window.
    pub(super) instructions: BTreeSet<Position>,
    /// Wider than a count, so that no sum overflows.
    active_tokens: u128,
    asked: u64,
    last_at: Option<Timestamp>,
    last_rank: u64,
}

impl Session {
    pub(super) fn generation(&self) -> u64 {
        self.generation
    }

    pub(super) fn head(&self) -> Seq {
        Seq(self.rows.len() as u64)
    }

    /// Returns whether it never got a message, or was deleted.
    pub(super) fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// Returns whether the window is all messages and nothing else.
    pub(super) fn is_log(&self) -> bool {
        self.active.len() == self.rows.len() && self.summaries.is_empty()
    }

    pub(super) fn state(&self, session: &SessionId, epoch: Epoch) -> SessionState {
        SessionState {
            session: session.clone(),
            fence: Fence { epoch, generation: self.generation },
            revision: self.revision,
            head: self.head(),
            active_messages: self.active.len() as u64,
            active_tokens: u64::try_from(self.active_tokens).unwrap_or(u64::MAX),
            asked: self.asked,
            last_at: self.last_at.unwrap_or_default(),
        }
    }

    pub(super) fn get(&self, position: Position) -> Option<&StoredMessage> {
        match position.rank {
            0 => self.rows.get(index_of(position.seq)?),
            _ => self.summaries.get(&position),
        }
    }

    pub(super) fn get_mut(&mut self, position: Position) -> Option<&mut StoredMessage> {
        match position.rank {
            0 => self.rows.get_mut(index_of(position.seq)?),
            _ => self.summaries.get_mut(&position),
        }
    }

    /// Returns the numbers after `before`, if there are any.
    pub(super) fn since(&self, before: Seq) -> Option<SeqRange> {
        let first = Seq(before.0 + 1);
        (first <= self.head()).then(|| SeqRange { first, last: self.head() })
    }

    pub(super) fn append(&mut self, session: &SessionId, new: &NewMessage) -> Position {
        self.push(new.row(session, Seq(self.head().0 + 1)))
    }

    /// Keeps the largest budget asked for.
    pub(super) fn ask(&mut self, asked: u64) {
        self.asked = self.asked.max(asked);
    }

    /// Adds the row of the next number.
    pub(super) fn push(&mut self, row: StoredMessage) -> Position {
        let position = Position::of_message(row.seq);
        self.last_at = self.last_at.max(row.message.as_ref().map(|message| message.at));
        self.keep_original(position, row.archived_by);
        self.rows.push(row);
        self.enter(position);
        position
    }

    /// Adds a summary after all rows at its number.
    pub(super) fn push_summary(&mut self, row: StoredMessage) -> Position {
        let position = self.fresh_position(row.seq);
        self.keep_original(position, row.archived_by);
        self.summaries.insert(position, row);
        self.enter(position);
        position
    }

    /// Returns a position at `seq` that was never used.
    pub(super) fn fresh_position(&mut self, seq: Seq) -> Position {
        self.last_rank += 1;
        Position { seq, rank: self.last_rank }
    }

    fn keep_original(&mut self, position: Position, archived_by: Option<MessageId>) {
        if let Some(summary) = archived_by {
            self.originals.entry(summary).or_default().push(position);
        }
    }

    /// Puts the row at `position` into the window, if it belongs there.
    pub(super) fn enter(&mut self, position: Position) {
        let Some(row) = self.get(position).filter(|row| row.is_active()) else { return };
        let tokens = u128::from(row.tokens);
        let is_instruction = row.covers.is_none() && row.message.as_ref().is_some_and(|m| m.role.is_instruction());
        if is_instruction {
            self.instructions.insert(position);
        }
        if self.active.insert(position) {
            self.active_tokens += tokens;
        }
    }

    /// Takes the row at `position` out of the window.
    pub(super) fn leave(&mut self, position: Position) {
        self.instructions.remove(&position);
        if self.active.remove(&position) {
            self.active_tokens -= self.get(position).map_or(0, |row| u128::from(row.tokens));
        }
    }

    /// Deletes everything and returns how many messages there were. Only generation and revision stay, to fence old handles.
    pub(super) fn empty(&mut self) -> u64 {
        let removed = self.rows.iter().filter(|row| row.message.is_some()).count();
        let (generation, revision) = (self.generation + 1, revision_after_deletion(self.revision));
        *self = Self { generation, revision, ..Self::default() };
        removed as u64
    }
}

/// Returns the index of the message with this number in a list of all messages.
pub(super) fn index_of(seq: Seq) -> Option<usize> {
    usize::try_from(seq.0.checked_sub(1)?).ok()
}
