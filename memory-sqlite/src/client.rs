//! The database file: one writing connection, and a few reading ones.
//!
//! Every operation runs to its end, so that a dropped future leaves nothing half done. A write or a snapshot runs in a task of
//! its own. Any other read runs where it is awaited; if it is dropped, a task finishes it. An operation takes a connection
//! out and puts it back only after a clean end, and a snapshot is over before the connection's next statement, so that no
//! connection carries an open transaction to the next operation.

mod backup;
mod close;
pub(crate) mod connect;
mod migrate;
mod open;
mod opened;
pub(crate) mod place;
pub(crate) mod private;
mod purge;
mod read_only;
mod readers;
mod work;
mod writer;

use std::fmt;
use std::sync::Arc;

use memory_core::error::{Error, Result};
use memory_core::store::{Durability, ErasureLevel, Health};
use sqlx::SqliteConnection;

use crate::config::SqliteConfig;
use crate::error::{BACKEND, classify};
use crate::index::stamp::Questions;
use crate::text::held::Cache as Texts;
use crate::vectors::held::Cache as Vectors;

pub use migrate::SCHEMA_VERSION;
pub(crate) use open::check_place;
pub(crate) use work::Work;

/// An open database file. Cheap to clone; clones share their connections.
///
/// Several processes may have the file open: writers take turns, and readers see whole transactions.
#[derive(Clone)]
pub struct Sqlite {
    shared: Arc<Shared>,
}

struct Shared {
    file: Arc<opened::Opened>,
    writer: Arc<writer::Writer>,
    readers: Arc<readers::Readers>,
    texts: Texts,
    vectors: Vectors,
    questions: Questions,
}

impl Sqlite {
    /// Opens the file, creates or upgrades its tables, and reads back how durable its writes are.
    ///
    /// A file without write permission is opened for reading only; then every write is [`Error::ReadOnly`].
    ///
    /// # Errors
    /// `Unsupported` for a database of another application or of a newer version of this crate, and for a read-only one with
    /// older tables or an unreadable log; `Corrupt` for a file that is not a database; `Backend` if it cannot be opened.
    pub async fn connect(config: SqliteConfig) -> Result<Self> {
        let (file, connection) = open::first(config).await?;
        let file = Arc::new(file);
        let shared = Shared {
            writer: Arc::new(writer::Writer::new(&file, connection)),
            readers: Arc::new(readers::Readers::new(&file)),
            texts: Texts::new(file.config.texts_held),
            vectors: Vectors::new(file.config.vectors_held),
            questions: Questions::default(),
            file,
        };
        Ok(Self { shared: Arc::new(shared) })
    }

    /// Closes all connections once the calls under way have ended. The last process to do so leaves neither a log nor a log index
    /// beside the file. A call that was begun but is not polled is waited for no longer than for a lock; its connection stays
    /// open until this is called again. May be repeated; a later call opens a connection again.
    ///
    /// # Errors
    /// `Backend` if the log could not be moved into the file. Nothing is lost: the next process that opens the file does it.
    pub async fn close(&self) -> Result<()> {
        self.shared.texts.clear();
        self.shared.vectors.clear();
        close::close(&self.shared.readers, &self.shared.writer).await
    }

    /// Returns how durable a committed write is.
    pub fn durability(&self) -> Durability {
        self.shared.file.durability
    }

    /// Returns whether the file was opened for reading only.
    pub(crate) fn is_read_only(&self) -> bool {
        self.shared.file.place.is_read_only()
    }

    /// Returns the cache of text indexes.
    pub(crate) fn texts(&self) -> &Texts {
        &self.shared.texts
    }

    /// Returns the cache of vectors.
    pub(crate) fn vectors(&self) -> &Vectors {
        &self.shared.vectors
    }

    /// Returns the pending queries for the state of an index.
    pub(crate) fn questions(&self) -> &Questions {
        &self.shared.questions
    }

