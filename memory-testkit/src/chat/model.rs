//! The plainest way to keep a conversation: a list, searched from end to end. What stores are compared with.

use memory_core::store::chat::{Edge, NewMessage, Page, View};
use memory_core::{CounterId, Fields, MessageId, Seq, SeqRange, SessionId, StoredMessage, Timestamp};

/// A session as the contract describes it.
#[derive(Clone, Debug)]
pub(crate) struct Model {
    session: SessionId,
    /// In the order of `View::All`.
    rows: Vec<StoredMessage>,
    last_at: Timestamp,
}

impl Model {
    pub(crate) fn new(session: &SessionId) -> Self {
        Self { session: session.clone(), rows: Vec::new(), last_at: Timestamp(0) }
    }

    /// Returns the rows that a view shows, oldest first.
    pub(crate) fn rows(&self, view: View) -> Vec<StoredMessage> {
        let newest = self.rows.iter().rfind(|row| row.is_active() && row.covers.is_some()).map(|row| row.id);
        let is_shown = |row: &&StoredMessage| match view {
            View::Active => row.is_active(),
            View::Pinned => row.is_active() && (is_instruction(row) || newest == Some(row.id)),
            View::Log => row.covers.is_none(),
            View::All => true,
        };
        self.rows.iter().filter(is_shown).cloned().collect()
    }

    /// Returns head, active messages, active tokens and latest time.
    pub(crate) fn counters(&self) -> (Seq, u64, u64, Timestamp) {
        let active = self.rows(View::Active);
        let tokens = active.iter().map(|row| row.tokens).sum();
        (self.head(), active.len() as u64, tokens, self.last_at)
    }

    pub(crate) fn head(&self) -> Seq {
        Seq(self.rows(View::Log).len() as u64)
    }

    /// Takes the session as moved to another place: what was forgotten has left no time behind.
    pub(crate) fn moved(&mut self) {
        let messages = self.rows.iter().filter(|row| row.covers.is_none()).filter_map(|row| row.message.as_ref());
        self.last_at = messages.map(|message| message.at).max().unwrap_or_default();
    }

    pub(crate) fn append(&mut self, new: &NewMessage) {
        let row = self.row(new, Seq(self.head().0 + 1), None);
        self.last_at = self.last_at.max(new.message.at);
        self.rows.push(row);
    }

    pub(crate) fn fold(&mut self, span: SeqRange, summary: &NewMessage) {
        let id = summary.message.id;
        for row in self.rows.iter_mut().filter(|row| row.is_active() && span.contains(row.seq)) {
            row.archived_by = Some(id);
        }
        let place = self.rows.iter().take_while(|row| row.seq <= span.last).count();
        let row = self.row(summary, span.last, Some(span));
        self.rows.insert(place, row);
    }

    /// Removes a summary and makes what it covered active again.
    pub(crate) fn unfold(&mut self, summary: MessageId) {
        self.rows.retain(|row| row.id != summary);
        for row in self.rows.iter_mut().filter(|row| row.archived_by == Some(summary)) {
            row.archived_by = None;
        }
    }

    /// Forgets a message or a summary; returns whether it was there.
    pub(crate) fn redact(&mut self, id: MessageId) -> bool {
        let Some(row) = self.rows.iter().find(|row| row.id == id && row.message.is_some()).cloned() else {
            return false;
        };
        if let Some(summary) = row.archived_by {
            self.redact(summary);
        }
        if row.covers.is_some() {
            self.unfold(id);
        }
        for row in self.rows.iter_mut().filter(|row| row.id == id) {
            (row.message, row.tokens, row.archived_by) = (None, 0, None);
            row.counter = CounterId::UNKNOWN;
        }
        true
    }

    /// Returns the page, row by row.
    pub(crate) fn page(&self, page: &Page) -> Vec<StoredMessage> {
        let Page { edge, limit, tokens, view, filter } = page;
        let mut rows = self.rows(*view);
        if let Some(filter) = filter {
            let matches = |row: &StoredMessage| {
                row.message.as_ref().is_some_and(|message| filter.matches(&Fields::of_message(row, message)))
            };
            rows.retain(matches);
        }
        let is_forwards = matches!(edge, Edge::After(_));
        match *edge {
            Edge::Newest => {}
            Edge::Before(seq) => rows.retain(|row| row.seq < seq),
            Edge::After(seq) => rows.retain(|row| row.seq > seq),
        }
        let mut groups: Vec<&[StoredMessage]> = rows.chunk_by(|one, next| one.seq == next.seq).collect();
        if !is_forwards {
            groups.reverse();
        }
        let (mut taken, mut count, mut sum) = (Vec::new(), 0, 0);
        for group in groups {
            if count >= *limit || tokens.is_some_and(|tokens| sum > tokens) {
                break;
            }
            count += group.len();
            sum += group.iter().map(|row| row.tokens).sum::<u64>();
            taken.push(group);
        }
        if !is_forwards {
            taken.reverse();
        }
        taken.concat()
    }

    fn row(&self, new: &NewMessage, seq: Seq, covers: Option<SeqRange>) -> StoredMessage {
        StoredMessage {
            id: new.message.id,
            session: self.session.clone(),
            seq,
            tokens: new.tokens,
            counter: new.counter,
            covers,
            archived_by: None,
            message: Some(new.message.clone()),
        }
    }
}

/// Returns whether a row is an instruction, which no summary is.
fn is_instruction(row: &StoredMessage) -> bool {
    row.covers.is_none() && row.message.as_ref().is_some_and(|message| message.role.is_instruction())
}
