//! The chat store: the truth store for conversations.

use std::sync::Arc;

use async_trait::async_trait;
use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};
use crate::filter::Filter;
use crate::id::{MessageId, Seq, SeqRange, SessionId};
use crate::message::{Message, StoredMessage};
use crate::model::CounterId;
use crate::number;
use crate::scope::{Epoch, Scope};
use crate::store::{Durability, Store};
use crate::time::Timestamp;

/// The epoch and generation that a writer saw before it began. A session, or an owner's records, refuse a write whose fence
/// is not the present one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Fence {
    /// The owner's epoch.
    pub epoch: Epoch,
    /// Of a session: how often it was deleted. Of records: a number that rises with each call that deletes some.
    pub generation: u64,
}

impl Fence {
    /// Returns `Ok` if epoch and generation can still rise.
    ///
    /// # Errors
    /// [`Error::Invalid`] if one of them is above [`LARGEST`](crate::number::LARGEST).
    pub fn check(self) -> Result<()> {
        self.epoch.check()?;
        number::check("a generation", self.generation)
    }
}

/// A message with its token count.
#[derive(Clone, Debug, PartialEq)]
pub struct NewMessage {
    /// The message.
    pub message: Arc<Message>,
    /// Its tokens. Not part of the content: a repeat with another count changes nothing.
    pub tokens: u64,
    /// The counter that counted them, stored beside the count.
    pub counter: CounterId,
}

impl NewMessage {
    /// Returns a message of `tokens` that an unknown counter counted.
    pub fn sized(message: impl Into<Arc<Message>>, tokens: u64) -> Self {
        Self { message: message.into(), tokens, counter: CounterId::UNKNOWN }
    }

    /// Returns the row of the window that it is in a session, at a number.
    pub(crate) fn row(&self, session: &SessionId, seq: Seq) -> StoredMessage {
        StoredMessage {
            id: self.message.id,
            session: session.clone(),
            seq,
            tokens: self.tokens,
            counter: self.counter,
            covers: None,
            archived_by: None,
            message: Some(Arc::clone(&self.message)),
        }
    }
}

/// Messages to be appended together.
///
/// ```
/// use memory_core::store::chat::{Append, NewMessage};
/// use memory_core::{Message, Role, Timestamp};
///
/// let hello = Message::new(Role::User, "Hello!", Timestamp(0));
/// let batch = Append::new(vec![NewMessage::sized(hello, 2)]);
/// assert_eq!(batch.messages.len(), 1);
/// ```
#[derive(Clone, Debug)]
pub struct Append {
    /// The fence that the caller's handle saw; `None` checks nothing.
    pub fence: Option<Fence>,
    /// The largest budget, in tokens, that contexts of the session have asked for since the last append; 0 for none.
    pub asked: u64,
    /// The messages, oldest first.
    pub messages: Vec<NewMessage>,
}

impl Append {
    /// Returns the batch of these messages, without a fence.
    pub fn new(messages: Vec<NewMessage>) -> Self {
        Self { fence: None, asked: 0, messages }
    }
}

/// The state of a session: its counters, kept in one row so that the pressure of its window costs no second call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SessionState {
    /// The session.
    pub session: SessionId,
    /// The owner's epoch and the session's generation.
    pub fence: Fence,
    /// Rises with every fold, unfold and redaction, and with a deletion to [`revision_after_deletion`]. Never restarts.
    pub revision: u64,
    /// The number of the newest message; 0 for an empty session.
    pub head: Seq,
    /// Messages in the window, summaries included.
    pub active_messages: u64,
    /// Their tokens as stored, perhaps of several counters. They tell how full the window is; no budget relies on them.
    pub active_tokens: u64,
    /// The largest [`Append::asked`] of the batches that added messages; 0 in a new or deleted session.
    pub asked: u64,
    /// The latest time of any message appended.
    pub last_at: Timestamp,
}

/// A deletion raises a session's revision to a multiple of this, so that the revision tells the start of its generation.
const GENERATION: u64 = 1 << 10;

/// Returns the revision of a session that had `revision` when it was deleted: the next multiple of 1,024.
pub fn revision_after_deletion(revision: u64) -> u64 {
    (revision / GENERATION).saturating_add(1).saturating_mul(GENERATION)
}

impl SessionState {
    /// Returns a revision that no deleted generation of the session has reached; 0 if none was deleted.
    ///
    /// It is the first revision of the present generation, or a later one after 1,024 changes of the window.
    pub fn began(&self) -> u64 {
        self.revision / GENERATION * GENERATION
    }

    /// Returns whether [`ChatStore::delete`] deletes this session for a caller who saw it as `seen`. It does not if the
    /// session is empty, or began since.
    ///
    /// # Errors
    /// `Conflict` if the session has changed since.
    pub fn is_to_be_deleted(&self, seen: &Self) -> Result<bool> {
        if self.head == Seq(0) || self.fence > seen.fence {
            return Ok(false);
        }
        let state = |state: &Self| (state.fence, state.head, state.revision);
        if state(self) == state(seen) { Ok(true) } else { Err(Error::Conflict) }
    }
}

