//! Restoring exported rows: everything is decided before anything is stored.

use std::collections::{BTreeSet, HashMap};

use super::{KnownRow, Position, Row, id_conflict};
use crate::error::{Error, Result};
use crate::fields::Fields;
use crate::id::{MessageId, Seq, SessionId};
use crate::message::StoredMessage;
use crate::number::stored;
use crate::store::chat::{NewMessage, Placement};

/// A row to be restored, encoded before the transaction.
#[derive(Debug)]
pub struct Restored<F> {
    position: Position,
    /// The last number that the summary claims to cover.
    last: Option<i64>,
    row: Row<F>,
}

/// The stored rows that the restored ones touch.
#[derive(Debug, Default)]
pub struct There {
    /// The rows stored under [`Restored::ids`].
    pub ids: HashMap<MessageId, KnownRow>,
    /// The ids of the messages in [`Restored::span`], by number.
    pub messages: HashMap<i64, MessageId>,
    /// The number of the newest message.
    pub head: i64,
}

/// The plan of a restore.
#[derive(Debug)]
pub struct Restoration<'a, F> {
    /// The placement of each message.
    pub placements: Vec<Placement>,
    /// The new messages, in the order of their numbers.
    pub messages: Vec<(Position, &'a Row<F>)>,
    /// The new summaries. Each stands in the layer above all others at its number.
    pub summaries: Vec<(Position, &'a Row<F>)>,
}

impl<F: Default> Restored<F> {
    /// Encodes a row of `session`, whatever session it names.
    ///
    /// # Errors
    /// `Invalid` if the row has another id than its message, or a number is too large to be stored.
    pub fn encode(session: &SessionId, row: &StoredMessage, facets: impl Fn(&Fields) -> F) -> Result<Self> {
        let StoredMessage { id, session: _, seq, tokens, counter, covers, archived_by, message } = row;
        let row = match message {
            Some(message) => {
                let (message, tokens, counter) = (message.clone(), *tokens, *counter);
                Row::encode(session, &NewMessage { message, tokens, counter }, facets)?
            }
            None => Row::marker(*id),
        };
        if row.id != *id {
            return Err(Error::invalid("a row has another id than its message"));
        }
        let first = covers.map(|covers| stored(covers.first.0)).transpose()?;
        let last = covers.map(|covers| stored(covers.last.0)).transpose()?;
        let position = Position { seq: stored(seq.0)?, layer: 0, first, archived_by: *archived_by };
        Ok(Self { position, last, row })
    }
}

impl<F> Restored<F> {
    /// Returns the ids that the plan needs to look up: those of the rows, and those in archive marks.
    pub fn ids(rows: &[Self]) -> Vec<MessageId> {
        let marks: BTreeSet<MessageId> = rows.iter().filter_map(|row| row.position.archived_by).collect();
        rows.iter().map(|row| row.row.id).chain(marks).collect()
    }

    /// Returns the first and the last number between which the plan needs the stored messages.
    pub fn span(rows: &[Self]) -> (i64, i64) {
        let numbers = rows.iter().filter(|row| row.last.is_none()).map(|row| row.position.seq);
        (numbers.clone().min().unwrap_or(0), numbers.max().unwrap_or(0))
    }
}

impl<'a, F> Restoration<'a, F> {
    /// Returns the plan of restoring the rows.
    ///
    /// # Errors
    /// `Conflict` for a number that is neither the next one nor holds the same message, `IdConflict` for other content under an
    /// id that is taken, `Invalid` for a summary that does not stand at the last number it covers.
    pub fn plan(there: &There, rows: &'a [Restored<F>]) -> Result<Self> {
        let mut planner =
            Planner { there, placements: vec![], messages: vec![], summaries: vec![], ids: HashMap::new() };
        for row in rows {
            match row.last {
                Some(last) => planner.summary(row, last)?,
                None => {
                    let placement = planner.message(row)?;
                    planner.placements.push(placement);
                }
            }
        }
        // A forgotten summary archives no rows any more.
        let is_forgotten = |summary: &MessageId| there.ids.get(summary).is_some_and(|known| known.is_forgotten);
        let standing = |Restored { position, row, last: _ }: &'a Restored<F>| {
            let archived_by = position.archived_by.filter(|summary| !is_forgotten(summary));
            (Position { archived_by, ..*position }, row)
        };
        Ok(Self {
            placements: planner.placements,
            messages: planner.messages.into_iter().map(standing).collect(),
            summaries: planner.summaries.into_iter().map(standing).collect(),
        })
    }
}

struct Planner<'t, 'a, F> {
    there: &'t There,
    placements: Vec<Placement>,
    messages: Vec<&'a Restored<F>>,
    summaries: Vec<&'a Restored<F>>,
    /// The rows of both lists, by id.
    ids: HashMap<MessageId, &'a Restored<F>>,
}

impl<'a, F> Planner<'_, 'a, F> {
    /// Returns the number that the next message will have.
    fn next(&self) -> i64 {
        self.there.head.saturating_add(1).saturating_add(self.messages.len() as i64)
    }

    fn message(&mut self, restored: &'a Restored<F>) -> Result<Placement> {
        let (id, seq, next) = (restored.row.id, restored.position.seq, self.next());
        let at = Seq(seq.unsigned_abs());
        if seq < 1 || seq > next {
            return Err(Error::Conflict);
        }
        if seq == next {
            if self.there.ids.contains_key(&id) || self.ids.contains_key(&id) {
                return Err(id_conflict(id));
            }
            self.messages.push(restored);
            self.ids.insert(id, restored);
            return Ok(Placement::Added(at));
        }
        if let Some(stands) = self.there.messages.get(&seq) {
            let known = self.there.ids.get(&id).filter(|_| *stands == id).ok_or(Error::Conflict)?;
            return known.meet(&restored.row, at);
        }
        let planned = self.ids.get(&id).filter(|planned| planned.last.is_none() && planned.position.seq == seq);
        planned.ok_or(Error::Conflict)?.known().meet(&restored.row, at)
    }

    fn summary(&mut self, restored: &'a Restored<F>, last: i64) -> Result<()> {
        let (row, seq) = (&restored.row, restored.position.seq);
        if last != seq || restored.position.first.is_none_or(|first| first > last) {
            return Err(Error::invalid("a summary stands at the last number it covers"));
        }
        if seq >= self.next() {
            return Err(Error::Conflict);
        }
        let is_same = |digest: &[u8]| row.content.is_none() || digest == row.digest;
        if let Some(known) = self.there.ids.get(&row.id) {
            let is_sound = known.is_summary && known.is_here && is_same(&known.digest);
            return if known.is_forgotten || is_sound { Ok(()) } else { Err(id_conflict(row.id)) };
        }
        if let Some(planned) = self.ids.get(&row.id) {
            let is_sound = planned.last.is_some() && is_same(&planned.row.digest);
            return if is_sound { Ok(()) } else { Err(id_conflict(row.id)) };
        }
        self.summaries.push(restored);
        self.ids.insert(row.id, restored);
        Ok(())
    }
}

impl<F> Restored<F> {
    /// Returns the row that will be stored under its id.
    fn known(&self) -> KnownRow {
        KnownRow {
            is_here: true,
            is_summary: self.last.is_some(),
            is_forgotten: self.row.content.is_none(),
            digest: self.row.digest.clone(),
        }
    }
}
