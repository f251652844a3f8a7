//! The pool of reading connections.

use std::sync::{Arc, Mutex, PoisonError};

use memory_core::error::{Error, Result};
use memory_core::outlive::Awaited;
use sqlx::{Connection as _, SqliteConnection};
use tokio::sync::Semaphore;
use tokio::time::timeout;

use super::connect;
use super::opened::Opened;
use super::place::Access;
use super::work::Work;
use crate::error::{Doing as _, lost};

/// A pool of reading connections. As many work at once as there are permits.
pub(super) struct Readers {
    file: Arc<Opened>,
    limit: u32,
    permits: Semaphore,
    awaited: Awaited,
    idle: Mutex<Vec<SqliteConnection>>,
}

impl Readers {
    /// Returns a pool in which as many readers may work at once as the settings say.
    pub(super) fn new(file: &Arc<Opened>) -> Self {
        let limit = file.config.readers;
        Self {
            file: Arc::clone(file),
            limit: u32::try_from(limit).unwrap_or(u32::MAX),
            permits: Semaphore::new(limit),
            awaited: Awaited::new(limit / 2),
            idle: Mutex::default(),
        }
    }

    /// Waits until no reader is working, and takes all of them out. If a call is not polled, it times out and takes only the
    /// idle ones.
    pub(super) async fn take_all(&self) -> Vec<SqliteConnection> {
        let paused = self.awaited.pause(self.file.config.patience).await;
        let _none_at_work = if paused.is_some() { self.permits.acquire_many(self.limit).await.ok() } else { None };
        std::mem::take(&mut *self.idle.lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn idle(&self) -> Option<SqliteConnection> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner).pop()
    }

    fn put_back(&self, connection: SqliteConnection) {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner).push(connection);
    }

    /// Runs `work` on a reader to its end, on one snapshot of the file if `is_snapshot`.
    pub(super) async fn read<T, F>(self: &Arc<Self>, doing: &'static str, is_snapshot: bool, work: F) -> Result<T>
    where
        T: Send + 'static,
        F: for<'c> FnOnce(&'c mut SqliteConnection) -> Work<'c, T> + Send + 'static,
    {
        let readers = Arc::clone(self);
        let work = async move {
            let Opened { config, place, .. } = &*readers.file;
            place.check()?;
            let permit = timeout(config.patience, readers.permits.acquire()).await;
            let _permit = permit.map_err(|_| Error::Overloaded)?.map_err(|_| Error::Overloaded)?;
            let mut connection = match readers.idle() {
                Some(connection) => connection,
                None => connect::reader(config, place.access).await?,
            };
            let answer = if is_snapshot {
                // When it is dropped, it is rolled back before the connection's next statement, and nobody waits for that. If that fails,
                // this statement is refused to the next snapshot, and the connection closes. A plain `begin` would nest in what is left.
                let mut snapshot = connection.begin_with("BEGIN").await.doing(doing)?;
                work(&mut snapshot).await?
            } else {
                work(&mut connection).await?
            };
            if place.access == Access::Still {
                // The file was read without locks, so others may have replaced it.
                place.check()?;
            }
            // Only after a clean end. An error or a panic above closes the connection instead.
            readers.put_back(connection);
            Ok(answer)
        };
        // A snapshot blocks moving the log into the file, so it must not depend on a caller that may not poll.
        let answer = if is_snapshot { tokio::spawn(work).await.ok() } else { self.awaited.run(work).await };
        answer.unwrap_or_else(|| Err(lost(doing)))
    }
}
