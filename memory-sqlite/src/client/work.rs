//! Work on a connection.

use std::pin::Pin;

use memory_core::error::Result;
use sqlx::SqliteConnection;

use crate::error::classify;

/// The future of a piece of work on a connection.
pub(crate) type Work<'c, T> = Pin<Box<dyn Future<Output = Result<T>> + Send + 'c>>;

/// Runs a statement that returns nothing.
pub(super) async fn run(connection: &mut SqliteConnection, sql: &'static str, doing: &'static str) -> Result<()> {
    sqlx::query(sql).execute(connection).await.map(|_| ()).map_err(|source| classify(source, doing))
}
