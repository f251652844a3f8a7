//! The sessions of an index, each with a number of its own, so that an item does not repeat the name.

use std::collections::BTreeMap;

use memory_core::{Result, SessionId};
use sqlx::SqliteConnection;

use crate::error::Doing;
use crate::index::rows::json_numbers;

const DOING: &str = "write the sessions of items";

/// Returns the numbers of sessions by name; one that has none gets one.
pub(super) async fn intern<'s>(
    connection: &mut SqliteConnection,
    owner: i64,
    sessions: impl Iterator<Item = &'s SessionId>,
) -> Result<BTreeMap<&'s str, i64>> {
    let mut numbers: BTreeMap<&str, i64> = sessions.map(|session| (session.name(), 0)).collect();
    for (name, number) in &mut numbers {
        let find =
            sqlx::query_scalar("SELECT id FROM index_session WHERE owner = ? AND name = ?").bind(owner).bind(*name);
        *number = match find.fetch_optional(&mut *connection).await.doing(DOING)? {
            Some(number) => number,
            None => {
                let insert =
                    sqlx::query("INSERT INTO index_session (owner, name) VALUES (?, ?)").bind(owner).bind(*name);
                insert.execute(&mut *connection).await.doing(DOING)?.last_insert_rowid()
            }
        };
    }
    Ok(numbers)
}

/// Returns the sessions of items, given as JSON.
pub(super) async fn of(connection: &mut SqliteConnection, owner: i64, items: &str) -> Result<Vec<i64>> {
    let sql = "SELECT DISTINCT item.session FROM json_each(?) AS wanted CROSS JOIN index_item AS item \
               WHERE item.owner = ? AND item.id = wanted.value AND item.session IS NOT NULL";
    sqlx::query_scalar(sql).bind(items).bind(owner).fetch_all(connection).await.doing(DOING)
}

/// Deletes those of the sessions that have no items any more. The plus keeps SQLite from going through all that the owner has.
pub(super) const FORGET_EMPTY: &str = "DELETE FROM index_session WHERE +owner = ?1 \
     AND id IN (SELECT value FROM json_each(?2)) \
     AND NOT EXISTS (SELECT 1 FROM index_item AS item WHERE item.owner = ?1 AND item.session = index_session.id)";

/// Deletes those of the sessions that have no items any more: a name stays no longer than what it stands at.
pub(super) async fn forget_empty(connection: &mut SqliteConnection, owner: i64, sessions: &[i64]) -> Result<()> {
    if sessions.is_empty() {
        return Ok(());
    }
    let delete = sqlx::query(FORGET_EMPTY).bind(owner).bind(json_numbers(sessions.iter().copied()));
    delete.execute(connection).await.map(|_| ()).doing(DOING)
}
