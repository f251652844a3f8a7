//! A conversation of one owner: appending and reading.

use std::sync::Arc;

use crate::error::{Error, Result};
use crate::filter::{Field, Filter};
use crate::id::{ItemId, MessageId, Seq};
use crate::message::{Message, StoredMessage};
use crate::model::CounterId;
use crate::store::chat::{Append, Compaction, Page, Placement, SessionState, Slice, View};

use super::careful::Careful;
use super::counted::{bytes_of, counting, measure_all, recount};
use super::event::Event;
use super::handle::Session;
use super::inner::{Inner, Written};
use super::past::{Backwards, no_instructions};
use super::receipt::AppendReceipt;
use crate::window::MemoryStats;

/// How many messages [`Session::recent`] returns if no settings say.
const RECENT: u64 = 10;
/// How many rows of a window are read in one page.
const ROWS: usize = 1_000;

impl Session {
    /// Appends messages, all or none, oldest first, and returns their places and how durably they are stored.
    ///
    /// Tokens are counted here, once. Idempotent: a message whose id is stored with equal content is left as it is, so a call
    /// whose answer was lost may be repeated with the same ids. This process finds the messages by their words at once; indexes
    /// follow with the next upkeep.
    ///
    /// With a journal ([`MemoryBuilder::journal`](super::MemoryBuilder::journal)) the messages are durable in it when the call
    /// returns, and have their final numbers later: the receipt says `Queued`. What the store then refuses is set aside
    /// ([`Scoped::refused`](super::Scoped::refused)).
    ///
    /// # Errors
    /// `Invalid` for a message beyond the limits, `IdConflict` for an id that holds other content, `Fenced` if the
    /// session or its owner was erased since this handle or the owner's was first used: then open other handles.
    ///
    /// # Examples
    /// ```
    /// # async fn example(session: &memory_core::engine::Session, now: memory_core::Timestamp) -> memory_core::Result<()> {
    /// use memory_core::{Message, Role};
    ///
    /// let receipt = session.append(vec![Message::new(Role::User, "Where is my order?", now)]).await?;
    /// assert_eq!(receipt.placements.len(), 1);
    /// # Ok(())
    /// # }
    /// ```
    #[doc(alias = "put")]
    #[doc(alias = "add_message")]
    #[doc(alias = "add_to_agent")]
    #[doc(alias = "set_messages")]
    #[tracing::instrument(name = "append", level = "debug", skip_all)]
    pub async fn append(&self, messages: Vec<Message>) -> Result<AppendReceipt> {
        let inner = self.scoped().inner();
        if messages.len() > inner.limits.messages {
            return Err(Error::invalid(format!("an append holds at most {} messages", inner.limits.messages)));
        }
        let messages = measure_all(messages, &inner.limits, &inner.counter).await?;
        let tokens = sum(messages.iter().map(|new| new.tokens));
        let fence = Some(self.fence().await?);
        self.note_settings();
        let batch = Append { fence, asked: inner.asked.take(self.scoped().scope(), self.id()), messages };
        let appended = inner.chat.store().append(self.scoped().scope(), self.id(), &batch).await?;
        inner.note_if_full(self.scoped().scope(), self.id(), self.buffer(), &appended.state);
        let sizes = batch.messages.iter().map(|new| new.tokens);
        let placed = appended.placements.iter().copied().zip(sizes);
        inner.tell_growth(self.scoped().scope(), self.buffer(), &appended.state, placed);
        let written = batch.messages.iter().map(|new| (new.message.id, Some(&*new.message)));
        self.note_written(written, &appended.placements);
        // What waits in a journal is not there for upkeep yet.
        if appended.placements.iter().any(|placement| *placement != Placement::Queued) {
            inner.changed.notify_one();
        }
        Ok(AppendReceipt {
            placements: appended.placements,
            head: appended.state.head,
            tokens,
            durability: appended.durability,
            pressure: Inner::pressure(self.buffer(), &appended.state),
        })
    }

