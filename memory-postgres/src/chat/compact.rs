//! Folding and unfolding a session's window.

use memory_core::error::{Error, Result};
use memory_core::id::{MessageId, SeqRange, SessionId};
use memory_core::plan::chat::{Change, Fold};
use memory_core::scope::Scope;
use memory_core::store::chat::{Compaction, SessionState};
use sqlx::postgres::PgConnection;
use uuid::Uuid;

use super::append::known;
use super::encode::{Encoded, insert};
use super::session::{self, OpenSession, recount};
use crate::client::{Call, Postgres};
use crate::error::{Attempt, Doing};
use crate::filter::facets;

const COMPACT: &str = "change the window";

/// Changes the window of a session.
pub(super) async fn compact(
    server: &Postgres,
    scope: &Scope,
    session: &SessionId,
    change: &Compaction,
) -> Result<SessionState> {
    let count = if let Compaction::Fold { ids, .. } = change { ids.len() } else { usize::MAX };
    let change = (scope.clone(), session.clone(), Change::encode(session, change, facets)?);
    let compacted =
        server.run(Call::transaction(COMPACT).rows(count), change, |connection, (scope, session, change)| {
            Box::pin(async move {
                let mut place = session::enter(connection, scope, session, COMPACT).await?;
                if let Change::Fold { fence, .. } = change {
                    place.session.counters.check(place.session.epoch, Some(*fence))?;
                }
                match change {
                    Change::Fold { .. } if !place.session.is_owned => return Err(Error::Conflict.into()),
                    Change::Fold { fence: _, span, ids, summary } => {
                        fold(connection, &mut place, (*span, ids, summary)).await?;
                    }
                    Change::Unfold { summary } => unfold(connection, &mut place, *summary).await?,
                }
                Ok(place.session.state(session)?)
            })
        });
    compacted.await
}

async fn fold(
    connection: &mut PgConnection,
    place: &mut OpenSession<'_>,
    (span, ids, summary): (SeqRange, &[MessageId], &Encoded),
) -> Attempt<()> {
    let there = known(connection, place, &[summary.id], COMPACT).await?;
    let fold = Fold::plan((span, ids, summary), there.get(&summary.id), place.session.counters.head)?;
    let Some(fold) = fold else { return Ok(()) };
    let (first, last) = (fold.first, fold.last);
    fold.check(&window(connection, place, first, last).await?)?;
    if is_covered(connection, place, last).await? {
        return Err(Error::Conflict.into());
    }
    let archive = sqlx::query(
        "UPDATE message SET archived_by = $1 WHERE scope = $2 AND epoch = $3 AND session = $4 AND seq BETWEEN $5 AND $6 \
         AND archived_by IS NULL AND body IS NOT NULL",
    );
    let archive = archive.bind(summary.id.0).bind(place.scope.key()).bind(place.session.epoch).bind(place.name.key());
    archive.bind(first).bind(last).execute(&mut *connection).await.doing(COMPACT)?;
    let layer = next_layer(connection, place, last, COMPACT).await?;
    insert(connection, place, &[(fold.position(layer), summary)], COMPACT).await?;
    place.session.counters.revision += 1;
    recount(connection, place, COMPACT).await
}

/// Returns the ids of the window's rows from one number to another, and the first numbers that summaries cover.
async fn window(
    connection: &mut PgConnection,
    place: &OpenSession<'_>,
    first: i64,
    last: i64,
) -> Attempt<Vec<(MessageId, Option<i64>)>> {
    let sql = "SELECT id, first FROM message WHERE scope = $1 AND epoch = $2 AND session = $3 AND seq BETWEEN $4 AND $5 \
         AND archived_by IS NULL AND body IS NOT NULL ORDER BY seq, layer";
    let rows = sqlx::query_as::<_, (Uuid, Option<i64>)>(sql).bind(place.scope.key()).bind(place.session.epoch);
    let rows = rows.bind(place.name.key()).bind(first).bind(last).fetch_all(connection).await.doing(COMPACT)?;
    Ok(rows.into_iter().map(|(id, first)| (MessageId(id), first)).collect())
}

/// Returns whether an active summary after `last` covers it too. Then a span that ends there would cut that summary.
async fn is_covered(connection: &mut PgConnection, place: &OpenSession<'_>, last: i64) -> Attempt<bool> {
    let sql = "SELECT EXISTS (SELECT FROM message WHERE scope = $1 AND epoch = $2 AND session = $3 AND seq > $4 \
         AND layer > 0 AND body IS NOT NULL AND archived_by IS NULL AND first <= $4)";
    let covered = sqlx::query_scalar(sql).bind(place.scope.key()).bind(place.session.epoch).bind(place.name.key());
    covered.bind(last).fetch_one(connection).await.doing(COMPACT)
}

/// Returns the layer above all rows at a number.
pub(super) async fn next_layer(
    connection: &mut PgConnection,
    place: &OpenSession<'_>,
    seq: i64,
    doing: &'static str,
) -> Attempt<i64> {
    let sql = "SELECT coalesce(max(layer), 0) + 1 FROM message \
         WHERE scope = $1 AND epoch = $2 AND session = $3 AND seq = $4";
    let layer = sqlx::query_scalar(sql).bind(place.scope.key()).bind(place.session.epoch).bind(place.name.key());
    layer.bind(seq).fetch_one(connection).await.doing(doing)
}

async fn unfold(connection: &mut PgConnection, place: &mut OpenSession<'_>, summary: MessageId) -> Attempt<()> {
    let sql = "SELECT archived_by IS NOT NULL FROM message WHERE scope = $1 AND epoch = $2 AND id = $3 AND session = $4 \
         AND layer > 0 AND body IS NOT NULL";
    let found = sqlx::query_scalar(sql).bind(place.scope.key()).bind(place.session.epoch).bind(summary.0);
    let found = found.bind(place.name.key()).fetch_optional(&mut *connection).await.doing(COMPACT)?;
    match found {
        None => return Ok(()),
        Some(true) => return Err(Error::Conflict.into()),
        Some(false) => {}
    }
    bring_back(connection, place, summary).await?;
    let sql = "DELETE FROM message WHERE scope = $1 AND epoch = $2 AND id = $3";
    let delete = sqlx::query(sql).bind(place.scope.key()).bind(place.session.epoch).bind(summary.0);
    delete.execute(&mut *connection).await.doing(COMPACT)?;
    place.session.counters.revision += 1;
    recount(connection, place, COMPACT).await
}

/// Puts the rows that a summary replaces into the window of its session again. A restored mark of another session may name it
/// too, which says nothing there.
async fn bring_back(connection: &mut PgConnection, place: &OpenSession<'_>, summary: MessageId) -> Attempt<()> {
    let sql = "UPDATE message SET archived_by = NULL \
         WHERE scope = $1 AND epoch = $2 AND archived_by = $3 AND session = $4";
    let update = sqlx::query(sql).bind(place.scope.key()).bind(place.session.epoch).bind(summary.0);
    update.bind(place.name.key()).execute(connection).await.doing(COMPACT).map(|_| ())
}
