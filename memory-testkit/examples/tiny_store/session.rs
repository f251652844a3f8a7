//! One session: a list in the order of `View::All`, searched from end to end.

use memory_core::store::chat::{Edge, Fence, NewMessage, Page, SessionState, View};
use memory_core::{
    CounterId, Epoch, Error, Fields, MessageId, Result, Seq, SeqRange, SessionId, StoredMessage, Timestamp,
};

#[derive(Clone, Debug, Default)]
pub(crate) struct Session {
    pub(crate) generation: u64,
    pub(crate) revision: u64,
    pub(crate) asked: u64,
    pub(crate) last_at: Timestamp,
    pub(crate) rows: Vec<StoredMessage>,
}

impl Session {
    pub(crate) fn head(&self) -> Seq {
        self.rows.last().map(|row| row.seq).unwrap_or_default()
    }

    pub(crate) fn state(&self, session: &SessionId, epoch: Epoch) -> SessionState {
        let active = || self.rows.iter().filter(|row| row.is_active());
        SessionState {
            session: session.clone(),
            fence: Fence { epoch, generation: self.generation },
            revision: self.revision,
            head: self.head(),
            active_messages: active().count() as u64,
            active_tokens: active().map(|row| row.tokens).fold(0, u64::saturating_add),
            asked: self.asked,
            last_at: self.last_at,
        }
    }

    /// Puts a row behind all rows that stand at its number or before it.
    pub(crate) fn insert(&mut self, row: StoredMessage) {
        if let (None, Some(message)) = (row.covers, &row.message) {
            self.last_at = self.last_at.max(message.at);
        }
        let place = self.rows.partition_point(|other| other.seq <= row.seq);
        self.rows.insert(place, row);
    }

    pub(crate) fn page(&self, page: &Page) -> Vec<StoredMessage> {
        let Page { edge, limit, tokens, view, filter } = page;
        let newest = self.rows.iter().rfind(|row| row.is_active() && row.covers.is_some()).map(|row| row.id);
        let is_instruction = |row: &StoredMessage| {
            row.covers.is_none() && row.message.as_ref().is_some_and(|message| message.role.is_instruction())
        };
        let is_wanted = |row: &&StoredMessage| {
            let is_shown = match view {
                View::Active => row.is_active(),
                View::Pinned => row.is_active() && (is_instruction(row) || newest == Some(row.id)),
                View::Log => row.covers.is_none(),
                View::All => true,
            };
            let is_inside = match *edge {
                Edge::Newest => true,
                Edge::Before(seq) => row.seq < seq,
                Edge::After(seq) => row.seq > seq,
            };
            let matches = filter.as_ref().is_none_or(|filter| {
                row.message.as_ref().is_some_and(|message| filter.matches(&Fields::of_message(row, message)))
            });
            is_shown && is_inside && matches
        };
        let rows: Vec<StoredMessage> = self.rows.iter().filter(is_wanted).cloned().collect();
        let (mut count, mut sum) = (0, 0);
        let mut is_full = |group: &&[StoredMessage]| {
            let is_open = count < *limit && tokens.is_none_or(|tokens| sum <= tokens);
            count += group.len();
            sum = group.iter().map(|row| row.tokens).fold(sum, u64::saturating_add);
            is_open
        };
        // Rows that stand at one number are taken together.
        let groups = rows.chunk_by(|one, next| one.seq == next.seq);
        if matches!(edge, Edge::After(_)) {
            return groups.take_while(&mut is_full).flatten().cloned().collect();
        }
        let mut taken: Vec<_> = groups.rev().take_while(&mut is_full).collect();
        taken.reverse();
        taken.concat()
    }

    pub(crate) fn fold(
        &mut self,
        session: &SessionId,
        span: SeqRange,
        ids: &[MessageId],
        new: &NewMessage,
    ) -> Result<()> {
        let begin = |row: &StoredMessage| row.covers.map_or(row.seq, |covers| covers.first);
        let is_cut = |row: &&StoredMessage| begin(row) <= span.last && row.seq >= span.first;
        let touched: Vec<_> = self.rows.iter().filter(|row| row.is_active()).filter(is_cut).collect();
        let is_whole = touched.iter().all(|row| begin(row) >= span.first && row.seq <= span.last);
        let is_inside = span.first > Seq(0) && span.last <= self.head();
        let is_same = touched.iter().map(|row| row.id).eq(ids.iter().copied());
        if ids.is_empty() || !(is_whole && is_inside && is_same) {
            return Err(Error::Conflict);
        }
        let id = new.message.id;
        let inside = |row: &&mut StoredMessage| row.is_active() && span.contains(row.seq);
        self.rows.iter_mut().filter(inside).for_each(|row| row.archived_by = Some(id));
        self.revision += 1;
        let (session, message) = (session.clone(), Some(new.message.clone()));
        let row = StoredMessage {
            id,
            session,
            seq: span.last,
            tokens: new.tokens,
            counter: new.counter,
            covers: Some(span),
            archived_by: None,
            message,
        };
        self.insert(row);
        Ok(())
    }

    /// Removes a summary and makes what it covered active again.
    pub(crate) fn unfold(&mut self, summary: MessageId) {
        self.revision += 1;
        // A restored mark may name a message, which stands for nothing.
        self.rows.retain(|row| row.id != summary || row.covers.is_none());
        let covered = self.rows.iter_mut().filter(|row| row.archived_by == Some(summary));
        covered.for_each(|row| row.archived_by = None);
    }

    /// Returns the row with this id that stands at this number.
    pub(crate) fn row(&self, id: MessageId, seq: Seq) -> Option<&StoredMessage> {
        let place = self.rows.partition_point(|row| row.seq < seq);
        self.rows.iter().skip(place).find(|row| row.id == id)
    }

    /// Forgets a message or removes a summary; returns the summaries that fell with it.
    pub(crate) fn redact(&mut self, row: &StoredMessage) -> Vec<MessageId> {
        let mut covering = Vec::new();
        let mut next = row.archived_by;
        while let Some(summary) = next {
            covering.push(summary);
            next = self.rows.iter().find(|row| row.id == summary).and_then(|row| row.archived_by);
        }
        // The outermost first: then each is active when it is removed.
        covering.iter().rev().for_each(|summary| self.unfold(*summary));
        if row.covers.is_some() {
            self.unfold(row.id);
        }
        let place = self.rows.partition_point(|other| other.seq < row.seq);
        if let Some(row) = self.rows.iter_mut().skip(place).find(|other| other.id == row.id) {
            (row.message, row.tokens, row.counter) = (None, 0, CounterId::UNKNOWN);
        }
        self.revision += 1;
        covering
    }
}