    /// Returns a page of the session, oldest first.
    ///
    /// # Examples
    /// ```
    /// # async fn example(session: &memory_core::engine::Session) -> memory_core::Result<()> {
    /// use memory_core::store::chat::Page;
    ///
    /// let newest = session.read(&Page::newest(20)).await?; // the newest 20, oldest first
    /// for row in newest.messages {
    ///     println!("{}: {}", row.seq.0, row.message.map_or_else(String::new, |message| message.text()));
    /// }
    /// # Ok(())
    /// # }
    /// ```
    #[doc(alias = "get_all")]
    #[doc(alias = "get_messages")]
    pub async fn read(&self, page: &Page) -> Result<Slice> {
        let inner = self.scoped().inner();
        if let Some(filter) = &page.filter {
            filter.check(&inner.limits)?;
        }
        inner.chat.store().read(self.scoped().scope(), self.id(), page).await
    }

    /// Returns the newest messages, oldest first: as many as
    /// [`BufferConfig::window_messages`](crate::window::BufferConfig::window_messages) says, else 10. Summaries, instructions and what was
    /// replaced are not among them.
    ///
    /// # Examples
    /// ```
    /// # async fn example(session: &memory_core::engine::Session) -> memory_core::Result<()> {
    /// for row in session.recent().await? {
    ///     println!("{}", row.message.map_or_else(String::new, |message| message.text()));
    /// }
    /// # Ok(())
    /// # }
    /// ```
    #[doc(alias = "get_recent")]
    #[doc(alias = "get_recent_messages")]
    pub async fn recent(&self) -> Result<Vec<StoredMessage>> {
        let limit = usize::try_from(self.buffer().window_messages.unwrap_or(RECENT)).unwrap_or(usize::MAX);
        // A branch says at its first number that it is one.
        let filter = Filter::Or(vec![no_instructions(), Filter::eq(Field::Seq, 1)]);
        let (mut recent, mut back) = (Vec::new(), Backwards::new());
        while recent.len() < limit
            && let Some(page) = self.older(&mut back, limit.min(ROWS), Some(&filter)).await?
        {
            let is_said = |message: &Arc<Message>| !message.role.is_instruction();
            let said = page.into_iter().rev().filter(|row| row.message.as_ref().is_some_and(is_said));
            recent.extend(said.filter(|row| !row.is_replaced()).take(limit - recent.len()));
        }
        recent.reverse();
        Ok(recent)
    }

    /// Returns the session's counters.
    pub async fn state(&self) -> Result<SessionState> {
        Ok(self.read(&Page::newest(0)).await?.state)
    }

    /// Returns the statistics of the window: its messages and summaries with their tokens, how often messages and summaries were
    /// summarised, how many messages have left it or were forgotten, and the tokens that it should stay below. What
    /// [`Session::unfold`] or forgetting undid was not summarised. Reads the window, in pages. Of a branch it counts what it holds itself.
    pub async fn stats(&self) -> Result<MemoryStats> {
        let (mut rows, mut after, mut summaries, mut archives) = (1, Seq(0), 0_u64, 0_u64);
        let mut summarised = 0_u64;
        let Slice { mut state, messages, .. } = self.read(&Page::after(Seq(0), 1, View::Log)).await?;
        let links = messages.iter().filter(|row| row.begins_branch()).count() as u64;
        // Only then does any row stand for others, be it for a single one.
        while rows > 0 && (state.active_messages != state.head.0 || state.revision != state.began()) {
            let Slice { messages, state: now, .. } = self.read(&Page::after(after, ROWS, View::Active)).await?;
            (rows, state) = (messages.len(), now);
            after = messages.last().map_or(after, |row| row.seq);
            archives += messages.iter().filter(|row| row.is_archive()).count() as u64;
            summaries += messages.iter().filter(|row| row.covers.is_some() && !row.is_archive()).count() as u64;
            summarised = summarised.saturating_add(sum(messages.iter().map(StoredMessage::summarised)));
        }
        let messages = state.active_messages.saturating_sub(summaries + archives + links);
        Ok(MemoryStats {
            total_entries: messages.saturating_add(summaries),
            total_tokens: state.active_tokens,
            summarization_count: summarised,
            eviction_count: state.head.0.saturating_sub(messages + links),
            capacity: self.buffer().limit_beside(state.asked),
        })
    }

