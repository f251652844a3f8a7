//! Rewriting the file, so that no byte of what was deleted remains.
//!
//! `secure_delete` clears the place of a deleted row, but not copies left behind when rows moved between pages. Only a new file
//! certainly holds nothing but live data.

use std::sync::Arc;
use std::time::Duration;

use memory_core::error::{Error, Result};
use memory_core::store::ErasureLevel;
use sqlx::SqliteConnection;

use super::connect::{Attempt, Failure, patiently};
use super::writer::Writer;
use crate::error::{BACKEND, Doing, lost};
use crate::number::loaded;

const PURGE: &str = "rewrite the file";

/// Rewrites the file and empties its log. Returns `Logical` if another connection kept it from finishing, or if it would have
/// to copy more than `most` bytes.
pub(super) async fn purge(writer: &Arc<Writer>, most: u64) -> Result<ErasureLevel> {
    if writer.file().place.is_read_only() {
        return Err(Error::ReadOnly { backend: BACKEND });
    }
    let writer = Arc::clone(writer);
    let task = tokio::spawn(async move {
        let mut turn = writer.turn().await;
        let mut connection = turn.take().await?;
        let level = match rewrite(&mut connection, writer.file().config.patience, most).await {
            Ok(level) => level,
            Err(Failure::Busy(_)) => ErasureLevel::Logical,
            Err(failure) => return Err(failure.into()),
        };
        turn.put_back(connection);
        Ok(level)
    });
    task.await.unwrap_or_else(|_| Err(lost(PURGE)))
}

async fn rewrite(connection: &mut SqliteConnection, patience: Duration, most: u64) -> Attempt<ErasureLevel> {
    let is_small = size(connection).await? <= most;
    let copied = if is_small { copy(connection, patience).await } else { Ok(()) };
    if let Err(Failure::Busy(_)) = copied {
        return Ok(ErasureLevel::Logical);
    }
    // What a copy has written stands in the log, also if it failed.
    let emptied = patiently(patience, connection, |connection| Box::pin(empty(connection))).await;
    copied.and(emptied)?;
    Ok(if is_small { ErasureLevel::Purged } else { ErasureLevel::Logical })
}

/// Copies what is live into a new file, which takes the place of this one.
async fn copy(connection: &mut SqliteConnection, patience: Duration) -> Attempt<()> {
    // The copy may be as large as the file. It holds only live data, so it may be on disk.
    run(connection, "PRAGMA temp_store = FILE").await?;
    let copied = patiently(patience, connection, |connection| Box::pin(run(connection, "VACUUM"))).await;
    run(connection, "PRAGMA temp_store = MEMORY").await?;
    copied
}

/// Returns how many bytes would be copied. Free pages cost nothing.
async fn size(connection: &mut SqliteConnection) -> Result<u64> {
    let sql = "SELECT (page_count - freelist_count) * page_size \
         FROM pragma_page_count, pragma_freelist_count, pragma_page_size";
    loaded(sqlx::query_scalar(sql).fetch_one(connection).await.doing(PURGE)?)
}

/// Moves the write-ahead log into the file and empties it. That fails while a reader uses it.
async fn empty(connection: &mut SqliteConnection) -> Attempt<()> {
    let answer = sqlx::query_as::<_, (i64, i64, i64)>("PRAGMA wal_checkpoint(TRUNCATE)").fetch_one(connection).await;
    let (is_blocked, ..) = answer.map_err(|source| Failure::of(source, PURGE))?;
    if is_blocked == 0 { Ok(()) } else { Err(Failure::Busy(Error::Overloaded)) }
}

async fn run(connection: &mut SqliteConnection, sql: &'static str) -> Attempt<()> {
    let done = sqlx::query(sql).execute(connection).await;
    done.map(|_| ()).map_err(|source| Failure::of(source, PURGE))
}
