//! Reading records.

use std::collections::HashMap;

use memory_core::error::Result;
use memory_core::filter::Filter;
use memory_core::id::RecordId;
use memory_core::record::StoredRecord;
use memory_core::scope::Scope;
use memory_core::time::Timestamp;
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

/// The order of a list of records, and behind what it begins.
#[derive(Clone, Copy, Debug)]
pub(super) enum Order {
    /// By id, behind one.
    ById { after: Option<RecordId> },
    /// The newest first, behind a time and id.
    NewestFirst { before: Option<(Timestamp, RecordId)> },
}

/// What is to be listed.
struct List {
    scope: Scope,
    filter: Filter,
    order: Order,
    count: i64,
}

/// Reads up to `count` records that match, in `order`.
pub(super) async fn page(
    server: &Postgres,
    scope: &Scope,
    filter: &Filter,
    order: Order,
    count: usize,
) -> Result<Vec<StoredRecord>> {
    let list = List { scope: scope.clone(), filter: filter.clone(), order, count: limit(count) };
    let records = server.run(Call::snapshot(READ), list, |connection, list| {
        Box::pin(async move {
            let leads = leads(&list.filter);
            let wall = sqlx::query(if leads.is_some() { BY_KEY } else { WALL }).bind(list.scope.key());
            wall.execute(&mut *connection).await.doing(READ)?;
            let mut sql = match (&leads, list.order) {
                (None, _) => listed(list)?,
                (Some(leads), Order::ById { .. }) => led_by_id(list, leads)?,
                (Some(leads), Order::NewestFirst { .. }) => led_by_time(list, leads)?,
            };
            let rows = sql.build().fetch_all(connection).await.doing(READ)?;
            rows.iter().map(|row| record(row, READ)).collect()
        })
    });
    records.await
}

fn listed(list: &List) -> Result<QueryBuilder<sqlx::Postgres>> {
    let text = "SELECT item.id, item.version, item.accessed_at, item.access_count, item.digest, item.body::text \
         FROM record AS item WHERE item.scope = {scope} \
         AND item.epoch = (SELECT epoch FROM owner WHERE truth = 1 AND scope = {scope}) AND item.body IS NOT NULL \
         AND {behind} AND {filter} ORDER BY {order} LIMIT {count}";
    statement(text, |sql, hole| {
        match hole {
            "scope" => sql.push_bind(list.scope.key().to_owned()),
            "behind" => list.push_behind(sql, "item.id"),
            "filter" => return push_filter(sql, FilteredTable::Records, &list.filter),
            "order" => sql.push(list.order.key()),
            _ => sql.push_bind(list.count),
        };
        Ok(())
    })
}

/// Returns the statement for a filter that `record_lead` answers: the first records of each lead, and of all these the first.
fn led_by_id(list: &List, leads: &[Vec<u8>]) -> Result<QueryBuilder<sqlx::Postgres>> {
    let text = "WITH here AS MATERIALIZED (SELECT epoch FROM owner WHERE truth = 1 AND scope = {scope}), \
         led AS MATERIALIZED (SELECT DISTINCT found.record FROM here CROSS JOIN unnest({leads}) AS sought (lead) \
         CROSS JOIN LATERAL (SELECT l.record FROM record_lead AS l \
         WHERE l.scope = {scope} AND l.epoch = here.epoch AND l.lead = sought.lead AND {behind} \
         ORDER BY l.record LIMIT {count}) AS found ORDER BY found.record LIMIT {count}) \
         SELECT item.id, item.version, item.accessed_at, item.access_count, item.digest, item.body::text \
         FROM here CROSS JOIN led CROSS JOIN LATERAL (SELECT * FROM record \
         WHERE record.scope = {scope} AND record.epoch = here.epoch AND record.id = led.record LIMIT 1) AS item \
         ORDER BY item.id";
    statement(text, |sql, hole| {
        match hole {
            "scope" => sql.push_bind(list.scope.key().to_owned()),
            "leads" => sql.push_bind(leads.to_vec()),
            "behind" => list.push_behind(sql, "l.record"),
            _ => sql.push_bind(list.count),
        };
        Ok(())
    })
}

/// Returns the statement for a filter that `record_lead` answers: all records of the leads, and of these the newest.
fn led_by_time(list: &List, leads: &[Vec<u8>]) -> Result<QueryBuilder<sqlx::Postgres>> {
    let text = "WITH here AS MATERIALIZED (SELECT epoch FROM owner WHERE truth = 1 AND scope = {scope}), \
         led AS MATERIALIZED (SELECT DISTINCT l.record FROM here CROSS JOIN unnest({leads}) AS sought (lead) \
         JOIN record_lead AS l ON l.scope = {scope} AND l.epoch = here.epoch AND l.lead = sought.lead) \
         SELECT item.id, item.version, item.accessed_at, item.access_count, item.digest, item.body::text \
         FROM here CROSS JOIN led CROSS JOIN LATERAL (SELECT * FROM record \
         WHERE record.scope = {scope} AND record.epoch = here.epoch AND record.id = led.record LIMIT 1) AS item \
         WHERE {behind} ORDER BY {order} LIMIT {count}";
    statement(text, |sql, hole| {
        match hole {
            "scope" => sql.push_bind(list.scope.key().to_owned()),
            "leads" => sql.push_bind(leads.to_vec()),
            "behind" => list.push_behind(sql, "item.id"),
            "order" => sql.push(list.order.key()),
            _ => sql.push_bind(list.count),
        };
        Ok(())
    })
}

impl Order {
    const fn key(self) -> &'static str {
        match self {
            Self::ById { .. } => "item.id",
            Self::NewestFirst { .. } => "item.at DESC, item.id DESC",
        }
    }
}

impl List {
    /// Adds the condition that a record, whose id stands in the column `id`, is behind where the list begins.
    fn push_behind<'s>(
        &self,
        sql: &'s mut QueryBuilder<sqlx::Postgres>,
        id: &'static str,
    ) -> &'s mut QueryBuilder<sqlx::Postgres> {
        match self.order {
            Order::ById { after: Some(after) } => sql.push(id).push(" > ").push_bind(after.0),
            Order::NewestFirst { before: Some((at, before)) } => {
                sql.push("(item.at, item.id) < (").push_bind(at.0).push(", ").push_bind(before.0).push(")")
            }
            Order::ById { after: None } | Order::NewestFirst { before: None } => sql.push("true"),
        }
    }
}