    /// Stores rows as they were exported, with their numbers, archive marks and summaries.
    ///
    /// A token count of another counter is kept, with that counter's name. Rows counted by this memory's counter, or by an
    /// unknown one, are recounted.
    ///
    /// # Errors
    /// `Invalid` for a row beyond the limits, `Conflict` if a number is taken by another message or would leave a gap, `Fenced` as
    /// [`Session::append`].
    pub async fn restore(&self, rows: &[StoredMessage]) -> Result<AppendReceipt> {
        let inner = self.scoped().inner();
        rows.iter().try_for_each(|row| inner.limits.check_row(row))?;
        let (bytes, mut rows) = (bytes_of(rows), rows.to_vec());
        let recounted = move |counter: &Careful| {
            let own = CounterId::of(counter);
            rows.iter_mut().filter(|row| row.counter == own).for_each(|row| row.counter = CounterId::UNKNOWN);
            recount(rows.iter_mut().filter(|row| row.counter.is_unknown()), counter);
            rows
        };
        let rows = counting(bytes, &inner.counter, recounted).await?;
        let fence = Some(self.fence().await?);
        let restored = inner.chat.store().restore(self.scoped().scope(), self.id(), fence, &rows).await?;
        let placed = restored.placements.iter().copied().zip(rows.iter().map(|row| row.tokens));
        inner.tell_growth(self.scoped().scope(), self.buffer(), &restored.state, placed);
        self.note_written(rows.iter().map(|row| (row.id, row.message.as_deref())), &restored.placements);
        inner.changed.notify_one();
        Ok(AppendReceipt {
            placements: restored.placements,
            head: restored.state.head,
            tokens: sum(rows.iter().map(|row| row.tokens)),
            durability: restored.durability,
            pressure: Inner::pressure(self.buffer(), &restored.state),
        })
    }

    /// Notes the settings of this handle, by which upkeep folds. Other processes learn of a larger limit.
    fn note_settings(&self) {
        let (inner, scope) = (self.scoped().inner(), self.scoped().scope());
        inner.buffers.note(scope, self.id(), self.buffer());
        let own = self.buffer().limit.filter(|_| *self.buffer() != inner.buffers.common);
        own.into_iter().for_each(|limit| inner.asked.note(scope, self.id(), limit));
    }

    /// Notes the messages that were stored now, for searches to find before an index has them. Those stored before are left to it;
    /// those that wait are found where they do.
    fn note_written<'a>(
        &self,
        messages: impl Iterator<Item = (MessageId, Option<&'a Message>)>,
        placements: &[Placement],
    ) {
        let added = messages.zip(placements).filter(|(_, placement)| matches!(placement, Placement::Added(_)));
        let written = added.map(|((id, message), _)| {
            let bytes = message.map_or(0, |message| message.encoded_len() as u64);
            Written { item: ItemId::Message(id), session: Some(self.id().clone()), version: 0, bytes }
        });
        let written: Vec<Written> = written.collect();
        self.scoped().inner().note_written(self.scoped().scope(), &written);
    }

    /// Removes a summary, and makes the messages that it covers active again. Records derived from the summary are forgotten.
    /// May be repeated; if it is cut off and not repeated, the owner's next forget of messages or of a conversation ends that.
    ///
    /// # Errors
    /// `Conflict` if another summary has archived this one: unfold that first. `Fenced` as [`Session::append`].
    pub async fn unfold(&self, summary: MessageId) -> Result<SessionState> {
        let scoped = self.scoped();
        let is_to_go =
            |row: &StoredMessage| row.session == *self.id() && row.covers.is_some() && row.archived_by.is_none();
        let is_there = scoped.said(&[summary]).await?.iter().any(is_to_go);
        // The id may stand in a conversation that was restored under the name of one that was deleted.
        self.read_own(&Page::newest(0)).await?;
        // Without the summary, only its trace tells that records hold words of the messages.
        let traces = if is_there { scoped.trace(&[summary]).await? } else { Vec::new() };
        let change = Compaction::Unfold { summary };
        let state = match scoped.inner().chat.store().compact(scoped.scope(), self.id(), &change).await {
            Err(Error::Conflict) => {
                scoped.untrace(&traces).await?;
                return Err(Error::Conflict);
            }
            state => state?,
        };
        scoped.forget_unfolded().await?;
        let event = Event::Unfolded { session: self.id().clone(), summary };
        scoped.inner().tell(Some(scoped.scope()), &event);
        Ok(state)
    }
}

/// Adds up counts without overflow: limits may allow counts as large as their type.
fn sum(counts: impl Iterator<Item = u64>) -> u64 {
    counts.fold(0, u64::saturating_add)
}
