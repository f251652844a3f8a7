//! Running work on a connection of its own.

use memory_core::error::Result;
use sqlx::postgres::PgConnection;
use sqlx::{ConnectOptions as _, Connection as _};

use super::work::Work;
use crate::config::PostgresConfig;
use crate::error::{Doing, lost};

/// Runs `work` in a task of its own, on a connection that nobody else uses before or after.
pub(super) async fn run<A, T, F>(config: &PostgresConfig, doing: &'static str, input: A, work: F) -> Result<T>
where
    A: Send + Sync + 'static,
    T: Send + 'static,
    F: for<'c> FnOnce(&'c mut PgConnection, &'c A) -> Work<'c, T> + Send + 'static,
{
    let connect = config.connect_options();
    let task = tokio::spawn(async move {
        let mut connection = connect.connect().await.doing(doing).map_err(|failure| failure.error)?;
        let patient = sqlx::raw_sql("SET statement_timeout = 0").execute(&mut connection).await.doing(doing);
        patient.map_err(|failure| failure.error)?;
        let answer = work(&mut connection, &input).await.map_err(|failure| failure.error);
        // If closing fails, the server ends the session itself.
        drop(connection.close().await);
        answer
    });
    task.await.unwrap_or_else(|_| Err(lost(doing)))
}
