//! Statements whose tables or conditions vary: a text with named holes, and the values that fill them.

use memory_core::Result;
use memory_core::plan::statement::holes;
use sqlx::{Postgres, QueryBuilder};

/// Returns the statement of `text`, with names of tables and columns in its holes. Its values are numbered and bound later.
pub(crate) fn fill(text: &'static str, names: &[(&str, &str)]) -> QueryBuilder<Postgres> {
    let mut sql = QueryBuilder::default();
    push(&mut sql, text, names);
    sql
}

/// Adds `text` to a statement, filled like [`fill`] does.
pub(crate) fn push(sql: &mut QueryBuilder<Postgres>, text: &'static str, names: &[(&str, &str)]) {
    for (before, hole) in holes(text) {
        sql.push(before);
        sql.push(names.iter().find(|(name, _)| hole == Some(*name)).map_or("", |(_, filling)| *filling));
    }
}

/// Returns the statement of `text`. `fill` adds names, conditions and bound values into its holes.
///
/// # Errors
/// Those of `fill`.
pub(crate) fn statement(
    text: &'static str,
    mut fill: impl FnMut(&mut QueryBuilder<Postgres>, &str) -> Result<()>,
) -> Result<QueryBuilder<Postgres>> {
    let mut sql = QueryBuilder::default();
    for (before, hole) in holes(text) {
        sql.push(before);
        hole.map_or(Ok(()), |hole| fill(&mut sql, hole))?;
    }
    Ok(sql)
}
