//! How a database file is opened.

use std::path::{Path, PathBuf};
use std::time::Duration;

/// How often SQLite waits for the disk.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Synchronous {
    /// With each commit: an acknowledged write survives a loss of power.
    #[default]
    Full,
    /// With each checkpoint: a loss of power may take the latest writes, so stores answer `Volatile`.
    Normal,
}

/// Which file to open, and how.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct SqliteConfig {
    pub(crate) path: PathBuf,
    pub(crate) synchronous: Synchronous,
    pub(crate) patience: Duration,
    pub(crate) readers: usize,
    pub(crate) create: bool,
    pub(crate) private: bool,
    pub(crate) read_only: bool,
    pub(crate) purge_below: u64,
    pub(crate) texts_held: usize,
    pub(crate) vectors_held: usize,
}

impl SqliteConfig {
    /// Returns the usual way to open the file at `path`: durable, created if it is missing.
    pub fn new(path: impl AsRef<Path>) -> Self {
        Self {
            path: path.as_ref().to_owned(),
            synchronous: Synchronous::Full,
            patience: Duration::from_secs(5),
            readers: 4,
            create: true,
            private: true,
            read_only: false,
            purge_below: 64 << 20,
            texts_held: 128 << 20,
            vectors_held: 320 << 20,
        }
    }

    /// Sets how often SQLite waits for the disk. Default: with each commit.
    #[must_use]
    pub fn with_synchronous(mut self, synchronous: Synchronous) -> Self {
        self.synchronous = synchronous;
        self
    }

    /// Sets how long a call waits for a lock that another process or task holds. Default 5 seconds, at the most a day.
    #[must_use]
    pub fn with_patience(mut self, patience: Duration) -> Self {
        self.patience = patience.min(Duration::from_secs(86_400));
        self
    }

    /// Sets how many reads may run at once, at least 1. Each takes a connection and a thread. Default 4.
    #[must_use]
    pub fn with_readers(mut self, readers: usize) -> Self {
        self.readers = readers.clamp(1, 64);
        self
    }

    /// Sets whether a missing file is created. Default true.
    #[must_use]
    pub fn with_create(mut self, create: bool) -> Self {
        self.create = create;
        self
    }

    /// Sets whether the file, and what stands beside it, is for nobody but the user who made it. Default true.
    ///
    /// It is then made with the mode 0600 whatever the umask; from one that was made otherwise and is this user's, the rights of
    /// all others are taken when it is opened for writing. Without it the umask decides, and what is there stays: for a file
    /// that the users of a group share.
    #[must_use]
    pub fn with_private(mut self, private: bool) -> Self {
        self.private = private;
        self
    }

    /// Sets whether the file is opened for reading alone; one that may not be written is in any case. Default false.
    ///
    /// It is then not created, not upgraded, and its rights stay as they are; writes are [`memory_core::Error::ReadOnly`].
    #[must_use]
    pub fn with_read_only(mut self, read_only: bool) -> Self {
        self.read_only = read_only;
        self
    }

    /// Sets how many bytes of other data may have to be copied so that an erasure is `Purged`: the file is rewritten.
    /// Default 64 MiB, which takes about a second.
    ///
    /// In a file that holds more, erasures are `Logical` until [`crate::Sqlite::purge`] is called.
    #[must_use]
    pub fn with_purge_below(mut self, bytes: u64) -> Self {
        self.purge_below = bytes;
        self
    }

    /// Sets how many bytes of posting lists and of items found by them may be held in memory, of the owners searched last.
    /// Default 128 MiB. With none, every search reads what it needs from the file.
    #[must_use]
    pub fn with_texts_held(mut self, bytes: usize) -> Self {
        self.texts_held = bytes;
        self
    }

    /// Sets how many bytes of vectors may be held in memory, of the owners searched last. Default 320 MiB, which is about
    /// 120,000 vectors of 384 numbers. An owner with more is read from the file with each search.
    #[must_use]
    pub fn with_vectors_held(mut self, bytes: usize) -> Self {
        self.vectors_held = bytes;
        self
    }
}
