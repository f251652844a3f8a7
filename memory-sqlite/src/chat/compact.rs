//! Changes of the window.

use memory_core::chat::{Compaction, SessionState};
use memory_core::error::{Error, Result};
use memory_core::id::{MessageId, SeqRange, SessionId};
use memory_core::scope::Scope;
use sqlx::SqliteConnection;

use super::append::{id_conflict, known};
use super::encode::{Encoded, Position, insert, insert_values};
use super::session::{self, Session, recount};
use crate::client::Sqlite;
use crate::error::Doing;
use crate::owner::Owner;

const COMPACT: &str = "change the window";

/// A change, with its summary encoded before the writer's turn.
enum Change {
    Fold { span: SeqRange, ids: Vec<MessageId>, summary: Encoded },
    Unfold { summary: MessageId },
}

/// Changes the window of a session.
pub(super) async fn compact(
    file: &Sqlite,
    scope: &Scope,
    session: &SessionId,
    change: &Compaction,
) -> Result<SessionState> {
    let change = match change {
        Compaction::Fold { span, ids, summary } => {
            Change::Fold { span: *span, ids: ids.clone(), summary: Encoded::new(session, summary)? }
        }
        Compaction::Unfold { summary } => Change::Unfold { summary: *summary },
    };
    let (scope, session) = (scope.clone(), session.clone());
    let work = file.write(COMPACT, move |connection| {
        Box::pin(async move {
            let found = session::find(connection, &scope, &session, COMPACT).await?;
            let mut kept = found.session;
            match (found.owner, &change) {
                (Some(owner), Change::Fold { span, ids, summary }) => {
                    fold(connection, owner, &mut kept, *span, ids, summary).await?;
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
    span: SeqRange,
    ids: &[MessageId],
    summary: &Encoded,
) -> Result<()> {
    if let Some(there) = known(connection, owner, std::iter::once(&summary.id), COMPACT).await?.get(&summary.id) {
        let is_repeat = there.is_summary && !there.is_forgotten && there.digest == summary.digest;
        return if is_repeat { Ok(()) } else { Err(id_conflict(summary.id)) };
    }
    let (Ok(first), Ok(last)) = (i64::try_from(span.first.0), i64::try_from(span.last.0)) else {
        return Err(Error::Conflict);
    };
    if first == 0 || first > last || last > session.head || ids.is_empty() {
        return Err(Error::Conflict);
    }
    let rows = window(connection, owner, session, first, last).await?;
    let is_cut = rows.iter().any(|row| row.first.is_some_and(|start| start < first));
    if is_cut || !rows.iter().map(|row| row.id.as_slice()).eq(ids.iter().map(|id| id.0.as_bytes().as_slice())) {
        return Err(Error::Conflict);
    }
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
    let position = Position { seq: last, layer, first: Some(first), archived_by: None };
    insert(connection, owner, session.id, &[(position, summary)], COMPACT).await?;
    insert_values(connection, owner, std::iter::once(summary), COMPACT).await?;
    session.revision += 1;
    recount(connection, owner, session, COMPACT).await
}

/// A row of the window: its id, and the first number it covers if it is a summary.
struct Active {
    id: Vec<u8>,
    first: Option<i64>,
}

async fn window(
    connection: &mut SqliteConnection,
    owner: Owner,
    session: &Session,
    first: i64,
    last: i64,
) -> Result<Vec<Active>> {
    let sql = "SELECT id, first FROM message INDEXED BY message_active WHERE owner = ? AND session = ? \
         AND seq BETWEEN ? AND ? AND archived_by IS NULL AND body IS NOT NULL ORDER BY seq, layer";
    let rows = sqlx::query_as::<_, (Vec<u8>, Option<i64>)>(sql).bind(owner.id).bind(session.id).bind(first).bind(last);
    let rows = rows.fetch_all(connection).await.doing(COMPACT)?;
    Ok(rows.into_iter().map(|(id, first)| Active { id, first }).collect())
}

/// Returns whether an active summary behind `last` covers it too: then a span that ends there cuts that summary.
async fn is_covered(connection: &mut SqliteConnection, owner: Owner, session: &Session, last: i64) -> Result<bool> {
    let sql = "SELECT EXISTS (SELECT 1 FROM message INDEXED BY message_summary WHERE owner = ?1 AND session = ?2 \
         AND seq > ?3 AND layer > 0 AND body IS NOT NULL AND archived_by IS NULL AND first <= ?3)";
    let covered = sqlx::query_scalar(sql).bind(owner.id).bind(session.id).bind(last);
    covered.fetch_one(connection).await.doing(COMPACT)
}

/// Returns the layer above all that stands at a number.
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
    bring_back(connection, owner, summary.0.as_bytes(), COMPACT).await?;
    for sql in [
        "DELETE FROM value WHERE owner = ? AND place = 0 AND item = ?",
        "DELETE FROM message WHERE owner = ? AND item = ?",
    ] {
        sqlx::query(sql).bind(owner.id).bind(item).execute(&mut *connection).await.doing(COMPACT)?;
    }
    session.revision += 1;
    recount(connection, owner, session, COMPACT).await
}

/// Puts what a summary stands for into the window again.
pub(super) async fn bring_back(
    connection: &mut SqliteConnection,
    owner: Owner,
    summary: &[u8],
    doing: &'static str,
) -> Result<()> {
    let sql = "UPDATE message SET archived_by = NULL WHERE owner = ? AND archived_by = ?";
    let update = sqlx::query(sql).bind(owner.id).bind(summary).execute(connection).await;
    update.doing(doing).map(|_| ())
}
