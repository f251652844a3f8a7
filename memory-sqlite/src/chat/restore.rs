//! Restoring exported rows: everything is checked before anything is stored.

use std::collections::HashMap;

use memory_core::error::Result;
use memory_core::id::{MessageId, SessionId};
use memory_core::message::StoredMessage;
use memory_core::plan::chat::{Position, Restoration, Restored, There};
use memory_core::scope::Scope;
use memory_core::store::chat::{Appended, Fence};
use sqlx::{Row as _, SqliteConnection};

use super::append::known;
use super::compact::next_layer;
use super::encode::{insert, insert_values};
use super::session::{self, Session};
use crate::client::Sqlite;
use crate::error::Doing;
use crate::filter::{ValueRow, value_rows};
use crate::notes::{Mark, mark};
use crate::owner::{self, Owner, Truth};
use crate::row::uuid;

const RESTORE: &str = "restore messages";

type Row = Restored<Vec<ValueRow>>;

/// Restores rows of a session.
pub(super) async fn restore(
    file: &Sqlite,
    scope: &Scope,
    session: &SessionId,
    fence: Option<Fence>,
    rows: &[StoredMessage],
) -> Result<Appended> {
    let rows = rows.iter().map(|row| Restored::encode(session, row, value_rows)).collect::<Result<Vec<_>>>()?;
    let (scope, session, durability) = (scope.clone(), session.clone(), file.durability());
    let work = file.write(RESTORE, move |connection| {
        Box::pin(async move {
            let found = session::find(connection, &scope, &session, RESTORE).await?;
            let (kept, epoch) = (found.session, found.epoch());
            kept.counters.check(epoch, fence)?;
            if rows.is_empty() {
                return Ok(Appended { placements: Vec::new(), state: kept.state(&session, epoch)?, durability });
            }
            let owner = match found.owner {
                Some(owner) => owner,
                None => owner::create(connection, Truth::Chat, &scope, 0, RESTORE).await?,
            };
            let mut kept = match kept.id {
                0 => session::create(connection, owner, &session, RESTORE).await?,
                _ => kept,
            };
            let there = look(connection, owner, kept, &rows).await?;
            let plan = Restoration::plan(&there, &rows)?;
            store(connection, owner, &mut kept, &plan).await?;
            Ok(Appended { placements: plan.placements, state: kept.state(&session, epoch)?, durability })
        })
    });
    work.await
}

async fn look(connection: &mut SqliteConnection, owner: Owner, session: Session, rows: &[Row]) -> Result<There> {
    let ids = known(connection, owner, session.id, Restored::ids(rows).iter(), RESTORE).await?;
    let ids = ids.into_iter().map(|(id, (_, known))| (id, known)).collect();
    let (first, last) = Restored::span(rows);
    let sql = "SELECT seq, id FROM message WHERE owner = ? AND session = ? AND seq BETWEEN ? AND ? AND layer = 0";
    let found = sqlx::query(sql).bind(owner.id).bind(session.id).bind(first).bind(last);
    let mut messages = HashMap::new();
    for row in found.fetch_all(connection).await.doing(RESTORE)? {
        let id = MessageId(uuid(row.try_get(1).doing(RESTORE)?)?);
        messages.insert(row.try_get(0).doing(RESTORE)?, id);
    }
    Ok(There { ids, messages, head: session.counters.head })
}

async fn store(
    connection: &mut SqliteConnection,
    owner: Owner,
    session: &mut Session,
    plan: &Restoration<'_, Vec<ValueRow>>,
) -> Result<()> {
    let Restoration { placements: _, messages, summaries } = plan;
    insert(connection, owner, session.id, messages, RESTORE).await?;
    for (position, row) in summaries {
        let layer = next_layer(connection, owner, session, position.seq, RESTORE).await?;
        insert(connection, owner, session.id, &[(Position { layer, ..*position }, *row)], RESTORE).await?;
    }
    let all = messages.iter().chain(summaries).map(|(_, row)| *row);
    insert_values(connection, owner, all, RESTORE).await?;
    let from = session.counters.head.saturating_add(1);
    session.counters.restore(plan);
    session::save(connection, session, RESTORE).await?;
    let upto = session.counters.head;
    if from <= upto {
        mark(connection, Truth::Chat, owner, session.id, Mark::Appended { from, upto }).await?;
    }
    Ok(())
}