    /// Runs `work` as one transaction, isolated from other writers, and returns its answer once it is durable.
    ///
    /// An error of `work` rolls it back. Works that wait at the same time share one commit. Dropping the returned future
    /// detaches the work, which still happens fully or not at all.
    pub(crate) async fn write<T, F>(&self, doing: &'static str, work: F) -> Result<T>
    where
        T: Send + 'static,
        F: for<'c> FnOnce(&'c mut SqliteConnection) -> Work<'c, T> + Send + 'static,
    {
        if self.is_read_only() {
            return Err(Error::ReadOnly { backend: BACKEND });
        }
        self.shared.writer.write(doing, work).await
    }

    /// Runs `work` on a reading connection. Each statement sees the file as of its own start, so read in one statement what
    /// must be consistent.
    pub(crate) async fn read<T, F>(&self, doing: &'static str, work: F) -> Result<T>
    where
        T: Send + 'static,
        F: for<'c> FnOnce(&'c mut SqliteConnection) -> Work<'c, T> + Send + 'static,
    {
        self.shared.readers.read(doing, false, work).await
    }

    /// Runs `work` on a reading connection, with all its statements on one snapshot of the file.
    pub(crate) async fn snapshot<T, F>(&self, doing: &'static str, work: F) -> Result<T>
    where
        T: Send + 'static,
        F: for<'c> FnOnce(&'c mut SqliteConnection) -> Work<'c, T> + Send + 'static,
    {
        self.shared.readers.read(doing, true, work).await
    }

    /// Rewrites the whole file, so that no byte of anything deleted or erased remains in it or beside it.
    ///
    /// Returns `Logical` if a reader or writer of any process kept it from finishing. It needs as much free disk space as the
    /// file has, and other writers wait meanwhile.
    ///
    /// # Errors
    /// `Backend` if the disk is full or fails; `ReadOnly` if the file was opened for reading only.
    pub async fn purge(&self) -> Result<ErasureLevel> {
        purge::purge(&self.shared.writer, u64::MAX).await
    }

    /// Works like [`Self::purge`] if the file is small enough to do so with each erasure; else returns `Logical`, also if it cannot
    /// be rewritten now, as on a full disk: what was erased is out of reach all the same.
    pub(crate) async fn purge_if_small(&self) -> Result<ErasureLevel> {
        match purge::purge(&self.shared.writer, self.shared.file.config.purge_below).await {
            Err(error) if error.is_retryable() => {
                tracing::warn!(error = error.with_causes(), "a file is not rewritten after an erasure");
                Ok(ErasureLevel::Logical)
            }
            level => level,
        }
    }

    /// Writes a copy of the whole file, as it is at one moment, to `to`, and syncs it. Others read and write meanwhile. What was
    /// deleted or erased before leaves no byte in it. An empty file at `to` is filled, any other refused. The copy of a private file
    /// is private ([`SqliteConfig::with_private`]).
    ///
    /// If this call is dropped or fails, what stands at `to` is worth nothing.
    ///
    /// # Errors
    /// `Backend` if the copy cannot be written.
    pub async fn backup(&self, to: &std::path::Path) -> Result<()> {
        backup::copy(&self.shared.file, to).await
    }

    /// Returns the health of the file.
    pub(crate) async fn ping(&self) -> Result<Health> {
        let doing = "answer";
        let version = self.read(doing, move |connection| {
            Box::pin(async move {
                let version = sqlx::query_scalar::<_, String>("SELECT sqlite_version()").fetch_one(connection).await;
                version.map_err(|source| classify(source, doing))
            })
        });
        let health = Health::new("SQLite", version.await?, self.durability());
        Ok(Health { is_read_only: self.is_read_only(), ..health })
    }
}

impl fmt::Debug for Sqlite {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Sqlite").field("path", &self.shared.file.config.path).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod faults;
#[cfg(test)]
mod files;
#[cfg(test)]
mod tests;
