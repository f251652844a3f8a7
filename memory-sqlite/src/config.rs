//! The configuration of a database file.

use std::path::{Path, PathBuf};
use std::time::Duration;

/// When SQLite syncs to disk.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Synchronous {
    /// With each commit: an acknowledged write survives a power failure.
    #[default]
    Full,
    /// With each checkpoint: a power failure may lose the latest writes, so stores report `Volatile`.
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
    /// Returns the default configuration for the file at `path`: durable, and created if it is missing.
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

    /// Sets when SQLite syncs to disk. Default: with each commit.
    #[must_use]
    pub fn with_synchronous(mut self, synchronous: Synchronous) -> Self {
        self.synchronous = synchronous;
        self
    }

    /// Sets how long a call waits for a lock that another process or task holds. Default 5 seconds, at most a day.
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

    /// Sets whether the file, with those beside it and its backups, is private to the user who made it. Default true.
    ///
    /// A private file is made with the mode 0600, whatever the umask. If an existing file of this user has other permissions,
    /// opening it for writing removes those of all other users. If false, the umask decides and existing permissions stay: for
    /// a file that a group shares.
    #[must_use]
    pub fn with_private(mut self, private: bool) -> Self {
        self.private = private;
        self
    }

    /// Sets whether the file is opened for reading only. A file without write permission always is. Default false.
    ///
    /// A read-only file is neither created nor upgraded, and its permissions stay; writes are
    /// [`memory_core::Error::ReadOnly`].
    #[must_use]
    pub fn with_read_only(mut self, read_only: bool) -> Self {
        self.read_only = read_only;
        self
    }

    /// Sets up to how many bytes of remaining data an erasure rewrites the file, so that it is `Purged`. Default 64 MiB, which
    /// takes about a second.
    ///
    /// In a file with more data, erasures are `Logical` until [`crate::Sqlite::purge`] is called.
    #[must_use]
    pub fn with_purge_below(mut self, bytes: u64) -> Self {
        self.purge_below = bytes;
        self
    }

    /// Sets the size, in bytes, of the cache of posting lists and items of recently searched owners. Default 128 MiB. With 0,
    /// every search reads from the file.
    #[must_use]
    pub fn with_texts_held(mut self, bytes: usize) -> Self {
        self.texts_held = bytes;
        self
    }

    /// Sets the size, in bytes, of the cache of vectors of recently searched owners. Default 320 MiB, over a million vectors
    /// of 256 numbers. Every search of an owner with more reads from the file.
    #[must_use]
    pub fn with_vectors_held(mut self, bytes: usize) -> Self {
        self.vectors_held = bytes;
        self
    }
}
