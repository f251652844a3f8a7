//! Appending.

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use memory_core::chat::{Append, Appended, Fence, Placement};
use memory_core::error::{Error, Result};
use memory_core::id::{MessageId, Seq, SessionId};
use memory_core::scope::{Epoch, Scope};
use sqlx::{Row, SqliteConnection};

use super::encode::{Encoded, Position, insert, insert_values};
use super::session::{self, Session};
use crate::client::Sqlite;
use crate::error::Doing;
use crate::notes::{Mark, mark};
use crate::number::{list, loaded, stored};
use crate::owner::{self, Owner, Truth};

const APPEND: &str = "append messages";

/// A batch, encoded before the writer's turn.
struct Batch {
    fence: Option<Fence>,
    asked: i64,
    /// The messages, each once.
    messages: Vec<Encoded>,
    /// For each message of the call, which of the list it is, and whether it is a repetition.
    places: Vec<(usize, bool)>,
}

/// Appends a batch to a session.
pub(super) async fn append(file: &Sqlite, scope: &Scope, session: &SessionId, batch: &Append) -> Result<Appended> {
    let batch = encode(session, batch)?;
    let (scope, session, durability) = (scope.clone(), session.clone(), file.durability());
    let work = file.write(APPEND, move |connection| {
        Box::pin(async move {
            let found = session::find(connection, &scope, &session, APPEND).await?;
            let (kept, epoch) = (found.session, found.epoch());
            let now = Fence { epoch: Epoch(loaded(epoch)?), generation: loaded(kept.generation)? };
            if batch.fence.is_some_and(|fence| fence != now) {
                return Err(Error::Fenced);
            }
            if batch.messages.is_empty() {
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
            let unique = store(connection, &mut target, &batch.messages).await?;
            let placements = batch.places.iter().map(|(message, is_repeated)| {
                match unique.get(*message).copied().unwrap_or(Placement::Forgotten) {
                    Placement::Added(seq) if *is_repeated => Placement::Already(seq),
                    placement => placement,
                }
            });
            Ok(Appended { placements: placements.collect(), state: kept.state(&session, epoch)?, durability })
        })
    });
    work.await
}

/// Encodes the messages, and finds those that a batch holds twice.
fn encode(session: &SessionId, batch: &Append) -> Result<Batch> {
    let Append { fence, asked, messages } = batch;
    let mut seen: HashMap<MessageId, usize> = HashMap::with_capacity(messages.len());
    let mut encoded: Vec<Encoded> = Vec::with_capacity(messages.len());
    let mut places = Vec::with_capacity(messages.len());
    for new in messages {
        let message = Encoded::new(session, new)?;
        match seen.entry(message.id) {
            Entry::Vacant(free) => {
                places.push((*free.insert(encoded.len()), false));
                encoded.push(message);
            }
            Entry::Occupied(first) => {
                let is_same = encoded.get(*first.get()).is_some_and(|first| first.digest == message.digest);
                if !is_same {
                    return Err(id_conflict(message.id));
                }
                places.push((*first.get(), true));
            }
        }
    }
    Ok(Batch { fence: *fence, asked: stored(*asked)?, messages: encoded, places })
}

/// Where messages are appended.
struct Target<'a> {
    owner: Owner,
    session: &'a mut Session,
    asked: i64,
    followers: Option<u64>,
}

