//! A conversation under test, with short methods for the scenarios.

use memory_core::store::chat::{Append, Appended, Compaction, Fence, NewMessage, Page, SessionState, View};
use memory_core::{Message, MessageId, Result, Role, Scope, Seq, SeqRange, SessionId, StoredMessage, Timestamp};

use crate::check::{Failure, Scene, equal};
use crate::{Bed, Chat};

/// The rows of the longest page: more than any scenario stores but the cancel storm.
pub(crate) const MANY: usize = 100_000;

/// When messages of scenarios are said, unless they say otherwise.
pub(crate) const NOON: Timestamp = Timestamp(1_767_268_800_000_000);

/// One session of one owner on one store.
#[derive(Clone)]
pub(crate) struct Talk {
    pub(crate) chat: Chat,
    pub(crate) scope: Scope,
    pub(crate) session: SessionId,
}

/// Returns a message of a user with as many tokens as `text` has bytes.
pub(crate) fn new(text: &str) -> NewMessage {
    sized(text, text.len() as u64)
}

/// Returns a message of a user with this many tokens.
pub(crate) fn sized(text: &str, tokens: u64) -> NewMessage {
    NewMessage::sized(Message::new(Role::User, text, NOON), tokens)
}

/// Returns a message with the id of another and other words.
pub(crate) fn contradicting(other: &NewMessage) -> NewMessage {
    let message = Message::new(Role::User, "something else altogether", NOON).with_id(other.message.id);
    NewMessage::sized(message, other.tokens)
}

/// Returns the ids of messages.
pub(crate) fn ids(messages: &[NewMessage]) -> Vec<MessageId> {
    messages.iter().map(|new| new.message.id).collect()
}

/// Returns the words of rows; a marker has none.
pub(crate) fn texts(rows: &[StoredMessage]) -> Vec<String> {
    rows.iter().map(|row| row.message.as_ref().map(|message| message.text()).unwrap_or_default()).collect()
}

/// Returns the numbers of rows.
pub(crate) fn numbers(rows: &[StoredMessage]) -> Vec<u64> {
    rows.iter().map(|row| row.seq.0).collect()
}

/// Returns a stretch of a session.
pub(crate) fn span(first: u64, last: u64) -> SeqRange {
    SeqRange { first: Seq(first), last: Seq(last) }
}

impl Talk {
    pub(crate) fn new(bed: &Bed<Chat>, subject: &str, session: &str) -> Result<Self> {
        Ok(Self { chat: bed.store.clone(), scope: bed.scope(subject)?, session: SessionId::new(session)? })
    }

    /// Returns the talk of the owner `ada` in the session `s`.
    pub(crate) fn plain(bed: &Bed<Chat>) -> Result<Self> {
        Self::new(bed, "ada", "s")
    }

    /// Returns another session of the same owner.
    pub(crate) fn beside(&self, session: &str) -> Result<Self> {
        Ok(Self { session: SessionId::new(session)?, ..self.clone() })
    }

    pub(crate) async fn append(&self, messages: &[NewMessage]) -> Result<Appended> {
        self.append_with(None, messages).await
    }

    pub(crate) async fn append_with(&self, fence: Option<Fence>, messages: &[NewMessage]) -> Result<Appended> {
        let batch = Append { fence, ..Append::new(messages.to_vec()) };
        self.chat.store().append(&self.scope, &self.session, &batch).await
    }

    /// Appends words, a message each, and returns the messages.
    pub(crate) async fn say(&self, words: &[&str]) -> Result<Vec<NewMessage>> {
        let messages: Vec<_> = words.iter().map(|text| new(text)).collect();
        self.append(&messages).await?;
        Ok(messages)
    }

    pub(crate) async fn read(&self, page: &Page) -> Result<Vec<StoredMessage>> {
        Ok(self.chat.store().read(&self.scope, &self.session, page).await?.messages)
    }

    /// Returns all rows, read page by page.
    pub(crate) async fn rows(&self, view: View) -> Result<Vec<StoredMessage>> {
        let mut rows: Vec<StoredMessage> = Vec::new();
        loop {
            let last = rows.last().map_or(Seq(0), |row| row.seq);
            let page = self.read(&Page::after(last, MANY, view)).await?;
            let is_last = page.len() < MANY;
            rows.extend(page);
            if is_last {
                return Ok(rows);
            }
        }
    }

    /// Returns the final numbers of messages that were queued. Reading everything has them sent.
    pub(crate) async fn numbered(&self, messages: &[NewMessage]) -> Result<Vec<u64>> {
        let ids = ids(messages);
        Ok(numbers(&self.rows(View::All).await?.into_iter().filter(|row| ids.contains(&row.id)).collect::<Vec<_>>()))
    }

