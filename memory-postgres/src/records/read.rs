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
use crate::filter::{Place, leads, push_filter};
use crate::number::limit;

const READ: &str = "read records";

const WALL: &str = "SELECT set_config('memory.scope', $1, true)";

/// Names the owner, and has all that follows in the transaction go by keys, whatever the server knows of the tables.
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
            let mut sql = QueryBuilder::default();
            match leads {
                Some(leads) => push_led(&mut sql, scan, leads),
                None => push_scan(&mut sql, scan)?,
            }
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

/// Adds the statement for a filter that `record_lead` answers: of each lead the first records, and of all these the first.
fn push_led(sql: &mut QueryBuilder<sqlx::Postgres>, scan: &Scan, leads: Vec<Vec<u8>>) {
    let scope = scan.scope.key();
    sql.push("WITH here AS MATERIALIZED (SELECT epoch FROM owner WHERE truth = 1 AND scope = ")
        .push_bind(scope.to_owned());
    sql.push("), led AS MATERIALIZED (SELECT DISTINCT found.record FROM here CROSS JOIN unnest(").push_bind(leads);
    sql.push(") AS sought (lead) CROSS JOIN LATERAL (SELECT l.record FROM record_lead AS l WHERE l.scope = ");
    sql.push_bind(scope.to_owned()).push(" AND l.epoch = here.epoch AND l.lead = sought.lead");
    if let Some(after) = scan.after {
        sql.push(" AND l.record > ").push_bind(after.0);
    }
    sql.push(" ORDER BY l.record LIMIT ").push_bind(scan.count);
    sql.push(") AS found ORDER BY found.record LIMIT ").push_bind(scan.count);
    sql.push(
        ") SELECT item.id, item.version, item.accessed_at, item.access_count, item.digest, item.body::text \
         FROM here CROSS JOIN led CROSS JOIN LATERAL (SELECT * FROM record WHERE record.scope = ",
    );
    sql.push_bind(scope.to_owned()).push(" AND record.epoch = here.epoch AND record.id = led.record LIMIT 1");
    sql.push(") AS item ORDER BY item.id");
}
