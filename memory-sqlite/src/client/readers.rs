//! The connections that read.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use memory_core::error::{Error, Result};
use memory_core::outlive::Awaited;
use sqlx::SqliteConnection;
use tokio::sync::Semaphore;
use tokio::time::timeout;

use super::place::Access;
use super::{Shared, Work, open};
use crate::error::{classify, lost};

/// Reading connections: as many at work as there are permits, the others idle.
pub(super) struct Readers {
    limit: u32,
    permits: Semaphore,
    awaited: Awaited,
    idle: Mutex<Vec<SqliteConnection>>,
}

impl Readers {
    /// Returns readers of which `limit` may be at work.
    pub(super) fn new(limit: usize) -> Self {
        Self {
            limit: u32::try_from(limit).unwrap_or(u32::MAX),
            permits: Semaphore::new(limit),
            awaited: Awaited::new(limit / 2),
            idle: Mutex::default(),
        }
    }

    /// Waits until no reader is at work, and takes all of them out; only the idle ones if somebody has begun a call and not
    /// polled it for so long.
    pub(super) async fn take_all(&self, patience: Duration) -> Vec<SqliteConnection> {
        let paused = self.awaited.pause(patience).await;
        let _none_at_work = if paused.is_some() { self.permits.acquire_many(self.limit).await.ok() } else { None };
        std::mem::take(&mut *self.idle.lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn idle(&self) -> Option<SqliteConnection> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner).pop()
    }

    fn put_back(&self, connection: SqliteConnection) {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner).push(connection);
    }
}

/// Runs `work` on a reader to its end; over one state of the file if it is to be a snapshot.
pub(super) async fn read<T, F>(shared: &Arc<Shared>, doing: &'static str, is_snapshot: bool, work: F) -> Result<T>
where
    T: Send + 'static,
    F: for<'c> FnOnce(&'c mut SqliteConnection) -> Work<'c, T> + Send + 'static,
{
    let awaited = &shared.readers.awaited;
    let shared = Arc::clone(shared);
    let work = async move {
        let (readers, place) = (&shared.readers, &shared.place);
        place.check()?;
        let permit = timeout(shared.config.patience, readers.permits.acquire()).await;
        let _permit = permit.map_err(|_| Error::Overloaded)?.map_err(|_| Error::Overloaded)?;
        let mut connection = match readers.idle() {
            Some(connection) => connection,
            None => open::reader(&shared.config, place.access).await?,
        };
        if is_snapshot {
            run(&mut connection, "BEGIN", doing).await?;
        }
        let answer = work(&mut connection).await?;
        if is_snapshot {
            run(&mut connection, "COMMIT", doing).await?;
        }
        if place.access == Access::Still {
            // Nothing told others that it was being read.
            place.check()?;
        }
        // Only after a clean end: an error or a panic above has closed the connection instead.
        readers.put_back(connection);
        Ok(answer)
    };
    // A snapshot keeps the log from being moved into the file: it does not wait for a caller who does not poll.
    let answer = if is_snapshot { tokio::spawn(work).await.ok() } else { awaited.run(work).await };
    answer.unwrap_or_else(|| Err(lost(doing)))
}

async fn run(connection: &mut SqliteConnection, sql: &'static str, doing: &'static str) -> Result<()> {
    sqlx::query(sql).execute(connection).await.map(|_| ()).map_err(|source| classify(source, doing))
}
