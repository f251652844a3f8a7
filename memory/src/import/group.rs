//! Items that are written together, all or none, and what became of each.

use std::collections::HashSet;
use std::ops::Range;

use memory_core::engine::{Scoped, Session};
use memory_core::store::chat::Placement;
use memory_core::{Error, Message, RecordId, Result, StoredMessage, StoredRecord, Trust};

use super::identity::fingerprint;
use super::messages::Messages;
use super::patience::patiently;
use super::position::Position;
use super::refusal::Refusal;
use super::tally::Tally;

/// Items to be written together, all or none.
#[derive(Debug)]
pub(super) enum Group {
    Messages(Messages),
    Rows(Session, Vec<StoredMessage>),
    Records(Scoped, Vec<StoredRecord>),
}

#[derive(Clone, Copy, Debug)]
enum ItemOutcome {
    Added,
    Already,
    Forgotten,
}

#[derive(Debug, Default)]
pub(super) struct GroupOutcome {
    /// The fingerprint of its session.
    session: Option<u64>,
    /// Messages in an instruction's role without the trust for it.
    quoted: u64,
    instructions: u64,
    outcomes: Vec<ItemOutcome>,
    rejections: Vec<(Position, Refusal)>,
    /// Messages that were stored before with another trust.
    trusted_before: u64,
}

impl GroupOutcome {
    /// Counts the instructions of what was stored.
    fn count(&mut self, group: &Group, instructions: &[bool]) {
        let count = instructions.iter().filter(|is_instruction| **is_instruction).count() as u64;
        match group {
            Group::Messages(..) => self.quoted += count,
            Group::Rows(..) => self.instructions += count,
            Group::Records(..) => {}
        }
    }

    /// Counts what became of the items.
    pub(super) fn tell(self, tally: &mut Tally) {
        if !self.outcomes.is_empty() {
            tally.sessions.extend(self.session);
        }
        for outcome in self.outcomes {
            match outcome {
                ItemOutcome::Added => tally.added += 1,
                ItemOutcome::Already => tally.already += 1,
                ItemOutcome::Forgotten => tally.forgotten += 1,
            }
        }
        tally.quoted += self.quoted;
        tally.instructions += self.instructions;
        tally.trusted_before += self.trusted_before;
        self.rejections.into_iter().for_each(|(at, why)| tally.reject(at, why));
    }
}

impl Group {
    /// Returns the fingerprint of the session that it is of.
    fn session(&self) -> Option<u64> {
        match self {
            Self::Messages(Messages { session, .. }) | Self::Rows(session, _) => Some(fingerprint(session.id().key())),
            Self::Records(..) => None,
        }
    }

    /// Returns which of its items have the role of an instruction: messages without the trust for it, and rows with it.
    fn instructions(&self) -> Vec<bool> {
        let is_quoted = |message: &Message| message.role.is_instruction() && message.trust < Trust::System;
        // What begins a branch has the role, and says nothing.
        let is_instruction = |row: &StoredMessage| {
            row.message.as_ref().is_some_and(|message| message.is_instruction()) && !row.begins_branch()
        };
        match self {
            Self::Messages(Messages { all, .. }) => all.iter().map(is_quoted).collect(),
            Self::Rows(_, all) => all.iter().map(is_instruction).collect(),
            Self::Records(..) => Vec::new(),
        }
    }

    /// Returns why the item at `index` is refused.
    fn refusal(&self, index: usize, error: &Error) -> Refusal {
        match self {
            Self::Messages(Messages { all, .. }) => {
                all.get(index).map_or_else(|| error.into(), |message| Refusal::of_message(error, message))
            }
            _ => error.into(),
        }
    }

    async fn store(&self, range: Range<usize>) -> Result<Vec<ItemOutcome>> {
        patiently(|| self.store_once(range.clone())).await
    }

    async fn store_once(&self, range: Range<usize>) -> Result<Vec<ItemOutcome>> {
        let placements = match self {
            Self::Messages(Messages { session, all, .. }) => {
                session.append(all.get(range).unwrap_or_default().to_vec()).await?.placements
            }
            Self::Rows(session, all) => session.restore(all.get(range).unwrap_or_default()).await?.placements,
            Self::Records(scoped, all) => return restore_records(scoped, all.get(range).unwrap_or_default()).await,
        };
        Ok(placements.into_iter().map(ItemOutcome::of).collect())
    }
}

impl ItemOutcome {
    fn of(placement: Placement) -> Self {
        match placement {
            Placement::Added(_) | Placement::Queued => Self::Added,
            Placement::Already(_) => Self::Already,
            Placement::Forgotten => Self::Forgotten,
        }
    }
}

/// Stores the records that are not there: an import replaces none, and brings none back.
async fn restore_records(scoped: &Scoped, rows: &[StoredRecord]) -> Result<Vec<ItemOutcome>> {
    let ids: Vec<RecordId> = rows.iter().map(|row| row.record.id).collect();
    let stored = scoped.get(&ids).await?;
    let mut stored: HashSet<RecordId> = stored.iter().map(|row| row.record.id).collect();
    match (scoped.restore_missing(rows).await, rows) {
        // What is in the way of one alone, and is not stored, is that it was forgotten.
        (Err(Error::Conflict), [_]) if stored.is_empty() => return Ok(vec![ItemOutcome::Forgotten]),
        (restored, _) => restored?,
    }
    // A record that stands in the file twice is added once.
    let outcome = |row: &StoredRecord| {
        if stored.insert(row.record.id) { ItemOutcome::Added } else { ItemOutcome::Already }
    };
    Ok(rows.iter().map(outcome).collect())
}

/// Writes the items of a group together. If they are refused, writes them one by one, so that only the bad ones are
/// left out.
pub(super) async fn write(places: Vec<Position>, mut group: Group) -> Result<GroupOutcome> {
    let instructions = group.instructions();
    let mut written = GroupOutcome { session: group.session(), ..GroupOutcome::default() };
    let mut stored = group.store(0..places.len()).await;
    // Again while another import stores the same messages: each is made like the stored one once.
    while matches!(stored, Err(Error::IdConflict { .. })) {
        let Group::Messages(messages) = &mut group else { break };
        let (kept, trusted) = messages.keep_stored().await?;
        written.trusted_before += trusted;
        if kept == 0 {
            break;
        }
        stored = group.store(0..places.len()).await;
    }
    match stored {
        Ok(outcomes) => {
            written.outcomes = outcomes;
            written.count(&group, &instructions);
            return Ok(written);
        }
        Err(error) if !is_refusal(&error) => return Err(error),
        Err(_) => {}
    }
    for (index, at) in places.into_iter().enumerate() {
        match group.store(index..index + 1).await {
            Ok(mut outcomes) => {
                written.outcomes.append(&mut outcomes);
                written.count(&group, instructions.get(index..index + 1).unwrap_or_default());
            }
            Err(error) if is_refusal(&error) => written.rejections.push((at, group.refusal(index, &error))),
            Err(error) => return Err(error),
        }
    }
    Ok(written)
}

/// Whether an error is about one item, not about the database.
fn is_refusal(error: &Error) -> bool {
    matches!(error, Error::Invalid { .. } | Error::IdConflict { .. } | Error::Conflict)
}
