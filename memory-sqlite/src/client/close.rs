//! Closing connections.

use std::sync::Arc;

use futures_util::future::join_all;
use memory_core::error::Result;
use sqlx::{Connection, SqliteConnection};

use super::readers::Readers;
use super::writer::Writer;
use crate::error::{Doing, lost};

const CLOSE: &str = "close the file";

/// Closes the readers together, then the writer. The last connection to a file moves the log into it and removes the log.
///
/// A dropped connection does so too, but in a thread of its own that nobody waits for.
pub(super) async fn close(readers: &Arc<Readers>, writer: &Arc<Writer>) -> Result<()> {
    let (readers, writer) = (Arc::clone(readers), Arc::clone(writer));
    let task = tokio::spawn(async move {
        let ended = join_all(readers.take_all().await.into_iter().map(end)).await;
        let mut outcome: Result<()> = ended.into_iter().collect();
        if let Some(writer) = writer.take_idle(CLOSE).await {
            outcome = outcome.and(end(writer).await);
        }
        outcome
    });
    task.await.unwrap_or_else(|_| Err(lost(CLOSE)))
}

async fn end(connection: SqliteConnection) -> Result<()> {
    connection.close().await.doing(CLOSE)
}
