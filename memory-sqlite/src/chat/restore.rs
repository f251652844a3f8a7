//! Rows stored as they are: everything is checked before anything is stored.

use std::collections::{BTreeSet, HashMap};

use memory_core::chat::{Appended, NewMessage, Placement};
use memory_core::error::{Error, Result};
use memory_core::id::{MessageId, Seq, SessionId};
use memory_core::message::StoredMessage;
use memory_core::scope::Scope;
use sqlx::{Row, SqliteConnection};

use super::append::{Known, id_conflict, known};
use super::compact::next_layer;
use super::encode::{Encoded, Position, insert, insert_values};
use super::session::{self, Session, recount};
use crate::client::Sqlite;
use crate::error::Doing;
use crate::notes::{Mark, mark};
use crate::number::{loaded, stored};
use crate::owner::{self, Owner, Truth};
use crate::row::uuid;

const RESTORE: &str = "restore messages";

/// A row, encoded before the writer's turn.
struct Restored {
    position: Position,
    /// The last number that a summary says it covers.
    last: Option<i64>,
    encoded: Encoded,
}

/// What is there already, as far as the rows touch it.
struct There {
    /// By id, those of archive marks included.
    ids: HashMap<MessageId, Known>,
    /// The ids of messages by number.
    messages: HashMap<i64, MessageId>,
    session: Session,
}

/// What a restore will do.
#[derive(Default)]
struct Plan<'a> {
    placements: Vec<Placement>,
    messages: Vec<&'a Restored>,
    summaries: Vec<&'a Restored>,
    /// The ids of the two lists.
    ids: HashMap<MessageId, &'a Restored>,
}

/// Restores rows of a session.
pub(super) async fn restore(
    file: &Sqlite,
    scope: &Scope,
    session: &SessionId,
    rows: &[StoredMessage],
) -> Result<Appended> {
    let rows = rows.iter().map(|row| encode(session, row)).collect::<Result<Vec<_>>>()?;
    let (scope, session, durability) = (scope.clone(), session.clone(), file.durability());
    let work = file.write(RESTORE, move |connection| {
        Box::pin(async move {
            let found = session::find(connection, &scope, &session, RESTORE).await?;
            let (kept, epoch) = (found.session, found.epoch());
            if rows.is_empty() {
                return Ok(Appended { placements: Vec::new(), state: kept.state(&session, epoch)?, durability });
            }
            let owner = match found.owner {
                Some(owner) => owner,
                None => owner::create(connection, Truth::Chat, &scope, 0, RESTORE).await?,
            };
            let kept = match kept.id {
                0 => session::create(connection, owner, &session, RESTORE).await?,
                _ => kept,
            };
            let mut there = look(connection, owner, kept, &rows).await?;
            let plan = plan(&there, &rows)?;
            store(connection, owner, &mut there, &plan).await?;
            Ok(Appended { placements: plan.placements, state: there.session.state(&session, epoch)?, durability })
        })
    });
    work.await
}

fn encode(session: &SessionId, row: &StoredMessage) -> Result<Restored> {
    let StoredMessage { id, session: _, seq, tokens, counter, covers, archived_by, message } = row;
    let encoded = match message {
        Some(message) => {
            let (message, tokens, counter) = (message.clone(), *tokens, *counter);
            Encoded::new(session, &NewMessage { message, tokens, counter })?
        }
        None => Encoded::marker(*id),
    };
    if encoded.id != *id {
        return Err(Error::invalid("a row has another id than its message"));
    }
    let first = covers.map(|covers| stored(covers.first.0)).transpose()?;
    let last = covers.map(|covers| stored(covers.last.0)).transpose()?;
    let position = Position { seq: stored(seq.0)?, layer: 0, first, archived_by: *archived_by };
    Ok(Restored { position, last, encoded })
}

async fn look(connection: &mut SqliteConnection, owner: Owner, session: Session, rows: &[Restored]) -> Result<There> {
    let marks: BTreeSet<MessageId> = rows.iter().filter_map(|row| row.position.archived_by).collect();
    let ids: Vec<MessageId> = rows.iter().map(|row| row.encoded.id).chain(marks).collect();
    let ids = known(connection, owner, ids.iter(), RESTORE).await?;
    let numbers = rows.iter().filter(|row| row.last.is_none()).map(|row| row.position.seq);
    let (first, last) = (numbers.clone().min().unwrap_or(0), numbers.max().unwrap_or(0));
    let sql = "SELECT seq, id FROM message WHERE owner = ? AND session = ? AND seq BETWEEN ? AND ? AND layer = 0";
    let found = sqlx::query(sql).bind(owner.id).bind(session.id).bind(first).bind(last);
    let mut messages = HashMap::new();
    for row in found.fetch_all(connection).await.doing(RESTORE)? {
        let id = MessageId(uuid(row.try_get(1).doing(RESTORE)?)?);
        messages.insert(row.try_get(0).doing(RESTORE)?, id);
    }
    Ok(There { ids, messages, session })
}

