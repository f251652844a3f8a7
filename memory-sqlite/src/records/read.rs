//! Reading records.

use std::collections::HashMap;

use memory_core::Scalar;
use memory_core::error::Result;
use memory_core::filter::Filter;
use memory_core::id::RecordId;
use memory_core::record::StoredRecord;
use memory_core::scope::Scope;
use memory_core::time::Timestamp;
use sqlx::{QueryBuilder, Sqlite as Sqlite3};

use super::row::record;
use crate::client::Sqlite;
use crate::error::Doing;
use crate::filter::{Bound, FilteredTable, Lead, push_filter};
use crate::number::{limit, list};
use crate::statement::statement;

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

/// The order of a list of records, and behind what it begins.
#[derive(Clone, Copy, Debug)]
pub(super) enum Order {
    /// By id, behind one.
    ById { after: Option<RecordId> },
    /// The newest first, behind a time and id.
    NewestFirst { before: Option<(Timestamp, RecordId)> },
}

impl Order {
    /// Adds the condition that a record stands behind where the list begins.
    fn push_behind(self, sql: &mut QueryBuilder<Sqlite3>) -> &mut QueryBuilder<Sqlite3> {
        match self {
            Self::ById { after } => {
                let after = after.map(|id| id.0.as_bytes().to_vec()).unwrap_or_default();
                sql.push("item.id > ").push_bind(after)
            }
            Self::NewestFirst { before: None } => sql.push("true"),
            Self::NewestFirst { before: Some((at, id)) } => sql
                .push("(item.at, item.id) < (")
                .push_bind(at.0)
                .push(", ")
                .push_bind(id.0.as_bytes().to_vec())
                .push(")"),
        }
    }

    const fn key(self) -> &'static str {
        match self {
            Self::ById { .. } => "item.id",
            Self::NewestFirst { .. } => "item.at DESC, item.id DESC",
        }
    }

    const fn index(self) -> &'static str {
        match self {
            Self::ById { .. } => "record_id",
            Self::NewestFirst { .. } => "record_at",
        }
    }
}

/// Reads up to `count` records that match, in `order`.
pub(super) async fn page(
    file: &Sqlite,
    scope: &Scope,
    filter: &Filter,
    order: Order,
    count: usize,
) -> Result<Vec<StoredRecord>> {
    let mut sql = match Lead::of(filter) {
        Some(lead) => led(scope, &lead, order, limit(count))?,
        None => listed(scope, filter, order, limit(count))?,
    };
    let work = file.read(READ, move |connection| {
        Box::pin(async move {
            let rows = sql.build().fetch_all(connection).await.doing(READ)?;
            rows.iter().map(|row| record(row, READ)).collect()
        })
    });
    work.await
}

fn listed(scope: &Scope, filter: &Filter, order: Order, count: i64) -> Result<QueryBuilder<Sqlite3>> {
    // In a CASE, because SQLite drops all other conditions next to one that is always false, and with them the index.
    let text = "SELECT item.id, item.version, item.accessed_at, item.access_count, item.digest, item.body \
         FROM record AS item INDEXED BY {index} \
         WHERE item.owner = (SELECT id FROM owner WHERE truth = 1 AND buried = 0 AND key = {scope}) \
         AND {behind} AND CASE WHEN {filter} THEN 1 ELSE 0 END ORDER BY {order} LIMIT {count}";
    statement(text, |sql, hole| {
        match hole {
            "index" => sql.push(order.index()),
            "scope" => sql.push_bind(scope.key().to_owned()),
            "behind" => order.push_behind(sql),
            "filter" => return push_filter(sql, FilteredTable::Records, filter),
            "order" => sql.push(order.key()),
            _ => sql.push_bind(count),
        };
        Ok(())
    })
}

/// Returns the statement for a filter that SQL indexes answer. Its conditions repeat those of the partial indexes literally,
/// so that SQLite can use these.
fn led(scope: &Scope, lead: &Lead<'_>, order: Order, count: i64) -> Result<QueryBuilder<Sqlite3>> {
    // The first session of a record has a column. For sources, each record is listed once, however many of them match.
    let text = if lead.is_session() {
        "SELECT item.id, item.version, item.accessed_at, item.access_count, item.digest, item.body FROM (\
         SELECT found.item FROM value AS found INDEXED BY value_lead \
         WHERE found.owner = (SELECT id FROM owner WHERE truth = 1 AND buried = 0 AND key = {scope}) \
         AND found.place = 1 AND found.field IN (2, 5) AND found.field = {list} AND found.value IN ({values}) \
         UNION SELECT first.item FROM (SELECT item.item FROM record AS item INDEXED BY record_session \
         WHERE item.owner = (SELECT id FROM owner WHERE truth = 1 AND buried = 0 AND key = {scope}) \
         AND item.session IS NOT NULL AND item.session IN ({values}) AND {behind} ORDER BY {order} LIMIT {count}) AS first\
         ) AS led CROSS JOIN record AS item ON item.item = led.item WHERE {behind} \
         ORDER BY {order} LIMIT {count}"
    } else {
        "SELECT item.id, item.version, item.accessed_at, item.access_count, item.digest, item.body FROM (\
         SELECT found.item FROM value AS found INDEXED BY value_lead \
         WHERE found.owner = (SELECT id FROM owner WHERE truth = 1 AND buried = 0 AND key = {scope}) \
         AND found.place = 1 AND found.field IN (2, 5) AND found.field = {list} AND found.value IN ({values}) \
         GROUP BY found.item\
         ) AS led CROSS JOIN record AS item ON item.item = led.item WHERE {behind} \
         ORDER BY {order} LIMIT {count}"
    };
    statement(text, |sql, hole| {
        match hole {
            "scope" => sql.push_bind(scope.key().to_owned()),
            "list" => sql.push_bind(lead.list()),
            "values" => push_values(sql, lead.values()),
            "behind" => order.push_behind(sql),
            "order" => sql.push(order.key()),
            _ => sql.push_bind(count),
        };
        Ok(())
    })
}

/// Binds values, with commas between them.
fn push_values<'s>(sql: &'s mut QueryBuilder<Sqlite3>, values: &[Scalar]) -> &'s mut QueryBuilder<Sqlite3> {
    for (place, value) in values.iter().enumerate() {
        sql.push(if place == 0 { "" } else { ", " }).push_bind(Bound(value));
    }
    sql
}
