//! Comparing all vectors of an owner.

use sqlx::postgres::PgConnection;
use sqlx::{QueryBuilder, Row};

use super::pieces::{Nearest, Sought, push_pieces, read};
use crate::error::{Attempt, Doing};
use crate::filter::{Place, push_filter};

const DOING: &str = "compare the vectors";

/// Which owners' vectors are compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Reach {
    /// Those of an owner with up to so many, or without an index of its own.
    Few(i64),
    /// However many there are.
    All,
}

/// What is known of an owner.
pub(super) struct Known {
    pub(super) id: i64,
    /// How many vectors it has.
    pub(super) rows: i64,
    /// Whether it has more vectors than the reach.
    pub(super) is_many: bool,
    /// Whether its own index stands.
    pub(super) is_indexed: bool,
}

/// What a search has found.
pub(super) struct Found {
    /// The owner, if it has ever put anything.
    pub(super) owner: Option<Known>,
    /// Its nearest pieces; none if it has more than the reach.
    pub(super) nearest: Option<Nearest>,
}

/// Returns the `count` nearest pieces that match the filter, from one statement that also looks up the owner.
pub(super) async fn search(
    connection: &mut PgConnection,
    sought: &Sought<'_>,
    reach: Reach,
    count: usize,
) -> Attempt<Found> {
    let Sought { scope, table, query, vector } = sought;
    let few = if let Reach::Few(few) = reach { few } else { i64::MAX };
    let mut sql = QueryBuilder::new("WITH shown AS MATERIALIZED (SELECT set_config('memory.scope', ");
    sql.push_bind(scope.key())
        .push(", true) AS scope), mine AS MATERIALIZED (SELECT found.* FROM shown CROSS JOIN LATERAL (");
    sql.push("SELECT id, coalesce(totals[1], 0) AS rows, coalesce(totals[1], 0) > ").push_bind(few);
    sql.push(" AS is_many, coalesce((SELECT indisvalid ");
    sql.push("FROM pg_index WHERE indexrelid = to_regclass(current_schema() || '.' || ");
    sql.push_bind(format!("{}_", table.table)).push(" || id)), false) AS is_indexed FROM index_owner ");
    // The limit keeps the parts in this order: the owner is named before row-level security is asked.
    sql.push("WHERE scope = shown.scope AND name = ")
        .push_bind(&table.name)
        .push(" AND NOT buried LIMIT 1) AS found) ");
    sql.push("SELECT mine.id, mine.rows, mine.is_many, mine.is_indexed, near.* FROM mine LEFT JOIN LATERAL (");
    push_pieces(&mut sql, query.with_vectors);
    sql.push(" greatest(-1, least(1, -(item.embedding <#> ").push_bind(vector).push("))) AS similarity FROM ");
    sql.push(&table.table).push(" AS item WHERE item.scope = ").push_bind(scope.key());
    sql.push(" AND item.owner = mine.id AND NOT (mine.is_many AND mine.is_indexed) AND ");
    push_filter(&mut sql, Place::Index, &query.filter)?;
    sql.push(" ORDER BY similarity DESC, item.at DESC, item.item, item.piece LIMIT ");
    sql.push_bind(i64::try_from(count).unwrap_or(i64::MAX)).push(") AS near ON true");
    let rows = sql.build().fetch_all(connection).await.doing(DOING)?;
    let Some(first) = rows.first() else { return Ok(Found { owner: None, nearest: None }) };
    let owner = Known {
        id: first.try_get("id").doing(DOING)?,
        rows: first.try_get("rows").doing(DOING)?,
        is_many: first.try_get("is_many").doing(DOING)?,
        is_indexed: first.try_get("is_indexed").doing(DOING)?,
    };
    if owner.is_many && owner.is_indexed {
        return Ok(Found { owner: Some(owner), nearest: None });
    }
    let is_none = first.try_get::<Option<i64>, _>("piece").doing(DOING)?.is_none();
    let pieces = match is_none {
        true => Vec::new(),
        false => rows.iter().map(|row| read(row, query.with_vectors)).collect::<Attempt<_>>()?,
    };
    let is_all = pieces.len() < count;
    Ok(Found { owner: Some(owner), nearest: Some(Nearest { pieces, is_all }) })
}
