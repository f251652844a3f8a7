//! Running work on a connection of its own.

use std::time::Duration;

use memory_core::error::Result;
use sqlx::postgres::PgConnection;
use sqlx::{ConnectOptions as _, Connection as _};
use tokio::time::timeout;

use super::work::Work;
use crate::config::PostgresConfig;
use crate::error::{Doing, late, lost};

/// Runs `work` in a task of its own, on a connection that nobody else uses before or after, for at most `patience`.
pub(super) async fn run<A, T, F>(
    config: &PostgresConfig,
    doing: &'static str,
    patience: Duration,
    input: A,
    work: F,
) -> Result<T>
where
    A: Send + Sync + 'static,
    T: Send + 'static,
    F: for<'c> FnOnce(&'c mut PgConnection, &'c A) -> Work<'c, T> + Send + 'static,
{
    let connect = config.connect_options();
    let whole = async move {
        let mut connection = connect.connect().await.doing(doing).map_err(|failure| failure.error)?;
        let patient = sqlx::raw_sql("SET statement_timeout = 0").execute(&mut connection).await.doing(doing);
        patient.map_err(|failure| failure.error)?;
        let answer = work(&mut connection, &input).await.map_err(|failure| failure.error);
        // If closing fails, the server ends the session itself.
        drop(connection.close().await);
        answer
    };
    match tokio::spawn(timeout(patience, whole)).await {
        Ok(answer) => answer.unwrap_or_else(|_| Err(late(doing))),
        Err(_) => Err(lost(doing)),
    }
}
