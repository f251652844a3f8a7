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

/// Deletes up to `count` records that have expired at `now`, soonest first. An owner for whom that fails is in nobody's way: the
/// first error is returned behind the last owner.
///
/// The deleting statement checks expiry again, so that a record put again meanwhile is not lost.
pub(crate) async fn sweep(server: &Postgres, now: Timestamp, count: usize) -> Result<u64> {
    let due = server.run(Call::statement(DELETE), (), move |connection, ()| {
        Box::pin(async move {
            let sql = "SELECT scope, record FROM due WHERE at <= $1 ORDER BY at, scope, record LIMIT $2";
            let due = sqlx::query_as::<_, (String, Uuid)>(sql).bind(now.0).bind(limit(count));
            due.fetch_all(connection).await.doing(DELETE)
        })
    });
    let mut owners: BTreeMap<String, Vec<Uuid>> = BTreeMap::new();
    for (scope, record) in due.await? {
        owners.entry(scope).or_default().push(record);
    }
    let (mut removed, mut failed) = (0, None);
    for (scope, ids) in owners {
        match remove(server, &scope, ids, now).await {
            Ok(count) => removed += count,
            Err(error) => failed = failed.or(Some(error)),
        }
    }
    failed.map_or(Ok(removed), Err)
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
