//! Reading records.

use std::collections::HashMap;

use memory_core::error::Result;
use memory_core::filter::Filter;
use memory_core::id::RecordId;
use memory_core::record::StoredRecord;
use memory_core::scope::Scope;
use sqlx::QueryBuilder;

use super::row::record;
use crate::client::Sqlite;
use crate::error::Doing;
use crate::filter::{Place, push_filter};
use crate::number::{limit, list};

const READ: &str = "read records";

/// Reads records by id, in the order of `ids`.
pub(super) async fn get(file: &Sqlite, scope: &Scope, ids: &[RecordId]) -> Result<Vec<StoredRecord>> {
    if ids.is_empty() {
        return Ok(Vec::new());
    }
    let (scope, list) = (scope.clone(), list(ids.iter().map(|id| id.0.as_bytes())));
    let work = file.read(READ, move |connection| {
        Box::pin(async move {
            let sql = "SELECT id, version, accessed_at, access_count, digest, body FROM record \
                 WHERE owner = (SELECT id FROM owner WHERE truth = 1 AND key = ? AND buried = 0) \
                 AND id IN (SELECT unhex(value) FROM json_each(?))";
            let rows = sqlx::query(sql).bind(scope.key()).bind(list).fetch_all(connection).await.doing(READ)?;
            let records = rows.iter().map(|row| record(row, READ).map(|record| (record.record.id, record)));
            records.collect::<Result<HashMap<_, _>>>()
        })
    });
    let found = work.await?;
    Ok(ids.iter().filter_map(|id| found.get(id).cloned()).collect())
}

/// Reads up to `count` records after the id `after` that match, in order.
pub(super) async fn scan(
    file: &Sqlite,
    scope: &Scope,
    filter: &Filter,
    after: Option<RecordId>,
    count: usize,
) -> Result<Vec<StoredRecord>> {
    let mut sql = QueryBuilder::new(
        "SELECT item.id, item.version, item.accessed_at, item.access_count, item.digest, item.body \
         FROM record AS item INDEXED BY record_id \
         WHERE item.owner = (SELECT id FROM owner WHERE truth = 1 AND buried = 0 AND key = ",
    );
    sql.push_bind(scope.key()).push(") AND item.id > ");
    sql.push_bind(after.map(|id| id.0.as_bytes().to_vec()).unwrap_or_default());
    // Within a case, because SQLite drops all other conditions beside one that is always false, and the index with them.
    sql.push(" AND CASE WHEN ");
    push_filter(&mut sql, Place::Records, filter)?;
    sql.push(" THEN 1 ELSE 0 END ORDER BY item.id LIMIT ").push_bind(limit(count));
    let work = file.read(READ, move |connection| {
        Box::pin(async move {
            let rows = sql.build().fetch_all(connection).await.doing(READ)?;
            rows.iter().map(|row| record(row, READ)).collect()
        })
    });
    work.await
}
