//! Rows stored as they are: everything is checked before anything is stored.

use std::collections::HashMap;
use std::sync::Arc;

use super::owner::{Owner, Place, id_conflict, is_same};
use super::session::{Session, index_of};
use crate::chat::Placement;
use crate::error::{Error, Result};
use crate::id::{MessageId, Seq, SeqRange, SessionId};
use crate::message::{Message, StoredMessage};
use crate::model::CounterId;

/// What a restore will do.
#[derive(Debug)]
pub(super) struct Plan<'a> {
    placements: Vec<Placement>,
    messages: Vec<&'a StoredMessage>,
    summaries: Vec<&'a StoredMessage>,
    /// The ids of the two lists.
    ids: HashMap<MessageId, &'a StoredMessage>,
}

impl Owner {
    /// Returns what restoring `rows` will do, or why it cannot.
    pub(super) fn plan_restore<'a>(&self, session: &SessionId, rows: &'a [StoredMessage]) -> Result<Plan<'a>> {
        let none = Session::default();
        let kept = self.session(session).unwrap_or(&none);
        let mut plan = Plan { placements: vec![], messages: vec![], summaries: vec![], ids: HashMap::new() };
        for row in rows {
            if row.covers.is_some() {
                self.plan_summary(kept, &mut plan, session, row)?;
                continue;
            }
            let placement = self.plan_message(kept, &mut plan, session, row)?;
            plan.placements.push(placement);
        }
        Ok(plan)
    }

    fn plan_message<'a>(
        &self,
        kept: &Session,
        plan: &mut Plan<'a>,
        session: &SessionId,
        row: &'a StoredMessage,
    ) -> Result<Placement> {
        let head = kept.rows.len() + plan.messages.len();
        let index = index_of(row.seq).filter(|index| *index <= head).ok_or(Error::Conflict)?;
        if index == head {
            if self.ids.contains_key(&row.id) || plan.ids.contains_key(&row.id) {
                return Err(id_conflict(row.id));
            }
            plan.messages.push(row);
            plan.ids.insert(row.id, row);
            return Ok(Placement::Added(row.seq));
        }
        let there = kept.rows.get(index).or_else(|| plan.messages.get(index - kept.rows.len()).copied());
        let there = there.filter(|there| there.id == row.id).ok_or(Error::Conflict)?;
        match &row.message {
            Some(_) if there.message.is_none() => Ok(Placement::Forgotten),
            Some(message) if !is_same_here(there, session, message) => Err(id_conflict(row.id)),
            _ => Ok(Placement::Already(row.seq)),
        }
    }

    fn plan_summary<'a>(
        &self,
        kept: &Session,
        plan: &mut Plan<'a>,
        session: &SessionId,
        row: &'a StoredMessage,
    ) -> Result<()> {
        let head = Seq((kept.rows.len() + plan.messages.len()) as u64);
        let is_sound = row.covers.is_some_and(|covers| covers.first <= covers.last && covers.last == row.seq);
        if !is_sound {
            return Err(Error::invalid("a summary stands at the last number it covers"));
        }
        if row.seq > head {
            return Err(Error::Conflict);
        }
        if self.is_forgotten(row.id) {
            return Ok(());
        }
        let Some(there) = self.content(row.id).or_else(|| plan.ids.get(&row.id).copied()) else {
            plan.summaries.push(row);
            plan.ids.insert(row.id, row);
            return Ok(());
        };
        let is_foreign = self.content(row.id).is_some_and(|there| there.session != *session);
        let is_same = row.message.as_ref().is_none_or(|message| is_same_here(there, session, message));
        if there.covers.is_some() && !is_foreign && is_same { Ok(()) } else { Err(id_conflict(row.id)) }
    }

    /// Carries out a plan made for this owner as it is.
    pub(super) fn restore(&mut self, session: &SessionId, plan: Plan<'_>) -> (Vec<Placement>, Option<SeqRange>) {
        let Plan { placements, messages, summaries, ids: _ } = plan;
        let mut rows = Vec::with_capacity(messages.len() + summaries.len());
        for row in messages.into_iter().chain(summaries) {
            let mut row = StoredMessage { session: session.clone(), ..row.clone() };
            row.archived_by = row.archived_by.filter(|summary| !self.is_forgotten(*summary));
            if row.message.is_none() {
                (row.tokens, row.counter) = (0, CounterId::UNKNOWN);
            }
            rows.push(row);
        }
        let kept = self.sessions.entry(session.clone()).or_default();
        let before = kept.head();
        for row in rows {
            let id = row.id;
            let position = match (row.covers, &row.message) {
                (None, _) => kept.push(row),
                (Some(_), Some(_)) => kept.push_summary(row),
                (Some(_), None) => kept.fresh_position(row.seq),
            };
            self.ids.insert(id, Place { session: session.clone(), position });
        }
        (placements, kept.since(before))
    }
}

/// Returns whether `there` holds this content, whatever session an export named.
fn is_same_here(there: &StoredMessage, session: &SessionId, message: &Arc<Message>) -> bool {
    is_same(&StoredMessage { session: session.clone(), ..there.clone() }, session, message)
}
