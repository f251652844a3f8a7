//! Reading records.

use std::collections::HashMap;

use memory_core::Scalar;
use memory_core::error::Result;
use memory_core::filter::Filter;
use memory_core::id::RecordId;
use memory_core::record::StoredRecord;
use memory_core::scope::Scope;
use sqlx::{QueryBuilder, Sqlite as Sqlite3};

use super::row::record;
use crate::client::Sqlite;
use crate::error::Doing;
use crate::filter::{Bound, Lead, Place, push_filter};
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
    let mut sql = QueryBuilder::default();
    let after = after.map(|id| id.0.as_bytes().to_vec()).unwrap_or_default();
    match Lead::of(filter) {
        Some(lead) => push_led(&mut sql, scope, &lead, after, limit(count)),
        None => push_scan(&mut sql, scope, filter, after, limit(count))?,
    }
    let work = file.read(READ, move |connection| {
        Box::pin(async move {
            let rows = sql.build().fetch_all(connection).await.doing(READ)?;
            rows.iter().map(|row| record(row, READ)).collect()
        })
    });
    work.await
}

fn push_scan(
    sql: &mut QueryBuilder<Sqlite3>,
    scope: &Scope,
    filter: &Filter,
    after: Vec<u8>,
    count: i64,
) -> Result<()> {
    sql.push(
        "SELECT item.id, item.version, item.accessed_at, item.access_count, item.digest, item.body \
         FROM record AS item INDEXED BY record_id \
         WHERE item.owner = (SELECT id FROM owner WHERE truth = 1 AND buried = 0 AND key = ",
    );
    sql.push_bind(scope.key().to_owned()).push(") AND item.id > ").push_bind(after);
    // Within a case, because SQLite drops all other conditions beside one that is always false, and the index with them.
    sql.push(" AND CASE WHEN ");
    push_filter(sql, Place::Records, filter)?;
    sql.push(" THEN 1 ELSE 0 END ORDER BY item.id LIMIT ").push_bind(count);
    Ok(())
}

/// Adds the statement for a filter that indexes answer. What makes those indexes usable is said in their own words.
fn push_led(sql: &mut QueryBuilder<Sqlite3>, scope: &Scope, lead: &Lead<'_>, after: Vec<u8>, count: i64) {
    let owner = |sql: &mut QueryBuilder<Sqlite3>| {
        sql.push("(SELECT id FROM owner WHERE truth = 1 AND buried = 0 AND key = ");
        sql.push_bind(scope.key().to_owned()).push(")");
    };
    sql.push("SELECT item.id, item.version, item.accessed_at, item.access_count, item.digest, item.body FROM (");
    sql.push("SELECT found.item FROM value AS found INDEXED BY value_lead WHERE found.owner = ");
    owner(sql);
    sql.push(" AND found.place = 1 AND found.field IN (2, 5) AND found.field = ").push_bind(lead.list());
    sql.push(" AND found.value");
    push_among(sql, lead.values());
    if lead.is_session() {
        // The first session of a record has a column.
        sql.push(" UNION SELECT first.item FROM (SELECT item FROM record INDEXED BY record_session WHERE owner = ");
        owner(sql);
        sql.push(" AND session IS NOT NULL AND session");
        push_among(sql, lead.values());
        sql.push(" AND id > ").push_bind(after.clone()).push(" ORDER BY id LIMIT ").push_bind(count).push(") AS first");
    } else {
        // Each record once, whichever of its sources are sought.
        sql.push(" GROUP BY found.item");
    }
    sql.push(") AS led CROSS JOIN record AS item ON item.item = led.item WHERE item.id > ").push_bind(after);
    sql.push(" ORDER BY item.id LIMIT ").push_bind(count);
}

fn push_among(sql: &mut QueryBuilder<Sqlite3>, values: &[Scalar]) {
    sql.push(" IN (");
    for (place, value) in values.iter().enumerate() {
        sql.push(if place == 0 { "" } else { ", " }).push_bind(Bound(value));
    }
    sql.push(")");
}
