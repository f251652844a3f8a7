//! Running work on a connection of its own.

use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use futures_util::future::{Either, select};
use memory_core::error::Result;
use sqlx::ConnectOptions as _;
use sqlx::postgres::PgConnection;
use tokio::time::timeout;

use super::leave::leave;
use super::shared::Shared;
use super::watch;
use super::work::Work;
use crate::error::{Doing, late, lost};

/// Runs `work` in a task of its own, on a connection that nobody else uses before or after, for at most `patience` and for no
/// longer than the server is at it.
pub(super) async fn run<A, T, F>(
    shared: &Arc<Shared>,
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
    let shared = Arc::clone(shared);
    let whole = async move {
        let connect = shared.config.connect_options();
        let connected = timeout(shared.config.deadline, connect.connect()).await.map_err(|_| late(doing))?;
        let mut connection = connected.doing(doing).map_err(|failure| failure.error)?;
        let process = timeout(shared.config.deadline, watch::process(&mut connection));
        let process = process.await.map_err(|_| late(doing))??;
        let work = async move {
            let patient = sqlx::raw_sql("SET statement_timeout = 0").execute(&mut connection).await.doing(doing);
            let answer = match patient {
                Ok(_) => work(&mut connection, &input).await,
                Err(failure) => Err(failure),
            };
            leave(connection).await;
            answer.map_err(|failure| failure.error)
        };
        match select(pin!(work), pin!(watch::gone(&shared, &process))).await {
            Either::Left((answer, _)) => answer,
            Either::Right(_) => Err(lost(doing)),
        }
    };
    match tokio::spawn(timeout(patience, whole)).await {
        Ok(answer) => answer.unwrap_or_else(|_| Err(late(doing))),
        Err(_) => Err(lost(doing)),
    }
}
