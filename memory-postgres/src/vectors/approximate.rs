//! Candidates from an owner's own index, compared exactly.

use sqlx::postgres::PgConnection;

use super::pieces::{Near, Sought, columns, read};
use crate::error::{Attempt, Doing};
use crate::filter::{FilteredTable, push_filter};
use crate::statement::statement;

/// The most hits that an index is asked for. For more, it would visit most of the vectors.
pub(super) const MOST_HITS: usize = 400;

const DOING: &str = "search the index of vectors";

/// The fewest and the most candidates that the index visits in one pass.
const LEAST: usize = 200;
const MOST: usize = 1_000;

/// Settings for the transaction: the index continues until enough candidates match the filter, or it has seen so many that
/// comparing all vectors is cheaper; and the planner must use it even if sorting all rows looks as cheap.
const SETTINGS: &str = "SELECT set_config('hnsw.iterative_scan', 'relaxed_order', true), \
     set_config('hnsw.ef_search', $1, true), \
     set_config('hnsw.max_scan_tuples', '5000', true), set_config('enable_seqscan', 'off', true), \
     set_config('enable_bitmapscan', 'off', true), set_config('enable_sort', 'off', true)";

/// Returns pieces that match the filter, nearest first; perhaps not all of the nearest, and perhaps too few.
pub(super) async fn search(connection: &mut PgConnection, sought: &Sought<'_>, owner: i64) -> Attempt<Vec<Near>> {
    let Sought { scope, table, query, vector } = sought;
    // Twice as many, because an item may have several pieces, and half precision may swap near ones.
    let count = query.limit.saturating_mul(2).saturating_add(64);
    let effort = count.saturating_mul(2).clamp(LEAST, MOST);
    sqlx::query(SETTINGS).bind(effort.to_string()).execute(&mut *connection).await.doing(DOING)?;
    let text = "WITH near AS MATERIALIZED (SELECT {all}, item.at FROM {table} AS item \
         WHERE item.scope = {scope} AND item.owner = {owner} AND {filter} \
         ORDER BY item.embedding::halfvec({dimension}) <=> {vector}::halfvec({dimension}) LIMIT {count}) \
         SELECT {columns}, greatest(-1, least(1, -(item.embedding <#> {vector}))) AS similarity FROM near AS item \
         ORDER BY similarity DESC, item.at DESC, item.item, item.piece";
    let mut sql = statement(text, |sql, hole| {
        match hole {
            "all" => sql.push(columns(true)),
            "columns" => sql.push(columns(query.with_vectors)),
            "table" => sql.push(&table.table),
            "scope" => sql.push_bind(scope.key().to_owned()),
            // Written out, because the planner must see that the index covers these rows.
            "owner" => sql.push(owner),
            "filter" => return push_filter(sql, FilteredTable::Index, &query.filter),
            "dimension" => sql.push(table.space.dimension),
            "vector" => sql.push_bind(vector.clone()),
            _ => sql.push_bind(i64::try_from(count).unwrap_or(i64::MAX)),
        };
        Ok(())
    })?;
    // Not kept prepared: each owner has its own statement, and few searches use it.
    let rows = sql.build().persistent(false).fetch_all(connection).await.doing(DOING)?;
    rows.iter().map(|row| read(row, query.with_vectors)).collect()
}
