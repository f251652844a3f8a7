//! Forgetting a conversation: its rows are all read before it is deleted, so that what was derived from them falls too.

use std::collections::HashSet;

use crate::engine::handle::Scoped;
use crate::error::{Error, Result};
use crate::id::{ItemId, MessageId, Seq, SessionId};
use crate::index::deleted_version;
use crate::message::StoredMessage;
use crate::store::chat::{Page, SessionState, View};
use crate::store::text::Deletion;

use super::bounds::{ATTEMPTS, BATCH};
use super::derived::{Fall, Protected};
use super::receipt::{Draft, ForgetReceipt};
use super::trace::Trace;

/// What was read of a session that is being forgotten.
struct Contents {
    /// The session when it was last looked at.
    state: SessionState,
    /// The last row that was read.
    last: Seq,
    /// All rows that were read.
    rows: HashSet<MessageId>,
    /// How many messages there were among them.
    messages: u64,
    /// The rows up to `last` that still have their text.
    whole: Vec<MessageId>,
    /// The summaries among these.
    summaries: Vec<MessageId>,
    /// The traces of the summaries that were removed.
    traces: Vec<Trace>,
}

impl Contents {
    fn of(state: SessionState) -> Self {
        let (rows, whole, summaries, traces) = (HashSet::new(), Vec::new(), Vec::new(), Vec::new());
        Self { state, last: Seq(0), rows, messages: 0, whole, summaries, traces }
    }

    /// Lets what was read be read again.
    fn begin_again(&mut self) {
        self.whole.clear();
        self.summaries.clear();
    }
}

impl Scoped {
    /// Forgets a session. Texts go first; the messages' ids, and traces of the summaries, stay until nothing derived from them is
    /// left. So if this is cut off, the same call finds the rest by the ids.
    pub(super) async fn forget_session(&self, session: &SessionId) -> Result<ForgetReceipt> {
        let mut draft = Draft::default();
        let mut fall = Fall { session: Some(session.clone()), ..Fall::default() };
        self.end_removals(Protected::Falls, &mut draft).await?;
        let mut contents = Contents::of(self.read_state(session).await?);
        self.gather(&mut contents, &mut fall).await?;
        self.fell(&mut fall).await?;
        self.delete_session(&mut contents, &mut fall).await?;
        draft.is_unsettled |= !self.settle(&mut fall).await?;
        draft.removed += contents.messages + fall.of_session;
        draft.derived += fall.derived + self.drop_notes(&fall.items).1;
        self.clear_indexes(&fall.records(), &mut draft).await;
        draft.failures.extend(self.delete_deleted(session).await?);
        self.untrace_settled(&contents.traces, &mut draft).await;
        Ok(draft.finish())
    }

    /// Deletes a session's deleted generations from every index, and returns the failures.
    async fn delete_deleted(&self, session: &SessionId) -> Result<Vec<(&'static str, Error)>> {
        let state = self.read_state(session).await?;
        let Some(through) = deleted_version(&state) else { return Ok(Vec::new()) };
        Ok(self.inner().delete_everywhere(self.scope(), &Deletion::Session(session.clone(), through)).await)
    }

    async fn read_state(&self, session: &SessionId) -> Result<SessionState> {
        Ok(self.inner().chat.store().read(self.scope(), session, &Page::newest(0)).await?.state)
    }

    /// Deletes a session once its texts and everything derived from them are gone. Messages appended meanwhile are forgotten too.
    async fn delete_session(&self, contents: &mut Contents, fall: &mut Fall) -> Result<()> {
        let chat = self.inner().chat.store();
        let mut has_looked = false;
        for _ in 0..ATTEMPTS {
            self.gather(contents, fall).await?;
            let whole = std::mem::take(&mut contents.whole);
            if whole.is_empty() && has_looked {
                match chat.delete(self.scope(), &contents.state).await {
                    Err(Error::Conflict) => continue,
                    answer => return answer.map(drop),
                }
            }
            let summaries = std::mem::take(&mut contents.summaries);
            contents.traces.extend(self.trace(&summaries).await?);
            for batch in whole.chunks(BATCH) {
                let redacted = chat.redact(self.scope(), batch).await?;
                // A fold has come in between: its summary went with the messages, so no further look shows it.
                let gone = redacted.into_iter().flat_map(|redacted| redacted.summaries);
                let gone: Vec<MessageId> = gone.filter(|summary| contents.rows.insert(*summary)).collect();
                contents.traces.extend(self.trace(&gone).await?);
                fall.items.extend(gone.into_iter().map(ItemId::Message));
            }
            self.outrun_puts().await?;
            self.settle(fall).await?;
            has_looked = true;
        }
        Err(Error::Conflict)
    }

    /// Adds to `fall` the rows of a session that `contents` does not know yet. A generation begun since is another session.
    async fn gather(&self, contents: &mut Contents, fall: &mut Fall) -> Result<()> {
        loop {
            let Contents { state, last, .. } = contents;
            let page = Page::after(*last, BATCH, View::All);
            let slice = self.inner().chat.store().read(self.scope(), &state.session, &page).await?;
            if slice.state.fence != state.fence {
                // Its rows may now stand in the new generation, under the same ids.
                contents.begin_again();
                return Ok(());
            }
            let is_changed = slice.state.revision != state.revision;
            *state = slice.state;
            if is_changed {
                // Something may have been put before `last` since it was read.
                contents.last = Seq(0);
                contents.begin_again();
                continue;
            }
            let Some(row) = slice.messages.last() else { return Ok(()) };
            contents.last = row.seq;
            for row in slice.messages {
                let is_message = row.covers.is_none() && row.message.is_some() && !row.begins_branch();
                let StoredMessage { id, message, covers, .. } = row;
                if contents.rows.insert(id) {
                    contents.messages += u64::from(is_message);
                    fall.items.push(ItemId::Message(id));
                }
                if message.is_some() {
                    contents.whole.push(id);
                    contents.summaries.extend(covers.map(|_| id));
                }
            }
        }
    }
}