    pub(crate) async fn window(&self) -> Result<Vec<String>> {
        Ok(texts(&self.rows(View::Active).await?))
    }

    pub(crate) async fn log(&self) -> Result<Vec<String>> {
        Ok(texts(&self.rows(View::Log).await?))
    }

    pub(crate) async fn state(&self) -> Result<SessionState> {
        Ok(self.chat.store().read(&self.scope, &self.session, &Page::newest(0)).await?.state)
    }

    pub(crate) async fn get(&self, ids: &[MessageId]) -> Result<Vec<StoredMessage>> {
        Ok(self.chat.store().get(&self.scope, ids).await?.messages)
    }

    pub(crate) async fn compact(&self, change: &Compaction) -> Result<SessionState> {
        self.chat.store().compact(&self.scope, &self.session, change).await
    }

    /// Returns the fold of what is active in the span.
    pub(crate) async fn plan(&self, first: u64, last: u64, summary: &NewMessage) -> Result<Compaction> {
        let span = span(first, last);
        let (fence, rows) = (self.state().await?.fence, self.rows(View::Active).await?);
        let ids = rows.iter().filter(|row| span.contains(row.seq)).map(|row| row.id).collect();
        Ok(Compaction::Fold { fence, span, ids, summary: summary.clone() })
    }

    /// Folds what is active in the span behind a summary of these words, and returns the summary.
    pub(crate) async fn fold(&self, first: u64, last: u64, words: &str) -> Result<NewMessage> {
        let summary = new(words);
        self.compact(&self.plan(first, last, &summary).await?).await?;
        Ok(summary)
    }

    pub(crate) async fn unfold(&self, summary: &NewMessage) -> Result<SessionState> {
        self.compact(&Compaction::Unfold { summary: summary.message.id }).await
    }

    pub(crate) async fn delete(&self) -> Result<u64> {
        self.chat.store().delete(&self.scope, &self.state().await?).await
    }

    /// Checks that the session is in order: gapless numbers, views that agree, marks that have their summary, and
    /// counters that equal a recount.
    pub(crate) async fn in_order(&self) -> Scene {
        let (state, all) = (self.state().await?, self.rows(View::All).await?);
        let log: Vec<_> = all.iter().filter(|row| row.covers.is_none()).cloned().collect();
        equal(numbers(&log), (1..=log.len() as u64).collect::<Vec<_>>())?;
        equal_rows(&self.rows(View::Log).await?, &log)?;
        let active: Vec<_> = all.iter().filter(|row| row.is_active()).cloned().collect();
        equal_rows(&self.rows(View::Active).await?, &active)?;
        let lost = all.iter().find(|row| !covered_rightly(row, &all));
        check!(lost.is_none(), "the mark of row {:?} leads to no summary that covers it", lost.map(|row| row.seq));
        equal(state.head, Seq(log.len() as u64))?;
        equal(state.active_messages, active.len() as u64)?;
        equal(state.active_tokens, active.iter().map(|row| row.tokens).sum::<u64>())
    }
}

/// Returns whether the mark of a row, if it has one, names a summary among `all` that covers it.
pub(crate) fn covered_rightly(row: &StoredMessage, all: &[StoredMessage]) -> bool {
    let Some(summary) = row.archived_by else { return true };
    let first = row.covers.map_or(row.seq, |covers| covers.first);
    let covers = |range: SeqRange| range.contains(first) && range.contains(row.seq);
    all.iter().any(|other| other.id == summary && other.covers.is_some_and(covers))
}

/// Checks that rows are the promised ones, and names the first that is not.
#[track_caller]
pub(crate) fn equal_rows(found: &[StoredMessage], promised: &[StoredMessage]) -> Scene {
    let first = found.iter().zip(promised).find(|(found, promised)| found != promised);
    if let Some((found, promised)) = first {
        return Err(Failure::new(format!("found    {found:?}\n    promised {promised:?}")));
    }
    if found.len() != promised.len() {
        return Err(Failure::new(format!("found {} rows, promised {}", found.len(), promised.len())));
    }
    Ok(())
}

/// Returns the only element, for answers that must have exactly one.
#[track_caller]
pub(crate) fn only<T: std::fmt::Debug>(list: Vec<T>) -> std::result::Result<T, Failure> {
    let found = format!("{list:?}");
    let mut list = list.into_iter();
    match (list.next(), list.next()) {
        (Some(one), None) => Ok(one),
        _ => Err(Failure::new(format!("found    {found}\n    promised exactly one"))),
    }
}