/// The outcome of appending one message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Placement {
    /// Stored now, with this number.
    Added(Seq),
    /// Stored before, with this number.
    Already(Seq),
    /// In the journal; the primary will number it.
    Queued,
    /// Stored before and forgotten since: not stored again.
    Forgotten,
}

/// The answer to an append.
#[derive(Clone, Debug)]
pub struct Appended {
    /// One per message, in order.
    pub placements: Vec<Placement>,
    /// The session afterwards.
    pub state: SessionState,
    /// How durable the messages are.
    pub durability: Durability,
}

/// Where a page begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Edge {
    /// The newest rows.
    Newest,
    /// The newest rows before this number.
    Before(Seq),
    /// The oldest rows after this number.
    After(Seq),
}

/// Which rows a page holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum View {
    /// The window: active messages and active summaries.
    Active,
    /// The rows of the window that a context shows whatever their age: active messages of the roles `system` and `developer`,
    /// and the newest active summary of the session, if it stands on the page's side of the edge. A row that stands for messages without
    /// a summary counts as one here.
    Pinned,
    /// Every message by number, with markers for forgotten ones; no summaries.
    Log,
    /// Everything, summaries behind what they cover (export and moves).
    All,
}

/// A page of a session to be read.
#[derive(Clone, Debug, PartialEq)]
pub struct Page {
    /// Where it begins.
    pub edge: Edge,
    /// The most rows; 0 asks for the state alone.
    ///
    /// Rows with the same number are never split, neither by this limit nor by `tokens`. So a page in [`View::All`] may exceed
    /// both.
    pub limit: usize,
    /// Stops the page after the row that brings the sum of tokens, from the edge on, above this.
    pub tokens: Option<u64>,
    /// Which rows.
    pub view: View,
    /// Only messages that match; `None` for all.
    pub filter: Option<Filter>,
}

impl Page {
    /// Returns the page of the newest `limit` rows of the window.
    pub fn newest(limit: usize) -> Self {
        Self { edge: Edge::Newest, limit, tokens: None, view: View::Active, filter: None }
    }

    /// Returns the page of the oldest `limit` rows after `seq`, seen as `view`.
    pub fn after(seq: Seq, limit: usize, view: View) -> Self {
        Self { edge: Edge::After(seq), limit, tokens: None, view, filter: None }
    }

    /// Returns the page of the newest `limit` rows before `seq`, seen as `view`.
    pub fn before(seq: Seq, limit: usize, view: View) -> Self {
        Self { edge: Edge::Before(seq), limit, tokens: None, view, filter: None }
    }

    /// Stops the page after the row that brings the sum of tokens above `tokens`.
    #[must_use]
    pub fn within(mut self, tokens: u64) -> Self {
        self.tokens = Some(tokens);
        self
    }

    /// Keeps only messages that match `filter`.
    #[must_use]
    pub fn matching(mut self, filter: Filter) -> Self {
        self.filter = Some(filter);
        self
    }
}

/// A page that was read.
#[derive(Clone, Debug)]
pub struct Slice {
    /// The session.
    pub state: SessionState,
    /// The rows, oldest first.
    pub messages: Vec<StoredMessage>,
    /// False if a layer answered without its primary, or if the session kept changing while it was read, so that the rows do
    /// not belong to one state of it.
    pub complete: bool,
}

/// Messages found by id.
#[derive(Clone, Debug)]
pub struct FoundMessages {
    /// The messages.
    pub messages: Vec<StoredMessage>,
    /// The ids of forgotten messages: they stay taken as long as their session is there.
    pub forgotten: Vec<MessageId>,
    /// False if a layer answered without its primary.
    pub complete: bool,
}

impl FoundMessages {
    /// Returns all that was found: rows with their messages, and rows of forgotten ones without.
    pub fn of(rows: impl IntoIterator<Item = StoredMessage>) -> Self {
        let (messages, forgotten): (Vec<_>, Vec<_>) = rows.into_iter().partition(|row| row.message.is_some());
        Self { messages, forgotten: forgotten.into_iter().map(|row| row.id).collect(), complete: true }
    }
}

/// A change of the window.
#[derive(Clone, Debug)]
pub enum Compaction {
    /// Archives a range of active rows behind a summary.
    Fold {
        /// The fence of the state that the fold was planned from. The same ids may stand at the same numbers after a deletion
        /// or an erasure, with other words.
        fence: Fence,
        /// The numbers that the summary covers. It may not cut a summary, and need not begin at the first message, so that
        /// instructions at the head of a session can stay in the window.
        span: SeqRange,
        /// Exactly the active rows in `span`, oldest first: the compare part of the compare-and-set.
        ids: Vec<MessageId>,
        /// The summary.
        summary: NewMessage,
    },
    /// Removes a summary and makes what it covered active again.
    Unfold {
        /// The summary's id.
        summary: MessageId,
    },
}

