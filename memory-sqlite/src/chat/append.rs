//! Appending messages to a session.

use std::collections::HashMap;

use memory_core::error::Result;
use memory_core::id::{MessageId, Seq, SessionId};
use memory_core::plan::chat::{Batch, Counters, KnownRow, Position};
use memory_core::scope::Scope;
use memory_core::store::chat::{Append, Appended, Placement};
use sqlx::{Row, SqliteConnection};

use super::encode::{Encoded, insert, insert_values};
use super::session::{self, Session};
use crate::client::Sqlite;
use crate::error::Doing;
use crate::filter::value_rows;
use crate::notes::{Mark, mark};
use crate::number::{list, loaded};
use crate::owner::{self, Owner, Truth};

const APPEND: &str = "append messages";

/// Appends a batch to a session.
pub(super) async fn append(file: &Sqlite, scope: &Scope, session: &SessionId, batch: &Append) -> Result<Appended> {
    let batch = Batch::encode(session, batch, value_rows)?;
    let (scope, session, durability) = (scope.clone(), session.clone(), file.durability());
    let work = file.write(APPEND, move |connection| {
        Box::pin(async move {
            let found = session::find(connection, &scope, &session, APPEND).await?;
            let (kept, epoch) = (found.session, found.epoch());
            kept.counters.check(epoch, batch.fence)?;
            if batch.rows.is_empty() {
                let state = kept.state(&session, epoch)?;
                return Ok(Appended { placements: Vec::new(), state, durability });
            }
            let owner = match found.owner {
                Some(owner) => owner,
                None => owner::create(connection, Truth::Chat, &scope, 0, APPEND).await?,
            };
            let mut kept = match kept.id {
                0 => session::create(connection, owner, &session, APPEND).await?,
                _ => kept,
            };
            let mut target = Target { owner, session: &mut kept, asked: batch.asked, followers: found.followers };
            let unique = store(connection, &mut target, &batch.rows).await?;
            let placements = batch.places.spread(&unique);
            Ok(Appended { placements, state: kept.state(&session, epoch)?, durability })
        })
    });
    work.await
}

/// Where messages are appended.
struct Target<'a> {
    owner: Owner,
    session: &'a mut Session,
    asked: i64,
    followers: Option<u64>,
}

/// Stores the new ones of the messages at the end, and returns the placement of each.
async fn store(
    connection: &mut SqliteConnection,
    target: &mut Target<'_>,
    messages: &[Encoded],
) -> Result<Vec<Placement>> {
    let (owner, session, head) = (target.owner, target.session.id, target.session.counters.head);
    // Most batches are wholly new, so they are numbered and inserted without looking first.
    let rows = numbered(head, messages.iter());
    let inserted = insert(connection, owner, session, &rows, APPEND).await?;
    if inserted == rows.len() as u64 {
        let placed = rows.iter().map(|(position, _)| Ok(Placement::Added(Seq(loaded(position.seq)?)))).collect();
        added(connection, target, &rows).await?;
        return placed;
    }
    // Some were there: undo the inserts, and number only the new ones.
    let undo = sqlx::query("DELETE FROM message WHERE owner = ? AND session = ? AND seq > ? AND layer = 0");
    undo.bind(owner.id).bind(session).bind(head).execute(&mut *connection).await.doing(APPEND)?;
    let known = known(connection, owner, session, messages.iter().map(|message| &message.id), APPEND).await?;
    let rows = numbered(head, messages.iter().filter(|message| !known.contains_key(&message.id)));
    let mut next = rows.iter();
    let mut placements = Vec::with_capacity(messages.len());
    for message in messages {
        placements.push(match known.get(&message.id) {
            Some((seq, known)) => known.meet(message, Seq(loaded(*seq)?))?,
            None => Placement::Added(Seq(loaded(next.next().map_or(0, |(position, _)| position.seq))?)),
        });
    }
    insert(connection, owner, session, &rows, APPEND).await?;
    added(connection, target, &rows).await?;
    Ok(placements)
}

fn numbered<'a>(head: i64, messages: impl Iterator<Item = &'a Encoded>) -> Vec<(Position, &'a Encoded)> {
    (head.saturating_add(1)..).zip(messages).map(|(seq, message)| (Position::of_message(seq), message)).collect()
}

/// Counts and notes the messages that were added.
async fn added(
    connection: &mut SqliteConnection,
    target: &mut Target<'_>,
    rows: &[(Position, &Encoded)],
) -> Result<()> {
    let Target { owner, session, asked, followers } = target;
    if rows.is_empty() {
        return Ok(());
    }
    let counters = &mut session.counters;
    let from = counters.head.saturating_add(1);
    counters.asked = counters.asked.max(*asked);
    for (position, message) in rows {
        counters.push(position.seq, message);
        counters.active_messages = counters.active_messages.saturating_add(1);
        counters.active_tokens = counters.active_tokens.saturating_add(message.tokens);
    }
    let Counters { generation: _, revision: _, head, active_messages, active_tokens, asked, last_at } = *counters;
    insert_values(connection, *owner, rows.iter().map(|(_, message)| *message), APPEND).await?;
    let save = sqlx::query(SAVE).bind(session.id).bind(head).bind(active_messages).bind(active_tokens).bind(last_at);
    let save =
        save.bind(owner.id).bind(owner.epoch).bind(from).bind(asked).execute(&mut *connection).await.doing(APPEND)?;
    let moved = save.rows_affected().saturating_sub(1);
    if *followers == Some(moved) {
        return Ok(());
    }
    mark(connection, Truth::Chat, *owner, session.id, Mark::Appended { from, upto: head }).await
}

/// Saves a session's counters and extends its notes, in one round trip.
///
/// Usually each index already has a note of the session, which is not dead.
const SAVE: &str = "UPDATE session SET head = ?2, active_messages = ?3, active_tokens = ?4, last_at = ?5, asked = ?9 WHERE id = ?1; \
     UPDATE note SET epoch = ?7, \"from\" = min(\"from\", ?8), upto = max(upto, ?2) \
     WHERE owner = ?6 AND enlisted IN (SELECT id FROM enlisted WHERE truth = 0) AND session = ?1 AND record = x'' \
     AND dead = 0";

/// Returns the rows under those of the ids that are taken, with their numbers, as seen from a session.
pub(super) async fn known(
    connection: &mut SqliteConnection,
    owner: Owner,
    session: i64,
    ids: impl Iterator<Item = &MessageId>,
    doing: &'static str,
) -> Result<HashMap<MessageId, (i64, KnownRow)>> {
    let sql = "SELECT id, session, seq, layer > 0, body IS NULL, digest FROM message \
         WHERE owner = ? AND id IN (SELECT unhex(value) FROM json_each(?))";
    let ids = list(ids.map(|id| id.0.as_bytes()));
    let rows = sqlx::query(sql).bind(owner.id).bind(ids).fetch_all(connection).await.doing(doing)?;
    let known = rows.iter().map(|row| {
        let id = MessageId(crate::row::uuid(row.try_get(0).doing(doing)?)?);
        let known = KnownRow {
            is_here: row.try_get::<i64, _>(1).doing(doing)? == session,
            is_summary: row.try_get(3).doing(doing)?,
            is_forgotten: row.try_get(4).doing(doing)?,
            digest: row.try_get(5).doing(doing)?,
        };
        Ok((id, (row.try_get(2).doing(doing)?, known)))
    });
    known.collect()
}
