//! Exact search: comparing all vectors of an owner.

use sqlx::Row;
use sqlx::postgres::PgConnection;

use super::pieces::{Nearest, Sought, columns, read};
use crate::error::{Attempt, Doing};
use crate::filter::{FilteredTable, push_filter};
use crate::statement::statement;

const DOING: &str = "compare the vectors";

/// The owners whose vectors are compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Reach {
    /// Owners with up to this many vectors, or without an index of their own.
    Few(i64),
    /// All owners.
    All,
}

/// An owner in the state that a search has read.
pub(super) struct KnownOwner {
    pub(super) id: i64,
    /// How many vectors it has.
    pub(super) rows: i64,
    /// Whether it has more vectors than the reach.
    pub(super) is_many: bool,
    /// Whether its own index is ready.
    pub(super) is_indexed: bool,
}

/// The answer of an exact search.
pub(super) struct ExactAnswer {
    /// The owner, if it has ever put anything.
    pub(super) owner: Option<KnownOwner>,
    /// Its nearest pieces; none if it has more than the reach.
    pub(super) nearest: Option<Nearest>,
}

/// Returns the `count` nearest pieces that match the filter, from one statement that also looks up the owner.
pub(super) async fn search(
    connection: &mut PgConnection,
    sought: &Sought<'_>,
    reach: Reach,
    count: usize,
) -> Attempt<ExactAnswer> {
    let Sought { scope, table, query, vector } = sought;
    let few = if let Reach::Few(few) = reach { few } else { i64::MAX };
    let text = "WITH shown AS MATERIALIZED (SELECT set_config('memory.scope', {scope}, true) AS scope), \
         mine AS MATERIALIZED (SELECT found.* FROM shown CROSS JOIN LATERAL \
         (SELECT id, coalesce(totals[1], 0) AS rows, coalesce(totals[1], 0) > {few} AS is_many, \
         coalesce((SELECT indisvalid FROM pg_index \
         WHERE indexrelid = to_regclass(current_schema() || '.' || {prefix} || id)), false) AS is_indexed \
         FROM index_owner WHERE scope = shown.scope AND name = {name} AND NOT buried LIMIT 1) AS found) \
         SELECT mine.id, mine.rows, mine.is_many, mine.is_indexed, near.* FROM mine LEFT JOIN LATERAL \
         (SELECT {columns}, greatest(-1, least(1, -(item.embedding <#> {vector}))) AS similarity FROM {table} AS item \
         WHERE item.scope = {scope} AND item.owner = mine.id AND NOT (mine.is_many AND mine.is_indexed) AND {filter} \
         ORDER BY similarity DESC, item.at DESC, item.item, item.piece LIMIT {count}) AS near ON true";
    // The limit keeps the order of the parts: the owner is set before row-level security tests it.
    let mut sql = statement(text, |sql, hole| {
        match hole {
            "scope" => sql.push_bind(scope.key().to_owned()),
            "few" => sql.push_bind(few),
            "prefix" => sql.push_bind(format!("{}_", table.table)),
            "name" => sql.push_bind(table.name.to_string()),
            "columns" => sql.push(columns(query.with_vectors)),
            "vector" => sql.push_bind(vector.clone()),
            "table" => sql.push(&table.table),
            "filter" => return push_filter(sql, FilteredTable::Index, &query.filter),
            _ => sql.push_bind(i64::try_from(count).unwrap_or(i64::MAX)),
        };
        Ok(())
    })?;
    let rows = sql.build().fetch_all(connection).await.doing(DOING)?;
    let Some(first) = rows.first() else { return Ok(ExactAnswer { owner: None, nearest: None }) };
    let owner = KnownOwner {
        id: first.try_get("id").doing(DOING)?,
        rows: first.try_get("rows").doing(DOING)?,
        is_many: first.try_get("is_many").doing(DOING)?,
        is_indexed: first.try_get("is_indexed").doing(DOING)?,
    };
    if owner.is_many && owner.is_indexed {
        return Ok(ExactAnswer { owner: Some(owner), nearest: None });
    }
    let is_none = first.try_get::<Option<i64>, _>("piece").doing(DOING)?.is_none();
    let pieces = match is_none {
        true => Vec::new(),
        false => rows.iter().map(|row| read(row, query.with_vectors)).collect::<Attempt<_>>()?,
    };
    let is_all = pieces.len() < count;
    Ok(ExactAnswer { owner: Some(owner), nearest: Some(Nearest { pieces, is_all }) })
}
