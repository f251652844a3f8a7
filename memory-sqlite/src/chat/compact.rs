//! Folding and unfolding a session's window.

use memory_core::error::{Error, Result};
use memory_core::id::{MessageId, SeqRange, SessionId};
use memory_core::plan::chat::{Change, Fold};
use memory_core::scope::Scope;
use memory_core::store::chat::{Compaction, SessionState};
use sqlx::SqliteConnection;

use super::append::known;
use super::encode::{Encoded, insert, insert_values};
use super::session::{self, Session, recount};
use crate::client::Sqlite;
use crate::error::Doing;
use crate::filter::value_rows;
use crate::owner::Owner;
use crate::row::uuid;

const COMPACT: &str = "change the window";

/// Changes the window of a session.
pub(super) async fn compact(
    file: &Sqlite,
    scope: &Scope,
    session: &SessionId,
    change: &Compaction,
) -> Result<SessionState> {
    let change = Change::encode(session, change, value_rows)?;
    let (scope, session) = (scope.clone(), session.clone());
    let work = file.write(COMPACT, move |connection| {
        Box::pin(async move {
            let found = session::find(connection, &scope, &session, COMPACT).await?;
            let mut kept = found.session;
            if let Change::Fold { fence, .. } = &change {
                kept.counters.check(found.epoch(), Some(*fence))?;
            }
            match (found.owner, &change) {
                (Some(owner), Change::Fold { fence: _, span, ids, summary }) => {
                    fold(connection, owner, &mut kept, (*span, ids, summary)).await?;
                }
                (Some(owner), Change::Unfold { summary }) => unfold(connection, owner, &mut kept, *summary).await?,
                (None, Change::Fold { .. }) => return Err(Error::Conflict),
                (None, Change::Unfold { .. }) => {}
            }
            kept.state(&session, found.epoch())
        })
    });
    work.await
}

async fn fold(
    connection: &mut SqliteConnection,
    owner: Owner,
    session: &mut Session,
    (span, ids, summary): (SeqRange, &[MessageId], &Encoded),
) -> Result<()> {
    let there = known(connection, owner, session.id, std::iter::once(&summary.id), COMPACT).await?;
    let there = there.get(&summary.id).map(|(_, there)| there);
    let Some(fold) = Fold::plan((span, ids, summary), there, session.counters.head)? else { return Ok(()) };
    let (first, last) = (fold.first, fold.last);
    fold.check(&window(connection, owner, session, first, last).await?)?;
    if is_covered(connection, owner, session, last).await? {
        return Err(Error::Conflict);
    }
    let archive = sqlx::query(
        "UPDATE message SET archived_by = ?1 WHERE item IN (SELECT item FROM message INDEXED BY message_active \
         WHERE owner = ?2 AND session = ?3 AND seq BETWEEN ?4 AND ?5 AND archived_by IS NULL AND body IS NOT NULL)",
    );
    let archive = archive.bind(summary.id.0.as_bytes().as_slice()).bind(owner.id).bind(session.id);
    archive.bind(first).bind(last).execute(&mut *connection).await.doing(COMPACT)?;
    let layer = next_layer(connection, owner, session, last, COMPACT).await?;
    insert(connection, owner, session.id, &[(fold.position(layer), summary)], COMPACT).await?;
    insert_values(connection, owner, std::iter::once(summary), COMPACT).await?;
    session.counters.revision += 1;
    recount(connection, owner, session, COMPACT).await
}

/// Returns the ids of the window's rows in a span, and the first numbers that summaries cover.
async fn window(
    connection: &mut SqliteConnection,
    owner: Owner,
    session: &Session,
    first: i64,
    last: i64,
) -> Result<Vec<(MessageId, Option<i64>)>> {
    let sql = "SELECT id, first FROM message INDEXED BY message_active WHERE owner = ? AND session = ? \
         AND seq BETWEEN ? AND ? AND archived_by IS NULL AND body IS NOT NULL ORDER BY seq, layer";
    let rows = sqlx::query_as::<_, (Vec<u8>, Option<i64>)>(sql).bind(owner.id).bind(session.id).bind(first).bind(last);
    let rows = rows.fetch_all(connection).await.doing(COMPACT)?;
    rows.into_iter().map(|(id, first)| Ok((MessageId(uuid(&id)?), first))).collect()
}

/// Returns whether an active summary after `last` covers it too. Then a span that ends there would cut that summary.
async fn is_covered(connection: &mut SqliteConnection, owner: Owner, session: &Session, last: i64) -> Result<bool> {
    let sql = "SELECT EXISTS (SELECT 1 FROM message INDEXED BY message_summary WHERE owner = ?1 AND session = ?2 \
         AND seq > ?3 AND layer > 0 AND body IS NOT NULL AND archived_by IS NULL AND first <= ?3)";
    let covered = sqlx::query_scalar(sql).bind(owner.id).bind(session.id).bind(last);
    covered.fetch_one(connection).await.doing(COMPACT)
}

/// Returns the layer above all rows at a number.
pub(super) async fn next_layer(
    connection: &mut SqliteConnection,
    owner: Owner,
    session: &Session,
    seq: i64,
    doing: &'static str,
) -> Result<i64> {
    let sql = "SELECT coalesce(max(layer), 0) + 1 FROM message WHERE owner = ? AND session = ? AND seq = ?";
    let layer = sqlx::query_scalar(sql).bind(owner.id).bind(session.id).bind(seq);
    layer.fetch_one(connection).await.doing(doing)
}

async fn unfold(
    connection: &mut SqliteConnection,
    owner: Owner,
    session: &mut Session,
    summary: MessageId,
) -> Result<()> {
    let sql = "SELECT item, archived_by IS NOT NULL FROM message WHERE owner = ? AND id = ? AND session = ? \
         AND layer > 0 AND body IS NOT NULL";
    let found = sqlx::query_as::<_, (i64, bool)>(sql).bind(owner.id).bind(summary.0.as_bytes().as_slice());
    let found = found.bind(session.id).fetch_optional(&mut *connection).await.doing(COMPACT)?;
    let Some((item, is_archived)) = found else { return Ok(()) };
    if is_archived {
        return Err(Error::Conflict);
    }
    bring_back(connection, owner, session.id, summary.0.as_bytes(), COMPACT).await?;
    for sql in [
        "DELETE FROM value WHERE owner = ? AND place = 0 AND item = ?",
        "DELETE FROM message WHERE owner = ? AND item = ?",
    ] {
        sqlx::query(sql).bind(owner.id).bind(item).execute(&mut *connection).await.doing(COMPACT)?;
    }
    session.counters.revision += 1;
    recount(connection, owner, session, COMPACT).await
}

/// Puts the rows that a summary replaces into the window of its session again. A restored mark of another session may name it
/// too, which says nothing there.
pub(super) async fn bring_back(
    connection: &mut SqliteConnection,
    owner: Owner,
    session: i64,
    summary: &[u8],
    doing: &'static str,
) -> Result<()> {
    let sql = "UPDATE message INDEXED BY message_archived SET archived_by = NULL \
         WHERE owner = ? AND archived_by = ? AND session = ?";
    let update = sqlx::query(sql).bind(owner.id).bind(summary).bind(session).execute(connection).await;
    update.doing(doing).map(|_| ())
}
