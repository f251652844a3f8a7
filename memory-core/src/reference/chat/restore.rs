//! Restoring exported rows: everything is checked before anything is stored.

use super::owner::{Location, Owner};
use super::session::{self, Session, index_of};
use crate::id::{MessageId, Seq, SeqRange, SessionId};
use crate::message::{Message, StoredMessage};
use crate::plan::chat::{KnownRow, Position, Restoration, Restored, Row, There};
use crate::store::chat::Placement;

impl Owner {
    /// Returns the stored rows that the restored ones touch.
    pub(super) fn look(&self, session: &SessionId, rows: &[Restored<()>]) -> There {
        let known = |id| Some((id, self.known(session, id)?));
        let ids = Restored::ids(rows).into_iter().filter_map(known).collect();
        let kept = self.session(session).map(|kept| kept.rows.as_slice()).unwrap_or_default();
        let (first, last) = Restored::span(rows);
        let message = |seq: i64| Some((seq, kept.get(index_of(Seq(seq.unsigned_abs()))?)?.id));
        let messages = (first.max(1)..=last.min(kept.len() as i64)).filter_map(message).collect();
        There { ids, messages, head: kept.len() as i64 }
    }

    fn known(&self, session: &SessionId, id: MessageId) -> Option<KnownRow> {
        let place = self.ids.get(&id)?;
        let content = self.content(id).and_then(|row| row.message.as_ref());
        let digest = content.map(|message| Message::digest(message, &place.session).0.to_vec());
        Some(KnownRow {
            is_here: place.session == *session,
            is_summary: place.position.rank > 0,
            is_forgotten: digest.is_none(),
            digest: digest.unwrap_or_default(),
        })
    }

    /// Carries out a plan that was made for the present state of this owner.
    pub(super) fn restore(
        &mut self,
        session: &SessionId,
        plan: Restoration<'_, ()>,
    ) -> (Vec<Placement>, Option<SeqRange>) {
        let Restoration { placements, messages, summaries } = plan;
        let kept = self.sessions.entry(session.clone()).or_default();
        let before = kept.head();
        for (position, row) in messages.into_iter().chain(summaries) {
            let position = kept.put(stored(session, position, row));
            self.ids.insert(row.id, Location { session: session.clone(), position });
        }
        (placements, kept.since(before))
    }
}

impl Session {
    fn put(&mut self, row: StoredMessage) -> session::Position {
        match (row.covers, &row.message) {
            (None, _) => self.push(row),
            (Some(_), Some(_)) => self.push_summary(row),
            (Some(_), None) => self.fresh_position(row.seq),
        }
    }
}

/// Returns the row as it is stored.
fn stored(session: &SessionId, position: Position, row: &Row<()>) -> StoredMessage {
    let seq = Seq(position.seq.unsigned_abs());
    StoredMessage {
        id: row.id,
        session: session.clone(),
        seq,
        tokens: row.tokens.unsigned_abs(),
        counter: row.counter,
        covers: position.first.map(|first| SeqRange { first: Seq(first.unsigned_abs()), last: seq }),
        archived_by: position.archived_by,
        message: row.content.as_ref().map(|content| content.message.clone()),
    }
}