/// Stores those of the messages that are new, behind all others, and returns what became of each.
async fn store(
    connection: &mut SqliteConnection,
    target: &mut Target<'_>,
    messages: &[Encoded],
) -> Result<Vec<Placement>> {
    let (owner, session) = (target.owner, *target.session);
    // Most batches are wholly new: they are numbered and inserted without looking first.
    let rows = numbered(session.head, messages.iter());
    let inserted = insert(connection, owner, session.id, &rows, APPEND).await?;
    if inserted == rows.len() as u64 {
        let placed = rows.iter().map(|(position, _)| Ok(Placement::Added(Seq(loaded(position.seq)?)))).collect();
        added(connection, target, &rows).await?;
        return placed;
    }
    // Some were there: their places are undone, and the others close up.
    let undo = sqlx::query("DELETE FROM message WHERE owner = ? AND session = ? AND seq > ? AND layer = 0");
    undo.bind(owner.id).bind(session.id).bind(session.head).execute(&mut *connection).await.doing(APPEND)?;
    let known = known(connection, owner, messages.iter().map(|message| &message.id), APPEND).await?;
    let rows = numbered(session.head, messages.iter().filter(|message| !known.contains_key(&message.id)));
    let mut next = rows.iter();
    let mut placements = Vec::with_capacity(messages.len());
    for message in messages {
        placements.push(match known.get(&message.id) {
            Some(Known { is_forgotten: true, .. }) => Placement::Forgotten,
            Some(Known { digest, seq, .. }) if *digest == message.digest => Placement::Already(Seq(loaded(*seq)?)),
            Some(_) => return Err(id_conflict(message.id)),
            None => Placement::Added(Seq(loaded(next.next().map_or(0, |(position, _)| position.seq))?)),
        });
    }
    insert(connection, owner, session.id, &rows, APPEND).await?;
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
    let Some((last, _)) = rows.last() else { return Ok(()) };
    let from = session.head.saturating_add(1);
    session.head = last.seq;
    session.asked = session.asked.max(*asked);
    for (_, message) in rows {
        session.active_messages = session.active_messages.saturating_add(1);
        session.active_tokens = session.active_tokens.saturating_add(message.tokens);
        session.last_at = session.last_at.max(message.content.as_ref().map(|content| content.at));
    }
    insert_values(connection, *owner, rows.iter().map(|(_, message)| *message), APPEND).await?;
    let Session { id, generation: _, revision: _, head, active_messages, active_tokens, asked, last_at } = **session;
    let save = sqlx::query(SAVE).bind(id).bind(head).bind(active_messages).bind(active_tokens).bind(last_at);
    let save =
        save.bind(owner.id).bind(owner.epoch).bind(from).bind(asked).execute(&mut *connection).await.doing(APPEND)?;
    let moved = save.rows_affected().saturating_sub(1);
    if *followers == Some(moved) {
        return Ok(());
    }
    mark(connection, Truth::Chat, *owner, id, Mark::Appended { from, upto: head }).await
}

/// Saves a session's counters and moves its notes, in one turn of the connection.
///
/// As a rule each index has a note of a session that is appended to, and it was not given up.
const SAVE: &str = "UPDATE session SET head = ?2, active_messages = ?3, active_tokens = ?4, last_at = ?5, asked = ?9 WHERE id = ?1; \
     UPDATE note SET epoch = ?7, \"from\" = min(\"from\", ?8), upto = max(upto, ?2) \
     WHERE owner = ?6 AND enlisted IN (SELECT id FROM enlisted WHERE truth = 0) AND session = ?1 AND record = x'' \
     AND dead = 0";

/// What stands under an id.
pub(super) struct Known {
    pub(super) session: i64,
    pub(super) seq: i64,
    pub(super) is_summary: bool,
    pub(super) is_forgotten: bool,
    pub(super) digest: Vec<u8>,
}

/// Returns what stands under those of the ids that are taken.
pub(super) async fn known(
    connection: &mut SqliteConnection,
    owner: Owner,
    ids: impl Iterator<Item = &MessageId>,
    doing: &'static str,
) -> Result<HashMap<MessageId, Known>> {
    let sql = "SELECT id, session, seq, layer > 0, body IS NULL, digest FROM message \
         WHERE owner = ? AND id IN (SELECT unhex(value) FROM json_each(?))";
    let ids = list(ids.map(|id| id.0.as_bytes()));
    let rows = sqlx::query(sql).bind(owner.id).bind(ids).fetch_all(connection).await.doing(doing)?;
    let known = rows.iter().map(|row| {
        let id = MessageId(crate::row::uuid(row.try_get(0).doing(doing)?)?);
        let known = Known {
            session: row.try_get(1).doing(doing)?,
            seq: row.try_get(2).doing(doing)?,
            is_summary: row.try_get(3).doing(doing)?,
            is_forgotten: row.try_get(4).doing(doing)?,
            digest: row.try_get(5).doing(doing)?,
        };
        Ok((id, known))
    });
    known.collect()
}

pub(super) fn id_conflict(id: MessageId) -> Error {
    Error::IdConflict { id: id.to_string() }
}
