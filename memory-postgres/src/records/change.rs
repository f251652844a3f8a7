//! Access statistics, deletion and expiry.

use std::collections::BTreeMap;

use memory_core::error::{Error, Result};
use memory_core::id::RecordId;
use memory_core::scope::Scope;
use memory_core::time::Timestamp;
use uuid::Uuid;

use crate::client::{Call, Postgres};
use crate::error::Doing;
use crate::number::{bound, limit, loaded};
use crate::owner::scope_of;

const DELETE: &str = "delete records";

/// After so many failures in a row that may pass, a sweep takes the server as away, for each may take as long as a deadline.
const AWAY: usize = 3;

/// Counts an access of records at `at`: once for each record and time, and only forwards in time.
pub(super) async fn touch(server: &Postgres, scope: &Scope, ids: &[RecordId], at: Timestamp) -> Result<()> {
    if ids.is_empty() {
        return Ok(());
    }
    let (ids, doing): (Vec<Uuid>, _) = (ids.iter().map(|id| id.0).collect(), "note accesses");
    let touched =
        server.run(Call::statement(doing).rows(ids.len()), (scope.clone(), ids), move |connection, (scope, ids)| {
            Box::pin(async move {
                let touch = sqlx::query("SELECT touch_records($1, $2, $3)").bind(scope.key()).bind(ids).bind(at.0);
                touch.execute(connection).await.doing(doing).map(|_| ())
            })
        });
    touched.await
}

/// Records that are to be deleted.
struct Doomed {
    scope: Scope,
    ids: Vec<Uuid>,
    versions: Vec<i64>,
}

/// Deletes records up to the versions given, and returns how many there were.
pub(super) async fn delete(server: &Postgres, scope: &Scope, records: &[(RecordId, u64)]) -> Result<u64> {
    if records.is_empty() {
        return Ok(0);
    }
    let (ids, versions) = records.iter().map(|(id, version)| (id.0, bound(*version))).unzip();
    let doomed = Doomed { scope: scope.clone(), ids, versions };
    let removed = server.run(Call::statement(DELETE).rows(records.len()), doomed, move |connection, doomed| {
        Box::pin(async move {
            let Doomed { scope, ids, versions } = doomed;
            let delete = sqlx::query_scalar::<_, Option<i64>>("SELECT delete_records($1, $2, $3)").bind(scope.key());
            delete.bind(ids).bind(versions).fetch_one(connection).await.doing(DELETE)
        })
    });
    loaded(removed.await?.ok_or(Error::Conflict)?)
}

/// Deletes up to `count` records that have expired at `now`, soonest first. Owners for whom that fails are passed over, and the
/// others are swept all the same. If nothing was deleted, the first error is returned; else it is only logged, because the next
/// call meets it again. It ends early where the server seems to be away.
///
/// The deleting statement checks expiry again, so that a record put again meanwhile is not lost.
pub(crate) async fn sweep(server: &Postgres, now: Timestamp, count: usize) -> Result<u64> {
    let (mut removed, mut failed, mut first, mut in_a_row) = (0, Vec::new(), None, 0);
    'pages: loop {
        let passed_over = failed.len();
        let owners = match due(server, now, limit(count) - bound(removed), failed.clone()).await {
            Ok(owners) => owners,
            Err(error) => {
                first.get_or_insert(error);
                break;
            }
        };
        for (scope, ids) in owners {
            match remove(server, &scope, ids, now).await {
                Ok(deleted) => (removed, in_a_row) = (removed + deleted, 0),
                Err(error) => {
                    in_a_row = if error.is_retryable() { in_a_row + 1 } else { 0 };
                    first.get_or_insert(error);
                    failed.push(scope);
                    if in_a_row == AWAY {
                        break 'pages;
                    }
                }
            }
        }
        // Those who failed took the places of others, but not without end.
        if failed.len() == passed_over || failed.len() >= count {
            break;
        }
    }
    match first {
        Some(error) if removed == 0 => Err(error),
        Some(error) => {
            tracing::warn!(%error, "expired records of an owner could not be deleted");
            Ok(removed)
        }
        None => Ok(removed),
    }
}

/// Returns up to `most` records that have expired at `now`, soonest first, by their owners; none of those who `failed`.
async fn due(server: &Postgres, now: Timestamp, most: i64, failed: Vec<String>) -> Result<BTreeMap<String, Vec<Uuid>>> {
    let due = server.run(Call::statement(DELETE), failed, move |connection, failed| {
        Box::pin(async move {
            let sql = "SELECT scope, record FROM due WHERE at <= $1 AND scope <> ALL ($2) \
                 ORDER BY at, scope, record LIMIT $3";
            let due = sqlx::query_as::<_, (String, Uuid)>(sql).bind(now.0).bind(failed).bind(most);
            due.fetch_all(connection).await.doing(DELETE)
        })
    });
    let mut owners: BTreeMap<String, Vec<Uuid>> = BTreeMap::new();
    for (scope, record) in due.await? {
        owners.entry(scope).or_default().push(record);
    }
    Ok(owners)
}

/// Deletes those of the records that have expired at `now`.
async fn remove(server: &Postgres, scope: &str, ids: Vec<Uuid>, now: Timestamp) -> Result<u64> {
    let (call, doomed) = (Call::statement(DELETE).rows(ids.len()), (scope_of(scope)?, ids));
    let removed = server.run(call, doomed, move |connection, (scope, ids)| {
        Box::pin(async move {
            let delete = sqlx::query_scalar::<_, i64>("SELECT remove_records($1, $2, $3)").bind(scope.key());
            delete.bind(ids).bind(now.0).fetch_one(connection).await.doing(DELETE)
        })
    });
    loaded(removed.await?)
}
