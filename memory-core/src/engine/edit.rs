//! Editing the end of a conversation: replacing its messages, and drafting an answer while it streams.

use crate::error::{Error, Result};
use crate::id::{MessageId, Seq, SeqRange};
use crate::message::{Left, Message, Role, StoredMessage};
use crate::store::chat::{Compaction, Page, Placement, SessionState, Slice, View};
use crate::time::Timestamp;
use crate::window::archive;

use super::event::Event;
use super::handle::Session;
use super::receipt::AppendReceipt;

/// How many rows are read in one page.
const ROWS: usize = 1_000;
/// How often a change is tried that loses against concurrent writes.
const ATTEMPTS: usize = 100;

impl Session {
    /// Replaces the message `from` and all later ones by `messages`, as for a regenerated answer or an edited question. With no
    /// messages, only takes them out of the window.
    ///
    /// What was replaced leaves the window, and no context shows it any more; the log keeps it ([`View::Log`]), and a search finds it.
    /// To forget it, use [`Forget::Messages`](super::Forget::Messages). The new messages are stored first, so if the call fails or its
    /// future is dropped, the window may hold both; the same call completes it.
    ///
    /// # Errors
    /// `Invalid` if `from` is not in this conversation or has left its window (folded, forgotten or replaced), if one of `messages` is
    /// already stored elsewhere than behind `from`, or if this is a branch ([`Session::fork`]) that inherited `from`; else as
    /// [`Session::append`].
    ///
    /// # Examples
    /// ```
    /// # async fn example(session: &memory_core::engine::Session, now: memory_core::Timestamp) -> memory_core::Result<()> {
    /// use memory_core::{Message, Role};
    ///
    /// let answer = Message::new(Role::Assistant, "It left yesterday.", now);
    /// let first = answer.id;
    /// session.append(vec![answer]).await?;
    /// session.replace(first, vec![Message::new(Role::Assistant, "It arrives on Tuesday.", now)]).await?;
    /// # Ok(())
    /// # }
    /// ```
    #[doc(alias = "replace_last")]
    #[doc(alias = "regenerate")]
    #[doc(alias = "edit")]
    pub async fn replace(&self, from: MessageId, messages: Vec<Message>) -> Result<AppendReceipt> {
        let new: Vec<MessageId> = messages.iter().map(|message| message.id).collect();
        // What is replaced has its final number.
        self.flush().await?;
        let stored = self.scoped().said(&new).await?;
        let here = |row: &StoredMessage| row.session == *self.id() && row.covers.is_none() && !row.begins_branch();
        let row = self.scoped().said(&[from]).await?.pop();
        if row.as_ref().is_some_and(|row| row.session != *self.id()) && self.link().await?.is_some() {
            return Err(Error::invalid("a branch does not edit what it inherited: make a branch before that message"));
        }
        let row = row.filter(here).ok_or_else(|| Error::invalid("there is no such message to replace"))?;
        if stored.iter().any(|new| !here(new) || new.seq <= row.seq) {
            return Err(Error::invalid("an earlier message cannot take the place of a later one"));
        }
        // The oldest one is replaced last.
        let is_done = row.is_replaced() && stored.len() == new.len();
        if row.archived_by.is_some() && !is_done {
            return Err(Error::invalid("a message that is in the window no more cannot be replaced"));
        }
        let mut receipt = self.append(messages).await?;
        if receipt.placements.contains(&Placement::Queued) {
            let known: Vec<MessageId> = stored.iter().map(|row| row.id).collect();
            self.place(&new, &known, &mut receipt).await?;
        }
        if is_done {
            return Ok(receipt);
        }
        let until = receipt.placements.iter().filter_map(|placement| match placement {
            Placement::Added(seq) | Placement::Already(seq) => Some(*seq),
            Placement::Forgotten | Placement::Queued => None,
        });
        self.set_aside(row.seq, until.min().unwrap_or(Seq(receipt.head.0.saturating_add(1)))).await?;
        Ok(receipt)
    }

    /// Sends queued messages to truth, and says where they are there.
    async fn place(&self, new: &[MessageId], known: &[MessageId], receipt: &mut AppendReceipt) -> Result<()> {
        self.flush().await?;
        let rows = self.scoped().said(new).await?;
        for (id, placement) in new.iter().zip(&mut receipt.placements) {
            let Some(row) = rows.iter().find(|row| row.id == *id) else { continue };
            *placement = if known.contains(id) { Placement::Already(row.seq) } else { Placement::Added(row.seq) };
        }
        receipt.head = self.state().await?.head;
        Ok(())
    }

