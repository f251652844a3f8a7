//! The lock of a journal: one process has it, and the others are told at once.
//!
//! SQLite's own locks do not do this: in a write-ahead log two processes take turns, and each would flush what it read.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{Read as _, Write as _};
use std::path::{Path, PathBuf};

use memory_core::error::{Error, Result};

use crate::client::connect::unopened;
use crate::client::place::beside;
use crate::error::BACKEND;

/// What stands in the lock file once the journal was made.
const MADE: &[u8] = b"journal\n";

/// The lock, held as long as this value lives.
#[derive(Debug)]
pub(super) struct Lock {
    file: File,
    path: PathBuf,
}

impl Lock {
    /// Takes the lock of the journal at `path`.
    ///
    /// # Errors
    /// `Unsupported` if somebody has it.
    pub(super) fn take(path: &Path) -> Result<Self> {
        let path = beside(path, ".lock");
        let mut options = OpenOptions::new();
        options.read(true).write(true).create(true).truncate(false);
        #[cfg(unix)]
        {
            use std::os::unix::fs::OpenOptionsExt as _;
            options.mode(0o600);
        }
        let file = options.open(&path).map_err(|source| unopened(source.to_string()))?;
        match file.try_lock() {
            Ok(()) => Ok(Self { file, path }),
            Err(TryLockError::WouldBlock) => {
                Err(Error::Unsupported { backend: BACKEND, what: "share a journal: another process has it".to_owned() })
            }
            Err(TryLockError::Error(source)) => Err(unopened(source.to_string())),
        }
    }

    /// Returns whether a journal was made here before.
    pub(super) fn is_made(&mut self) -> bool {
        let mut found = Vec::new();
        File::open(&self.path).and_then(|mut file| file.read_to_end(&mut found)).is_ok_and(|_| found == MADE)
    }

    /// Notes that a journal was made here, so that an emptied file is told from a new one.
    pub(super) fn note_made(&mut self) -> Result<()> {
        let noted = self.file.write_all(MADE).and_then(|()| self.file.sync_all());
        noted.map_err(|source| unopened(source.to_string()))
    }
}
