//! Closing connections.

use std::sync::Arc;

use memory_core::error::Result;
use sqlx::{Connection, SqliteConnection};

use super::{Shared, writer};
use crate::error::{Doing, lost};

const CLOSE: &str = "close the file";

/// Closes the readers, then the writer: the last connection to a file moves the log into it and removes the log.
///
/// A dropped connection does that too, but in a thread of its own that nobody waits for.
pub(super) async fn close(shared: &Arc<Shared>) -> Result<()> {
    let shared = Arc::clone(shared);
    let task = tokio::spawn(async move {
        let mut outcome = Ok(());
        for reader in shared.readers.take_all(shared.config.patience).await {
            outcome = outcome.and(end(reader).await);
        }
        if let Some(writer) = writer::take_idle(&shared, CLOSE).await {
            outcome = outcome.and(end(writer).await);
        }
        outcome
    });
    task.await.unwrap_or_else(|_| Err(lost(CLOSE)))
}

async fn end(connection: SqliteConnection) -> Result<()> {
    connection.close().await.doing(CLOSE)
}
