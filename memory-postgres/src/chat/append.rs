//! Appending messages to a session.

use std::collections::HashMap;

use memory_core::error::{Error, Result};
use memory_core::id::{MessageId, Seq, SessionId};
use memory_core::plan::chat::{Batch, KnownRow, Places};
use memory_core::scope::Scope;
use memory_core::store::chat::{Append, Appended, Fence, Placement};
use sqlx::Row;
use sqlx::postgres::{PgConnection, PgRow};
use uuid::Uuid;

use super::encode::Columns;
use super::session::{OpenSession, Session};
use crate::client::{Call, Postgres};
use crate::error::{Attempt, BACKEND, Doing};
use crate::filter::facets;
use crate::number::{loaded, stored};

const APPEND: &str = "append messages";

/// The values that a call sends.
struct Sent {
    scope: Scope,
    session: SessionId,
    fence: Option<(i64, i64)>,
    asked: i64,
    columns: Columns,
    places: Places,
}

/// Appends a batch to a session, in one statement, which is a transaction.
pub(super) async fn append(server: &Postgres, scope: &Scope, session: &SessionId, batch: &Append) -> Result<Appended> {
    let Batch { fence, asked, rows, places } = Batch::encode(session, batch, facets)?;
    let fence = fence.map(|Fence { epoch, generation }| Ok::<_, Error>((stored(epoch.0)?, stored(generation)?)));
    // No session has a number that cannot be stored.
    let fence = fence.transpose().map_err(|_| Error::Fenced)?;
    let (scope, session, columns) = (scope.clone(), session.clone(), Columns::of(rows));
    let batch = Sent { scope, session, fence, asked, columns, places };
    let (call, durability) = (Call::statement(APPEND).rows(batch.places.count()), server.truth().await?);
    let appended = server.run(call, batch, move |connection, batch| {
        Box::pin(async move {
            let row = send(connection, batch).await?;
            match row.try_get::<i16, _>(0).doing(APPEND)? {
                0 => {}
                1 => return Err(Error::Fenced.into()),
                _ => {
                    let id: Uuid = row.try_get(4).doing(APPEND)?;
                    return Err(Error::IdConflict { id: id.to_string() }.into());
                }
            }
            let counters: Vec<Option<i64>> = row.try_get(1).doing(APPEND)?;
            let kept = Session::of_counters(Some(&counters))?;
            let unique = placements(&row, &kept, batch.columns.ids.len())?;
            let placements = batch.places.spread(&unique);
            Ok(Appended { placements, state: kept.state(&batch.session)?, durability })
        })
    });
    appended.await
}

async fn send(connection: &mut PgConnection, batch: &Sent) -> Attempt<PgRow> {
    let sql = "SELECT outcome, state, kinds, numbers, taken \
         FROM append_messages($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15)";
    let Sent { scope, session, fence, asked, columns, places: _ } = batch;
    let call = sqlx::query(sql).bind(scope.key()).bind(session.key());
    let call = call.bind(fence.map(|(epoch, _)| epoch)).bind(fence.map(|(_, generation)| generation));
    let call = call.bind(asked).bind(&columns.ids).bind(&columns.digests).bind(&columns.tokens);
    let call = call.bind(&columns.counters).bind(&columns.roles);
    let call = call.bind(&columns.speakers).bind(&columns.trusts).bind(&columns.times).bind(&columns.words);
    call.bind(&columns.bodies).fetch_one(connection).await.doing(APPEND)
}

/// Returns the placement of each of the `count` messages.
fn placements(row: &PgRow, after: &Session, count: usize) -> Attempt<Vec<Placement>> {
    let kinds: Option<Vec<i16>> = row.try_get(2).doing(APPEND)?;
    let Some(kinds) = kinds else {
        // All are new, and the newest is the head.
        let before = loaded(after.counters.head)?.saturating_sub(count as u64);
        return Ok((1..=count as u64).map(|place| Placement::Added(Seq(before.saturating_add(place)))).collect());
    };
    let numbers: Vec<Option<i64>> = row.try_get(3).doing(APPEND)?;
    if kinds.len() != count || numbers.len() != count {
        return Err(Error::corrupt(BACKEND, "not every message has a place").into());
    }
    let added = kinds.iter().filter(|kind| **kind == 0).count();
    let mut next = loaded(after.counters.head)?.saturating_sub(added as u64);
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

/// Returns the rows under those of the ids that are taken, as seen from a session.
pub(super) async fn known(
    connection: &mut PgConnection,
    place: &OpenSession<'_>,
    ids: &[MessageId],
    doing: &'static str,
) -> Attempt<HashMap<MessageId, KnownRow>> {
    let sql = "SELECT id, session, layer > 0, body IS NULL, digest FROM message \
         WHERE scope = $1 AND epoch = $2 AND id = ANY ($3)";
    let ids: Vec<Uuid> = ids.iter().map(|id| id.0).collect();
    let rows = sqlx::query(sql).bind(place.scope.key()).bind(place.session.epoch).bind(ids);
    let rows = rows.fetch_all(connection).await.doing(doing)?;
    let known = rows.iter().map(|row| {
        let known = KnownRow {
            is_here: row.try_get::<&str, _>(1).doing(doing)? == place.name.key(),
            is_summary: row.try_get(2).doing(doing)?,
            is_forgotten: row.try_get(3).doing(doing)?,
            digest: row.try_get(4).doing(doing)?,
        };
        Ok((MessageId(row.try_get(0).doing(doing)?), known))
    });
    known.collect()
}