    /// Takes the active messages from `first` to before `until` out of the window, the newest first and each by itself: to forget one of
    /// them must not bring the others back.
    async fn set_aside(&self, first: Seq, until: Seq) -> Result<()> {
        let span = SeqRange { first, last: Seq(until.0.saturating_sub(1)) };
        for _ in 0..ATTEMPTS {
            let (rows, state) = self.active(span).await?;
            let mut rows = rows.iter().rev().filter(|row| !row.is_archive());
            // If a change is lost, the older ones wait, so that the oldest is last.
            let is_done = loop {
                let Some(row) = rows.next() else { break true };
                if row.covers.is_some() {
                    self.unfold(row.id).await?;
                    break false;
                }
                match self.set_one_aside(row, until, &state).await {
                    Err(Error::Conflict) => break false,
                    done => done?,
                }
            };
            if is_done {
                return Ok(());
            }
        }
        Err(Error::Conflict)
    }

    async fn set_one_aside(&self, row: &StoredMessage, by: Seq, state: &SessionState) -> Result<()> {
        let (inner, scope) = (self.scoped().inner(), self.scoped().scope());
        let at = row.message.as_ref().map_or_else(Default::default, |message| message.at);
        let span = SeqRange { first: row.seq, last: row.seq };
        let summary = archive(Left::Replaced(by), row.id, state.revision, at);
        let change = Compaction::Fold { fence: state.fence, span, ids: vec![row.id], summary };
        inner.chat.store().compact(scope, self.id(), &change).await?;
        inner.tell(Some(scope), &Event::Archived { session: self.id().clone(), message: row.id });
        Ok(())
    }

    /// Returns the active rows of a span, oldest first, and the session's state, of which the fence is this handle's.
    async fn active(&self, span: SeqRange) -> Result<(Vec<StoredMessage>, SessionState)> {
        let (mut rows, mut after): (Vec<StoredMessage>, Seq) = (Vec::new(), Seq(span.first.0.saturating_sub(1)));
        loop {
            let Slice { messages, state, .. } = self.read(&Page::after(after, ROWS, View::Active)).await?;
            if state.fence != self.fence().await? {
                return Err(Error::Fenced);
            }
            let is_last = messages.len() < ROWS || messages.last().is_some_and(|row| row.seq > span.last);
            after = messages.last().map_or(after, |row| row.seq);
            rows.extend(messages.into_iter().filter(|row| span.contains(row.seq)));
            if is_last {
                return Ok((rows, state));
            }
        }
    }

    /// Begins an answer of the model that grows while it streams. Nothing is stored before it is finished, and then one message.
    ///
    /// # Examples
    /// ```
    /// # async fn example(session: &memory_core::engine::Session, stream: Vec<String>) -> memory_core::Result<()> {
    /// let mut draft = session.draft();
    /// for piece in stream {
    ///     draft.push(&piece);
    /// }
    /// draft.finish().await?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn draft(&self) -> Draft {
        let at = self.scoped().memory().now();
        Draft { session: self.clone(), id: MessageId::fresh(), at, text: String::new() }
    }
}

/// An answer that grows while it streams. Dropped, it leaves nothing behind.
#[derive(Clone, Debug)]
pub struct Draft {
    session: Session,
    id: MessageId,
    at: Timestamp,
    text: String,
}

impl Draft {
    /// Adds to its text.
    pub fn push(&mut self, piece: &str) {
        self.text.push_str(piece);
    }

    /// Returns its text so far.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Stores it as one message. May be repeated after a failure: it is stored once.
    ///
    /// # Errors
    /// As [`Session::append`].
    pub async fn finish(&self) -> Result<AppendReceipt> {
        self.store(self.message()).await
    }

    /// Stores an answer that ended before all was said, such as one that reached its most tokens: as [`Draft::finish`] does, with
    /// `why` in the metadata under `stop`, so that half an answer is never taken for a whole one.
    ///
    /// # Errors
    /// As [`Session::append`].
    pub async fn finish_early(&self, why: &str) -> Result<AppendReceipt> {
        self.store(self.message().with_metadata("stop", why)).await
    }

    fn message(&self) -> Message {
        Message::new(Role::Assistant, self.text.as_str(), self.at).with_id(self.id)
    }

    async fn store(&self, message: Message) -> Result<AppendReceipt> {
        self.session.append(vec![message]).await
    }
}