/// The rows that forgetting one message touched.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Redacted {
    /// The message.
    pub id: MessageId,
    /// Its session.
    pub session: SessionId,
    /// Its number.
    pub seq: Seq,
    /// The summaries that covered it, deleted with it.
    pub summaries: Vec<MessageId>,
}

/// Holds the conversations of owners: truth for messages.
///
/// Every write also notes itself for each enlisted index ([`crate::store::upkeep::Upkeep`]), in the same transaction. Only
/// `compact`, which changes no content, needs no note. Every method may be repeated after a lost answer. If its future is
/// dropped, the write happens fully or not at all. Concurrent writers of one session, in any number of tasks and
/// processes, get one order of numbers without gaps.
#[doc(alias = "chat_store")]
#[async_trait]
pub trait ChatStore: Store {
    /// Appends all messages of the batch, or none, numbering the new ones in order without gaps.
    ///
    /// A message whose id is stored with equal content is `Already`, and a forgotten one `Forgotten`; neither is stored again.
    /// An id that occurs twice in a batch counts as appended twice. An empty batch stores nothing and makes no session.
    ///
    /// # Errors
    /// `IdConflict` if an id is stored with other content or in another session; `Fenced` if the fence is not the
    /// session's.
    async fn append(&self, scope: &Scope, session: &SessionId, batch: &Append) -> Result<Appended>;

    /// Stores exported rows with their numbers, archive marks and summaries.
    ///
    /// Rows come in the order of [`View::All`] and continue the session without a gap. Rows that are there are `Already`. A row
    /// without content becomes a marker, whose id stays taken. Summaries get no placement. The fence is the one that the caller's
    /// handle saw; `None` checks nothing.
    ///
    /// # Errors
    /// `Fenced` if the fence is not the session's; `Conflict` if a number is taken by another message or would leave a gap;
    /// `IdConflict` as in `append`.
    async fn restore(
        &self,
        scope: &Scope,
        session: &SessionId,
        fence: Option<Fence>,
        rows: &[StoredMessage],
    ) -> Result<Appended>;

    /// Returns the page, oldest first. If there is no such session, it has no rows and a state of zeros. The state always has
    /// the fence that an append must carry now.
    ///
    /// Reads no more than the page, so its cost does not depend on the length of the session.
    async fn read(&self, scope: &Scope, session: &SessionId, page: &Page) -> Result<Slice>;

    /// Returns the messages with these ids, in the order of `ids`, and which of the ids belong to forgotten messages of the owner.
    /// Absent and foreign ids are skipped.
    async fn get(&self, scope: &Scope, ids: &[MessageId]) -> Result<FoundMessages>;

    /// Returns up to `limit` sessions that hold messages, after the session `after`, in the order of their ids.
    async fn sessions(&self, scope: &Scope, after: Option<&SessionId>, limit: usize) -> Result<Vec<SessionState>>;

    /// Changes the window in one transaction, and returns the session afterwards. No message is lost.
    ///
    /// Idempotent: folding again with the same summary id and content, and unfolding a summary that is gone, succeed.
    ///
    /// # Errors
    /// `Fenced` if a fold's fence is not the session's; `Conflict` if `ids` are not exactly the active rows in the span, if the span cuts a summary, leaves the session or
    /// holds no active row, or if a summary to be unfolded is archived itself;
    /// `IdConflict` if the summary's id is taken.
    async fn compact(&self, scope: &Scope, session: &SessionId, change: &Compaction) -> Result<SessionState>;

    /// Forgets single messages: deletes their content and the summaries that cover them, and makes the originals of those
    /// summaries active again. Numbers and ids stay taken.
    ///
    /// Returns what was touched, each message once, in the order of `ids`. Absent, foreign and forgotten ids are skipped. A
    /// summary's id removes the summary. An empty list forgets nothing.
    ///
    /// A message is noted with its neighbours for every enlisted index, but not for those who find facts
    /// ([`IndexName::finds_facts`](crate::store::upkeep::IndexName::finds_facts)).
    async fn redact(&self, scope: &Scope, ids: &[MessageId]) -> Result<Vec<Redacted>>;

    /// Deletes a session if it is still as it was `seen`, and returns how many messages it held, not counting forgotten ones
    /// and summaries. Returns 0 if there is no session, or only a generation that began since; so a late deletion is harmless.
    ///
    /// The session's id may be used again: numbers restart, while generation and revision go on ([`revision_after_deletion`]), so
    /// that old handles are `Fenced`. The ids of its messages are free again.
    ///
    /// # Errors
    /// `Conflict` if the session's head or revision is not as seen. Then nothing is deleted.
    async fn delete(&self, scope: &Scope, seen: &SessionState) -> Result<u64>;
}
