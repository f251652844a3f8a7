//! Appending.

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use memory_core::chat::{Append, Appended, Fence, Placement};
use memory_core::error::{Error, Result};
use memory_core::id::{MessageId, Seq, SessionId};
use memory_core::scope::Scope;
use sqlx::Row;
use sqlx::postgres::{PgConnection, PgRow};
use uuid::Uuid;

use super::encode::{Columns, Encoded};
use super::session::Session;
use crate::client::{Call, Postgres};
use crate::error::{Attempt, BACKEND, Doing};
use crate::number::{loaded, stored};

const APPEND: &str = "append messages";

/// A batch, encoded before the connection's turn.
struct Batch {
    scope: Scope,
    session: SessionId,
    fence: Option<(i64, i64)>,
    asked: i64,
    /// The messages, each once.
    columns: Columns,
    /// For each message of the call, which of the columns' rows it is, and whether it is a repetition.
    places: Vec<(usize, bool)>,
}

/// Appends a batch to a session: one statement, which is a transaction by itself.
pub(super) async fn append(server: &Postgres, scope: &Scope, session: &SessionId, batch: &Append) -> Result<Appended> {
    let (batch, durability) = (encode(scope, session, batch)?, server.truth().await?);
    let appended = server.run(Call::statement(APPEND).rows(batch.places.len()), batch, move |connection, batch| {
        Box::pin(async move {
            let row = call(connection, batch).await?;
            match row.try_get::<i16, _>(0).doing(APPEND)? {
                0 => {}
                1 => return Err(Error::Fenced.into()),
                _ => return Err(id_conflict(MessageId(row.try_get(4).doing(APPEND)?)).into()),
            }
            let counters: Vec<Option<i64>> = row.try_get(1).doing(APPEND)?;
            let kept = Session::of_counters(Some(&counters))?;
            let unique = placements(&row, &kept, batch.columns.ids.len())?;
            let placements = batch.places.iter().map(|(message, is_repeated)| {
                match unique.get(*message).copied().unwrap_or(Placement::Forgotten) {
                    Placement::Added(seq) if *is_repeated => Placement::Already(seq),
                    placement => placement,
                }
            });
            Ok(Appended { placements: placements.collect(), state: kept.state(&batch.session)?, durability })
        })
    });
    appended.await
}

async fn call(connection: &mut PgConnection, batch: &Batch) -> Attempt<PgRow> {
    let sql = "SELECT outcome, state, kinds, numbers, taken \
         FROM append_messages($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15)";
    let Batch { scope, session, fence, asked, columns, places: _ } = batch;
    let call = sqlx::query(sql).bind(scope.key()).bind(session.key());
    let call = call.bind(fence.map(|(epoch, _)| epoch)).bind(fence.map(|(_, generation)| generation));
    let call = call.bind(asked).bind(&columns.ids).bind(&columns.digests).bind(&columns.tokens);
    let call = call.bind(&columns.counters).bind(&columns.roles);
    let call = call.bind(&columns.speakers).bind(&columns.trusts).bind(&columns.times).bind(&columns.words);
    call.bind(&columns.bodies).fetch_one(connection).await.doing(APPEND)
}

/// Returns what became of each of the `count` messages.
fn placements(row: &PgRow, after: &Session, count: usize) -> Attempt<Vec<Placement>> {
    let kinds: Option<Vec<i16>> = row.try_get(2).doing(APPEND)?;
    let Some(kinds) = kinds else {
        // All are new, and the newest is the head.
        let before = loaded(after.head)?.saturating_sub(count as u64);
        return Ok((1..=count as u64).map(|place| Placement::Added(Seq(before.saturating_add(place)))).collect());
    };
    let numbers: Vec<Option<i64>> = row.try_get(3).doing(APPEND)?;
    if kinds.len() != count || numbers.len() != count {
        return Err(Error::corrupt(BACKEND, "not every message has a place").into());
    }
    let added = kinds.iter().filter(|kind| **kind == 0).count();
    let mut next = loaded(after.head)?.saturating_sub(added as u64);
    let placement = |(kind, number): (&i16, &Option<i64>)| match kind {
        0 => {
            next = next.saturating_add(1);
            Ok(Placement::Added(Seq(next)))
        }
        1 => Ok(Placement::Already(Seq(loaded(number.unwrap_or_default())?))),
        _ => Ok(Placement::Forgotten),
    };
    kinds.iter().zip(&numbers).map(placement).collect()
}

/// Encodes the messages, and finds those that a batch holds twice.
fn encode(scope: &Scope, session: &SessionId, batch: &Append) -> Result<Batch> {
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
    let fence = fence.map(|Fence { epoch, generation }| Ok::<_, Error>((stored(epoch.0)?, stored(generation)?)));
    // A number that cannot be stored is in no session.
    let fence = fence.transpose().map_err(|_| Error::Fenced)?;
    let columns = Columns::of(encoded);
    Ok(Batch { scope: scope.clone(), session: session.clone(), fence, asked: stored(*asked)?, columns, places })
}

/// What stands under an id.
pub(super) struct Known {
    pub(super) session: String,
    pub(super) is_summary: bool,
    pub(super) is_forgotten: bool,
    pub(super) digest: Vec<u8>,
}

/// Returns what stands under those of the ids that are taken.
pub(super) async fn known(
    connection: &mut PgConnection,
    scope: &Scope,
    epoch: i64,
    ids: &[Uuid],
    doing: &'static str,
) -> Attempt<HashMap<MessageId, Known>> {
    let sql = "SELECT id, session, layer > 0, body IS NULL, digest FROM message \
         WHERE scope = $1 AND epoch = $2 AND id = ANY ($3)";
    let rows = sqlx::query(sql).bind(scope.key()).bind(epoch).bind(ids).fetch_all(connection).await.doing(doing)?;
    let known = rows.iter().map(|row| {
        let known = Known {
            session: row.try_get(1).doing(doing)?,
            is_summary: row.try_get(2).doing(doing)?,
            is_forgotten: row.try_get(3).doing(doing)?,
            digest: row.try_get(4).doing(doing)?,
        };
        Ok((MessageId(row.try_get(0).doing(doing)?), known))
    });
    known.collect()
}

pub(super) fn id_conflict(id: MessageId) -> Error {
    Error::IdConflict { id: id.to_string() }
}