fn plan<'a>(there: &There, rows: &'a [Restored]) -> Result<Plan<'a>> {
    let mut plan = Plan::default();
    for row in rows {
        // The number that the next message will have.
        let next = there.session.head.saturating_add(1).saturating_add(plan.messages.len() as i64);
        match row.last {
            Some(last) => plan_summary(there, &mut plan, row, last, next)?,
            None => {
                let placement = plan_message(there, &mut plan, row, next)?;
                plan.placements.push(placement);
            }
        }
    }
    Ok(plan)
}

fn plan_message<'a>(there: &There, plan: &mut Plan<'a>, row: &'a Restored, next: i64) -> Result<Placement> {
    let (id, seq) = (row.encoded.id, row.position.seq);
    let at = Seq(loaded(seq)?);
    if seq < 1 || seq > next {
        return Err(Error::Conflict);
    }
    if seq == next {
        if there.ids.contains_key(&id) || plan.ids.contains_key(&id) {
            return Err(id_conflict(id));
        }
        plan.messages.push(row);
        plan.ids.insert(id, row);
        return Ok(Placement::Added(at));
    }
    if let Some(stands) = there.messages.get(&seq) {
        let known = there.ids.get(&id).filter(|_| *stands == id).ok_or(Error::Conflict)?;
        return match &row.encoded.content {
            Some(_) if known.is_forgotten => Ok(Placement::Forgotten),
            Some(_) if known.digest != row.encoded.digest => Err(id_conflict(id)),
            _ => Ok(Placement::Already(at)),
        };
    }
    let planned = plan.ids.get(&id).filter(|planned| planned.last.is_none() && planned.position.seq == seq);
    let planned = planned.ok_or(Error::Conflict)?;
    match (&row.encoded.content, &planned.encoded.content) {
        (Some(_), None) => Ok(Placement::Forgotten),
        (Some(_), Some(_)) if planned.encoded.digest != row.encoded.digest => Err(id_conflict(id)),
        _ => Ok(Placement::Already(at)),
    }
}

fn plan_summary<'a>(there: &There, plan: &mut Plan<'a>, row: &'a Restored, last: i64, next: i64) -> Result<()> {
    let (id, seq) = (row.encoded.id, row.position.seq);
    if last != seq || row.position.first.is_none_or(|first| first > last) {
        return Err(Error::invalid("a summary stands at the last number it covers"));
    }
    if seq >= next {
        return Err(Error::Conflict);
    }
    let is_same = |digest: &[u8]| row.encoded.content.is_none() || digest == row.encoded.digest;
    if let Some(known) = there.ids.get(&id) {
        let is_sound = known.is_summary && known.session == there.session.id && is_same(&known.digest);
        return if known.is_forgotten || is_sound { Ok(()) } else { Err(id_conflict(id)) };
    }
    if let Some(planned) = plan.ids.get(&id) {
        let is_sound = planned.last.is_some() && is_same(&planned.encoded.digest);
        return if is_sound { Ok(()) } else { Err(id_conflict(id)) };
    }
    plan.summaries.push(row);
    plan.ids.insert(id, row);
    Ok(())
}

async fn store(connection: &mut SqliteConnection, owner: Owner, there: &mut There, plan: &Plan<'_>) -> Result<()> {
    // What stood for a row and was forgotten stands for it no longer.
    let is_forgotten = |summary: &MessageId| there.ids.get(summary).is_some_and(|known| known.is_forgotten);
    let place = |row: &Restored| Position {
        archived_by: row.position.archived_by.filter(|summary| !is_forgotten(summary)),
        ..row.position
    };
    let messages: Vec<_> = plan.messages.iter().map(|row| (place(row), &row.encoded)).collect();
    insert(connection, owner, there.session.id, &messages, RESTORE).await?;
    for row in &plan.summaries {
        let layer = next_layer(connection, owner, &there.session, row.position.seq, RESTORE).await?;
        let position = Position { layer, ..place(row) };
        insert(connection, owner, there.session.id, &[(position, &row.encoded)], RESTORE).await?;
    }
    let all = plan.messages.iter().chain(&plan.summaries).map(|row| &row.encoded);
    insert_values(connection, owner, all, RESTORE).await?;
    let before = there.session.head;
    for row in &plan.messages {
        there.session.head = row.position.seq;
        let at = row.encoded.content.as_ref().map(|content| content.at);
        there.session.last_at = there.session.last_at.max(at);
    }
    recount(connection, owner, &mut there.session, RESTORE).await?;
    let (from, upto) = (before.saturating_add(1), there.session.head);
    if from <= upto {
        mark(connection, Truth::Chat, owner, there.session.id, Mark::Appended { from, upto }).await?;
    }
    Ok(())
}
