//! Restoring exported rows: everything is checked before anything is stored.

use memory_core::error::Result;
use memory_core::id::{MessageId, SessionId};
use memory_core::message::StoredMessage;
use memory_core::plan::chat::{Position, Restoration, Restored, There};
use memory_core::scope::Scope;
use memory_core::store::chat::{Appended, Fence};
use sqlx::postgres::PgConnection;
use uuid::Uuid;

use super::append::known;
use super::compact::next_layer;
use super::encode::insert;
use super::session::{self, OpenSession, save};
use crate::client::{Call, Postgres};
use crate::error::{Attempt, Doing};
use crate::filter::facets;

const RESTORE: &str = "restore messages";

type Row = Restored<Option<String>>;

/// Restores rows of a session.
pub(super) async fn restore(
    server: &Postgres,
    scope: &Scope,
    session: &SessionId,
    fence: Option<Fence>,
    rows: &[StoredMessage],
) -> Result<Appended> {
    let rows = rows.iter().map(|row| Restored::encode(session, row, facets)).collect::<Result<Vec<_>>>()?;
    let (call, durability) = (Call::transaction(RESTORE).rows(rows.len()), server.truth().await?);
    let rows = (scope.clone(), session.clone(), rows);
    let restored = server.run(call, rows, move |connection, (scope, session, rows)| {
        Box::pin(async move {
            let mut place = session::enter(connection, scope, session, RESTORE).await?;
            place.session.counters.check(place.session.epoch, fence)?;
            if rows.is_empty() {
                return Ok(Appended { placements: Vec::new(), state: place.session.state(session)?, durability });
            }
            let there = look(connection, &place, rows).await?;
            let plan = Restoration::plan(&there, rows)?;
            session::own(connection, &mut place, RESTORE).await?;
            store(connection, &mut place, &plan).await?;
            Ok(Appended { placements: plan.placements, state: place.session.state(session)?, durability })
        })
    });
    restored.await
}

async fn look(connection: &mut PgConnection, place: &OpenSession<'_>, rows: &[Row]) -> Attempt<There> {
    let ids = known(connection, place, &Restored::ids(rows), RESTORE).await?;
    let (first, last) = Restored::span(rows);
    let sql = "SELECT seq, id FROM message WHERE scope = $1 AND epoch = $2 AND session = $3 AND seq BETWEEN $4 AND $5 \
         AND layer = 0";
    let found = sqlx::query_as::<_, (i64, Uuid)>(sql).bind(place.scope.key()).bind(place.session.epoch);
    let found = found.bind(place.name.key()).bind(first).bind(last).fetch_all(connection).await.doing(RESTORE)?;
    let messages = found.into_iter().map(|(seq, id)| (seq, MessageId(id))).collect();
    Ok(There { ids, messages, head: place.session.counters.head })
}

async fn store(
    connection: &mut PgConnection,
    place: &mut OpenSession<'_>,
    plan: &Restoration<'_, Option<String>>,
) -> Attempt<()> {
    let Restoration { placements: _, messages, summaries } = plan;
    insert(connection, place, messages, RESTORE).await?;
    for (position, row) in summaries {
        let layer = next_layer(connection, place, position.seq, RESTORE).await?;
        insert(connection, place, &[(Position { layer, ..*position }, *row)], RESTORE).await?;
    }
    let from = place.session.counters.head.saturating_add(1);
    place.session.counters.restore(plan);
    save(connection, place, RESTORE).await?;
    let upto = place.session.counters.head;
    if from > upto {
        return Ok(());
    }
    let note = sqlx::query("SELECT note_appended($1, $2, $3, $4, $5)").bind(place.scope.key());
    let note = note.bind(place.session.epoch).bind(place.name.key()).bind(from).bind(upto);
    note.execute(connection).await.doing(RESTORE).map(|_| ())
}
