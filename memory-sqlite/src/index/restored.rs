//! Copies of a file that are put back into it while it is open, as a restored backup is.

use std::path::Path;

use sqlx::sqlite::SqliteConnectOptions;
use sqlx::{ConnectOptions as _, SqliteConnection};

/// Copies the database at `path` to `to`.
pub(crate) async fn copy(path: &Path, to: &Path) {
    let mut connection = connect(path).await;
    sqlx::query("VACUUM INTO ?").bind(to.to_str()).execute(&mut connection).await.unwrap();
}

/// Puts everything back as it was when `from` was copied.
pub(crate) async fn put_back(path: &Path, from: &Path) {
    let mut connection = connect(path).await;
    sqlx::query("ATTACH ? AS copy").bind(from.to_str()).execute(&mut connection).await.unwrap();
    let sql = "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite%'";
    let tables: Vec<String> = sqlx::query_scalar(sql).fetch_all(&mut connection).await.unwrap();
    run(&mut connection, "BEGIN IMMEDIATE").await;
    for table in tables {
        run(&mut connection, &format!("DELETE FROM main.{table}")).await;
        run(&mut connection, &format!("INSERT INTO main.{table} SELECT * FROM copy.{table}")).await;
    }
    run(&mut connection, "COMMIT").await;
}

async fn connect(path: &Path) -> SqliteConnection {
    SqliteConnectOptions::new().filename(path).connect().await.unwrap()
}

async fn run(connection: &mut SqliteConnection, sql: &str) {
    sqlx::QueryBuilder::<sqlx::Sqlite>::new(sql).build().execute(connection).await.unwrap();
}
