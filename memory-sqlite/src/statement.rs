//! Statements whose conditions are not always the same: one text with named holes, and what fills them.

use memory_core::Result;
use memory_core::plan::statement::holes;
use sqlx::{QueryBuilder, Sqlite};

/// Returns the statement of `text`; `fill` adds conditions and values, which are bound, into its holes.
///
/// # Errors
/// Those of `fill`.
pub(crate) fn statement(
    text: &'static str,
    fill: impl FnMut(&mut QueryBuilder<Sqlite>, &str) -> Result<()>,
) -> Result<QueryBuilder<Sqlite>> {
    let mut sql = QueryBuilder::default();
    push(&mut sql, text, fill)?;
    Ok(sql)
}

/// Adds `text` to a statement as [`statement`] does.
///
/// # Errors
/// Those of `fill`.
pub(crate) fn push(
    sql: &mut QueryBuilder<Sqlite>,
    text: &'static str,
    mut fill: impl FnMut(&mut QueryBuilder<Sqlite>, &str) -> Result<()>,
) -> Result<()> {
    for (before, hole) in holes(text) {
        sql.push(before);
        hole.map_or(Ok(()), |hole| fill(sql, hole))?;
    }
    Ok(())
}
