//! Reading records.

use std::collections::HashMap;

use memory_core::error::Result;
use memory_core::filter::Filter;
use memory_core::id::RecordId;
use memory_core::record::StoredRecord;
use memory_core::scope::Scope;
use sqlx::QueryBuilder;
use uuid::Uuid;

use super::row::record;
use crate::client::{Call, Postgres};
use crate::error::{Attempt, Doing};
use crate::filter::{Place, push_filter};
use crate::number::limit;

const READ: &str = "read records";

/// Reads records by id, in the order of `ids`.
pub(super) async fn get(server: &Postgres, scope: &Scope, ids: &[RecordId]) -> Result<Vec<StoredRecord>> {
    if ids.is_empty() {
        return Ok(Vec::new());
    }
    let list: Vec<Uuid> = ids.iter().map(|id| id.0).collect();
    let found = server.run(Call::statement(READ).rows(ids.len()), (scope.clone(), list), |connection, (scope, ids)| {
        Box::pin(async move {
            let sql = "SELECT id, version, accessed_at, access_count, digest, body FROM get_records($1, $2)";
            let rows = sqlx::query(sql).bind(scope.key()).bind(ids).fetch_all(connection).await.doing(READ)?;
            let records = rows.iter().map(|row| record(row, READ).map(|record| (record.record.id, record)));
            records.collect::<Attempt<HashMap<_, _>>>()
        })
    });
    let found = found.await?;
    Ok(ids.iter().filter_map(|id| found.get(id).cloned()).collect())
}

/// What is to be scanned.
struct Scan {
    scope: Scope,
    filter: Filter,
    after: Option<RecordId>,
    count: i64,
}

/// Reads up to `count` records after the id `after` that match, in order.
pub(super) async fn scan(
    server: &Postgres,
    scope: &Scope,
    filter: &Filter,
    after: Option<RecordId>,
    count: usize,
) -> Result<Vec<StoredRecord>> {
    let scan = Scan { scope: scope.clone(), filter: filter.clone(), after, count: limit(count) };
    let records = server.run(Call::snapshot(READ), scan, |connection, scan| {
        Box::pin(async move {
            let wall = sqlx::query("SELECT set_config('memory.scope', $1, true)").bind(scan.scope.key());
            wall.execute(&mut *connection).await.doing(READ)?;
            let mut sql = QueryBuilder::default();
            push_scan(&mut sql, scan)?;
            let rows = sql.build().fetch_all(connection).await.doing(READ)?;
            rows.iter().map(|row| record(row, READ)).collect()
        })
    });
    records.await
}

fn push_scan(sql: &mut QueryBuilder<sqlx::Postgres>, scan: &Scan) -> Result<()> {
    sql.push(
        "SELECT item.id, item.version, item.accessed_at, item.access_count, item.digest, item.body::text \
         FROM record AS item WHERE item.scope = ",
    );
    sql.push_bind(scan.scope.key().to_owned());
    sql.push(" AND item.epoch = (SELECT epoch FROM owner WHERE truth = 1 AND scope = ");
    sql.push_bind(scan.scope.key().to_owned()).push(") AND item.body IS NOT NULL");
    if let Some(after) = scan.after {
        sql.push(" AND item.id > ").push_bind(after.0);
    }
    sql.push(" AND ");
    push_filter(sql, Place::Records, &scan.filter)?;
    sql.push(" ORDER BY item.id LIMIT ").push_bind(scan.count);
    Ok(())
}
