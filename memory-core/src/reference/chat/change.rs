//! Changes of stored messages: folding, unfolding, forgetting.

use super::owner::{Location, Owner, is_same};
use super::session::{Position, Session};
use crate::error::{Error, Result};
use crate::id::{MessageId, Seq, SeqRange, SessionId};
use crate::message::StoredMessage;
use crate::model::CounterId;
use crate::plan::chat::id_conflict;
use crate::store::chat::{NewMessage, Redacted};

impl Owner {
    /// Archives the active rows of a span behind a summary.
    pub(super) fn fold(
        &mut self,
        session: &SessionId,
        span: SeqRange,
        ids: &[MessageId],
        summary: &NewMessage,
    ) -> Result<()> {
        let id = summary.message.id;
        if self.ids.contains_key(&id) {
            let is_repeat = |row: &StoredMessage| row.covers.is_some() && is_same(row, session, &summary.message);
            return if self.content(id).is_some_and(is_repeat) { Ok(()) } else { Err(id_conflict(id)) };
        }
        let kept = self.sessions.get_mut(session).ok_or(Error::Conflict)?;
        let position = kept.fold(session, span, ids, summary)?;
        self.ids.insert(id, Location { session: session.clone(), position });
        Ok(())
    }

    /// Removes a summary and makes what it covered active again.
    pub(super) fn unfold(&mut self, session: &SessionId, summary: MessageId) -> Result<()> {
        let Some(place) = self.ids.get(&summary).filter(|place| place.session == *session) else { return Ok(()) };
        let Some(kept) = self.sessions.get_mut(session) else { return Ok(()) };
        let Some(row) = kept.summaries.get(&place.position) else { return Ok(()) };
        if row.archived_by.is_some() {
            return Err(Error::Conflict);
        }
        kept.remove(place.position);
        kept.bring_back(summary);
        kept.revision += 1;
        self.ids.remove(&summary);
        Ok(())
    }

    /// Forgets a message or summary; returns what was touched and whether it was a message.
    pub(super) fn redact(&mut self, id: MessageId) -> Option<(Redacted, bool)> {
        let row = self.content(id)?;
        let (session, seq, is_message) = (row.session.clone(), row.seq, row.covers.is_none());
        let summaries = self.covering(&session, row.archived_by);
        let position = self.ids.get(&id)?.position;
        let kept = self.sessions.get_mut(&session)?;
        for summary in &summaries {
            // A restore may not have brought the summary yet. Its id is taken, so that it never comes.
            let fresh = || Location { session: session.clone(), position: kept.fresh_position(seq) };
            let place = self.ids.entry(*summary).or_insert_with(fresh);
            // A restored mark may name what covers nothing here: a summary of another session, or a message.
            if place.session == session && place.position.rank > 0 {
                kept.remove(place.position);
            }
            kept.bring_back(*summary);
        }
        if is_message {
            kept.blank(position);
        } else {
            kept.remove(position);
            kept.bring_back(id);
        }
        kept.revision += 1;
        Some((Redacted { id, session, seq, summaries }, is_message))
    }

    /// Returns the summary `by`, the one that covers it, and so on, as far as they stand in `session`.
    fn covering(&self, session: &SessionId, by: Option<MessageId>) -> Vec<MessageId> {
        let mut chain = Vec::new();
        let mut next = by;
        // Restored marks may point in a circle.
        while let Some(summary) = next.filter(|summary| !chain.contains(summary)) {
            chain.push(summary);
            next = self.content(summary).filter(|row| row.session == *session).and_then(|row| row.archived_by);
        }
        chain
    }
}

impl Session {
    fn fold(
        &mut self,
        session: &SessionId,
        span: SeqRange,
        ids: &[MessageId],
        summary: &NewMessage,
    ) -> Result<Position> {
        let folded = self.whole_rows_in(span).ok_or(Error::Conflict)?;
        let found = folded.iter().filter_map(|position| self.get(*position)).map(|row| row.id);
        if folded.is_empty() || !found.eq(ids.iter().copied()) {
            return Err(Error::Conflict);
        }
        let id = summary.message.id;
        for position in &folded {
            self.leave(*position);
            if let Some(row) = self.get_mut(*position) {
                row.archived_by = Some(id);
            }
        }
        self.originals.insert(id, folded);
        self.revision += 1;
        Ok(self.push_summary(StoredMessage { covers: Some(span), ..summary.row(session, span.last) }))
    }

    /// Returns the active rows that stand in `span`; none if it leaves the session or cuts an active summary.
    fn whole_rows_in(&self, span: SeqRange) -> Option<Vec<Position>> {
        let SeqRange { first, last } = span;
        if first == Seq(0) || first > last || last > self.head() {
            return None;
        }
        let inside = Position::of_message(first)..=Position::end_of(last);
        let is_cut = |(position, row): (&Position, &StoredMessage)| {
            let begins = row.covers.map_or(row.seq, |covers| covers.first);
            row.is_active() && if position.seq > last { begins <= last } else { begins < first }
        };
        if self.summaries.range(*inside.start()..).any(is_cut) {
            return None;
        }
        Some(self.active.range(inside).copied().collect())
    }

    /// Removes a summary.
    fn remove(&mut self, position: Position) {
        self.leave(position);
        self.summaries.remove(&position);
    }

    /// Puts the rows that a summary covers into the window again.
    fn bring_back(&mut self, summary: MessageId) {
        for original in self.originals.remove(&summary).unwrap_or_default() {
            if let Some(row) = self.get_mut(original) {
                row.archived_by = None;
            }
            self.enter(original);
        }
    }

    /// Leaves an empty marker in place of a message.
    fn blank(&mut self, position: Position) {
        self.leave(position);
        if let Some(row) = self.get_mut(position) {
            (row.message, row.tokens, row.counter) = (None, 0, CounterId::UNKNOWN);
        }
    }
}
