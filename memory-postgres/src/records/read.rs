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
use crate::filter::{FilteredTable, leads, push_filter};
use crate::number::limit;
use crate::statement::statement;

const READ: &str = "read records";

const WALL: &str = "SELECT set_config('memory.scope', $1, true)";

/// Sets the owner for row-level security, and makes the rest of the transaction use key indexes, whatever the statistics say.
const BY_KEY: &str = "SELECT set_config('memory.scope', $1, true), set_config('enable_seqscan', 'off', true), \
     set_config('enable_bitmapscan', 'off', true)";

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
            let leads = leads(&scan.filter);
            let wall = sqlx::query(if leads.is_some() { BY_KEY } else { WALL }).bind(scan.scope.key());
            wall.execute(&mut *connection).await.doing(READ)?;
            let mut sql = match &leads {
                Some(leads) => led(scan, leads)?,
                None => scanned(scan)?,
            };
            let rows = sql.build().fetch_all(connection).await.doing(READ)?;
            rows.iter().map(|row| record(row, READ)).collect()
        })
    });
    records.await
}

fn scanned(scan: &Scan) -> Result<QueryBuilder<sqlx::Postgres>> {
    let text = "SELECT item.id, item.version, item.accessed_at, item.access_count, item.digest, item.body::text \
         FROM record AS item WHERE item.scope = {scope} \
         AND item.epoch = (SELECT epoch FROM owner WHERE truth = 1 AND scope = {scope}) AND item.body IS NOT NULL \
         AND {after} AND {filter} ORDER BY item.id LIMIT {count}";
    statement(text, |sql, hole| {
        match hole {
            "scope" => sql.push_bind(scan.scope.key().to_owned()),
            "after" => push_after(sql, "item.id", scan),
            "filter" => return push_filter(sql, FilteredTable::Records, &scan.filter),
            _ => sql.push_bind(scan.count),
        };
        Ok(())
    })
}

/// Returns the statement for a filter that `record_lead` answers: the first records of each lead, and of all these the first.
fn led(scan: &Scan, leads: &[Vec<u8>]) -> Result<QueryBuilder<sqlx::Postgres>> {
    let text = "WITH here AS MATERIALIZED (SELECT epoch FROM owner WHERE truth = 1 AND scope = {scope}), \
         led AS MATERIALIZED (SELECT DISTINCT found.record FROM here CROSS JOIN unnest({leads}) AS sought (lead) \
         CROSS JOIN LATERAL (SELECT l.record FROM record_lead AS l \
         WHERE l.scope = {scope} AND l.epoch = here.epoch AND l.lead = sought.lead AND {after} \
         ORDER BY l.record LIMIT {count}) AS found ORDER BY found.record LIMIT {count}) \
         SELECT item.id, item.version, item.accessed_at, item.access_count, item.digest, item.body::text \
         FROM here CROSS JOIN led CROSS JOIN LATERAL (SELECT * FROM record \
         WHERE record.scope = {scope} AND record.epoch = here.epoch AND record.id = led.record LIMIT 1) AS item \
         ORDER BY item.id";
    statement(text, |sql, hole| {
        match hole {
            "scope" => sql.push_bind(scan.scope.key().to_owned()),
            "leads" => sql.push_bind(leads.to_vec()),
            "after" => push_after(sql, "l.record", scan),
            _ => sql.push_bind(scan.count),
        };
        Ok(())
    })
}

/// Adds the condition that a column is greater than the id to scan after.
fn push_after<'s>(
    sql: &'s mut QueryBuilder<sqlx::Postgres>,
    column: &'static str,
    scan: &Scan,
) -> &'s mut QueryBuilder<sqlx::Postgres> {
    match scan.after {
        Some(after) => sql.push(column).push(" > ").push_bind(after.0),
        None => sql.push("true"),
    }
}
