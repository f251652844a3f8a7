//! Counts the steps that SQLite's machine takes: what statements cost, whatever they read and write.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use memory_core::error::Result;
use sqlx::SqliteConnection;

use crate::error::Doing;

/// Adds one to `count` for each so many steps that the connection takes from now on.
pub(super) async fn watch(connection: &mut SqliteConnection, each: i32, count: Arc<AtomicU64>) -> Result<()> {
    let mut handle = connection.lock_handle().await.doing("watch")?;
    handle.set_progress_handler(each, move || {
        count.fetch_add(1, Ordering::SeqCst);
        true
    });
    Ok(())
}
