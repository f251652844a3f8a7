//! Deleting buried rows, step by step.
//!
//! Any number of erasures of one owner may run at once, even those of earlier versions, which lock nothing. A step locks the
//! number whose rows it deletes, and forgets a number only if it finds no row of it.

use memory_core::Scope;
use sqlx::postgres::PgConnection;
use sqlx::{Postgres, QueryBuilder};

use super::owner::Owner;
use crate::error::{Attempt, Doing};
use crate::statement::{fill, push};

const DOING: &str = "erase the owner's index";

/// A table of an index: its name, and the columns of its key after scope and owner.
pub(crate) type Rows<'a> = (&'a str, &'a [&'a str]);

/// Makes all entries that an owner has in the index called `name` unreachable, to be deleted later.
pub(crate) async fn bury(connection: &mut PgConnection, scope: &Scope, name: &str) -> Attempt<()> {
    match Owner::find(connection, scope, name).await? {
        Some(owner) => owner.bury(connection, name).await,
        None => Ok(()),
    }
}

/// Returns a number that the owner had before its burials, locked until the transaction ends; none if nothing is buried.
///
/// If rows carry a number that `index_owner` lacks, it is buried again first, because nothing else would reach those rows.
pub(crate) async fn next(
    connection: &mut PgConnection,
    scope: &Scope,
    name: &str,
    tables: &[Rows<'_>],
) -> Attempt<Option<i64>> {
    if let Some(owner) = lock(connection, scope, name).await? {
        return Ok(Some(owner));
    }
    for (table, _) in tables {
        find_lost(connection, scope, name, table).await?;
    }
    lock(connection, scope, name).await
}

async fn lock(connection: &mut PgConnection, scope: &Scope, name: &str) -> Attempt<Option<i64>> {
    let sql = "SELECT id FROM index_owner WHERE scope = $1 AND name = $2 AND buried ORDER BY id LIMIT 1 FOR UPDATE";
    sqlx::query_scalar(sql).bind(scope.key()).bind(name).fetch_optional(connection).await.doing(DOING)
}

/// Buries the numbers that rows of the table carry and `index_owner` lacks. It steps from number to number in one snapshot. Rows
/// are never committed before their number, and a number is never removed before its rows.
async fn find_lost(connection: &mut PgConnection, scope: &Scope, name: &str, table: &str) -> Attempt<()> {
    let text = "WITH RECURSIVE numbers AS (\
         (SELECT owner FROM {table} WHERE scope = $1 ORDER BY owner LIMIT 1) \
         UNION ALL SELECT following.owner FROM numbers CROSS JOIN LATERAL \
         (SELECT owner FROM {table} WHERE scope = $1 AND owner > numbers.owner ORDER BY owner LIMIT 1) AS following) \
         INSERT INTO index_owner (scope, id, name, buried) OVERRIDING SYSTEM VALUE \
         SELECT $1, owner, $2, true FROM numbers WHERE NOT EXISTS \
         (SELECT FROM index_owner AS known WHERE known.scope = $1 AND known.id = numbers.owner) ON CONFLICT DO NOTHING";
    let mut sql = fill(text, &[("table", table)]);
    sql.build().bind(scope.key()).bind(name).execute(connection).await.doing(DOING).map(|_| ())
}

/// Forgets a buried number if no table has a row of it, and returns whether it did.
pub(crate) async fn forget(
    connection: &mut PgConnection,
    scope: &Scope,
    owner: i64,
    tables: &[Rows<'_>],
) -> Attempt<bool> {
    let mut sql = QueryBuilder::new("DELETE FROM index_owner WHERE scope = $1 AND id = $2 AND buried");
    for (table, _) in tables {
        push(&mut sql, " AND NOT EXISTS (SELECT FROM {table} WHERE scope = $1 AND owner = $2)", &[("table", table)]);
    }
    let forgotten = sql.build().bind(scope.key()).bind(owner).execute(connection).await.doing(DOING)?;
    Ok(forgotten.rows_affected() > 0)
}

/// Returns the statement that deletes the first `$3` rows of the number `$2` of the owner `$1`, in the order of the key, and returns
/// their keys.
///
/// It uses a bound and not a list: with outdated statistics the server would compare each row with each element of a list.
pub(crate) fn delete_first((table, keys): Rows<'_>) -> QueryBuilder<Postgres> {
    let list = |prefix: &str, suffix: &str| {
        keys.iter().map(|key| format!("{prefix}{key}{suffix}")).collect::<Vec<_>>().join(", ")
    };
    let text = "DELETE FROM {table} AS gone USING (SELECT * FROM \
         (SELECT {keys} FROM {table} WHERE scope = $1 AND owner = $2 ORDER BY {keys} LIMIT $3) AS first \
         ORDER BY {backwards} LIMIT 1) AS last \
         WHERE gone.scope = $1 AND gone.owner = $2 AND ({gone}) <= ({last}) RETURNING {gone}";
    let (keys, backwards, gone, last) = (list("", ""), list("", " DESC"), list("gone.", ""), list("last.", ""));
    fill(text, &[("table", table), ("keys", &keys), ("backwards", &backwards), ("gone", &gone), ("last", &last)])
}
