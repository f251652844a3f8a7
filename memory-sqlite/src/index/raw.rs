//! What tests do to the tables of a file past its stores.

use crate::client::Sqlite;

/// Returns how many rows a table has.
pub(crate) async fn count(file: &Sqlite, table: &'static str) -> i64 {
    let work = file.snapshot("count", move |connection| {
        Box::pin(async move {
            let mut sql = sqlx::QueryBuilder::new("SELECT count(*) FROM ");
            Ok(sql.push(table).build_query_scalar().fetch_one(connection).await.unwrap())
        })
    });
    work.await.unwrap()
}

/// Changes or deletes rows, at least one.
pub(crate) async fn damage(file: &Sqlite, sql: &'static str) {
    let work = file.write("damage the file", move |connection| {
        Box::pin(async move {
            assert!(sqlx::query(sql).execute(connection).await.unwrap().rows_affected() > 0);
            Ok(())
        })
    });
    work.await.unwrap();
}
