//! The deletion of what is buried, some rows at a time.

use sqlx::{Postgres, QueryBuilder};

/// Begins a statement that deletes the first `count` rows of an owner's number, in the order of `keys`; `gone` are those
/// rows in what follows, as in `RETURNING`.
///
/// By a bound and not by a list: what the server knows of a table may be old, and then it compares each row with each of a
/// list.
pub(crate) fn delete_first(table: &str, keys: &[&str], scope: &str, owner: i64, count: i64) -> QueryBuilder<Postgres> {
    let list = |prefix: &str, suffix: &str| {
        keys.iter().map(|key| format!("{prefix}{key}{suffix}")).collect::<Vec<_>>().join(", ")
    };
    let keys = list("", "");
    let mut sql = QueryBuilder::new("DELETE FROM ");
    sql.push(table).push(" AS gone USING (SELECT * FROM (SELECT ").push(&keys).push(" FROM ").push(table);
    sql.push(" WHERE scope = ").push_bind(scope.to_owned()).push(" AND owner = ").push_bind(owner);
    sql.push(" ORDER BY ").push(&keys).push(" LIMIT ").push_bind(count);
    sql.push(") AS first ORDER BY ").push(list("", " DESC")).push(" LIMIT 1) AS last WHERE gone.scope = ");
    sql.push_bind(scope.to_owned()).push(" AND gone.owner = ").push_bind(owner);
    sql.push(" AND (").push(list("gone.", "")).push(") <= (").push(list("last.", "")).push(")");
    sql
}
