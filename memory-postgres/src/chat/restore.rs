//! Rows stored as they are: everything is checked before anything is stored.

use std::collections::{BTreeSet, HashMap};

use memory_core::chat::{Appended, NewMessage, Placement};
use memory_core::error::{Error, Result};
use memory_core::id::{MessageId, Seq, SessionId};
use memory_core::message::StoredMessage;
use memory_core::scope::Scope;
use sqlx::postgres::PgConnection;
use uuid::Uuid;

use super::append::{Known, id_conflict, known};
use super::compact::next_layer;
use super::encode::{Encoded, Position, insert};
use super::session::{self, Place, Session, recount};
use crate::client::{Call, Postgres};
use crate::error::{Attempt, Doing};
use crate::number::{loaded, stored};

const RESTORE: &str = "restore messages";

/// Rows of a session, encoded before the connection's turn.
struct Rows {
    scope: Scope,
    session: SessionId,
    rows: Vec<Restored>,
}

/// A row that is to be stored.
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
    key: String,
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
    server: &Postgres,
    scope: &Scope,
    session: &SessionId,
    rows: &[StoredMessage],
) -> Result<Appended> {
    let rows = rows.iter().map(|row| encode(session, row)).collect::<Result<Vec<_>>>()?;
    let rows = Rows { scope: scope.clone(), session: session.clone(), rows };
    let durability = server.truth().await?;
    let restored = server.run(Call::transaction(RESTORE).rows(rows.rows.len()), rows, move |connection, call| {
        Box::pin(async move {
            let Rows { scope, session, rows } = call;
            let mut place = session::enter(connection, scope, session, RESTORE).await?;
            if rows.is_empty() {
                return Ok(Appended { placements: Vec::new(), state: place.session.state(session)?, durability });
            }
            let there = look(connection, &place, rows).await?;
            let plan = plan(&there, rows)?;
            session::own(connection, &mut place, RESTORE).await?;
            store(connection, &mut place, &there, &plan).await?;
            Ok(Appended { placements: plan.placements, state: place.session.state(session)?, durability })
        })
    });
    restored.await
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

async fn look(connection: &mut PgConnection, place: &Place<'_>, rows: &[Restored]) -> Attempt<There> {
    let marks: BTreeSet<MessageId> = rows.iter().filter_map(|row| row.position.archived_by).collect();
    let ids: Vec<Uuid> = rows.iter().map(|row| row.encoded.id).chain(marks).map(|id| id.0).collect();
    let ids = known(connection, place.scope, place.session.epoch, &ids, RESTORE).await?;
    let numbers = rows.iter().filter(|row| row.last.is_none()).map(|row| row.position.seq);
    let (first, last) = (numbers.clone().min().unwrap_or(0), numbers.max().unwrap_or(0));
    let sql = "SELECT seq, id FROM message WHERE scope = $1 AND epoch = $2 AND session = $3 AND seq BETWEEN $4 AND $5 \
         AND layer = 0";
    let found = sqlx::query_as::<_, (i64, Uuid)>(sql).bind(place.scope.key()).bind(place.session.epoch);
    let found = found.bind(place.name.key()).bind(first).bind(last).fetch_all(connection).await.doing(RESTORE)?;
    let messages = found.into_iter().map(|(seq, id)| (seq, MessageId(id))).collect();
    Ok(There { ids, messages, session: place.session, key: place.name.key().to_owned() })
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
        let is_sound = known.is_summary && known.session == there.key && is_same(&known.digest);
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

async fn store(connection: &mut PgConnection, place: &mut Place<'_>, there: &There, plan: &Plan<'_>) -> Attempt<()> {
    // What stood for a row and was forgotten stands for it no longer.
    let is_forgotten = |summary: &MessageId| there.ids.get(summary).is_some_and(|known| known.is_forgotten);
    let position = |row: &Restored| Position {
        archived_by: row.position.archived_by.filter(|summary| !is_forgotten(summary)),
        ..row.position
    };
    let messages: Vec<_> = plan.messages.iter().map(|row| (position(row), &row.encoded)).collect();
    insert(connection, place, &messages, RESTORE).await?;
    for row in &plan.summaries {
        let layer = next_layer(connection, place, row.position.seq, RESTORE).await?;
        insert(connection, place, &[(Position { layer, ..position(row) }, &row.encoded)], RESTORE).await?;
    }
    let before = place.session.head;
    for row in &plan.messages {
        place.session.head = row.position.seq;
        let at = row.encoded.content.as_ref().map(|content| content.at);
        place.session.last_at = place.session.last_at.max(at);
    }
    recount(connection, place, RESTORE).await?;
    let (from, upto) = (before.saturating_add(1), place.session.head);
    if from > upto {
        return Ok(());
    }
    let note = sqlx::query("SELECT note_appended($1, $2, $3, $4, $5)").bind(place.scope.key());
    let note = note.bind(place.session.epoch).bind(place.name.key()).bind(from).bind(upto);
    note.execute(connection).await.doing(RESTORE).map(|_| ())
}
