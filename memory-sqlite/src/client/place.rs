//! The place of an opened file: how it may be used, and whether it is still the one at its path.

use std::ffi::OsString;
use std::fs::Metadata;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use memory_core::error::{Cause, Error, Result, Transience};

use crate::error::BACKEND;

/// How a file is used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Access {
    /// It is read and written.
    Write,
    /// It is read, with its log, which others may still write.
    Read,
    /// It is read as immutable, without a log and without locks. That is correct as long as nobody writes.
    Still,
}

/// A file that was opened.
#[derive(Debug)]
pub(crate) struct FilePlace {
    path: PathBuf,
    log: PathBuf,
    found: FileIdentity,
    pub(crate) access: Access,
}

/// The identity of a file, which differs from that of other files, and from its own after a write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct FileIdentity {
    number: (u64, u64),
    length: u64,
    modified: Option<SystemTime>,
}

impl FilePlace {
    /// Returns the file at `path`.
    pub(crate) fn of(path: &Path, access: Access) -> Result<Self> {
        let found = std::fs::metadata(path).map_err(|_| gone())?;
        Ok(Self { path: path.to_owned(), log: log_of(path), found: FileIdentity::of(&found), access })
    }

    /// Returns whether nothing may be written.
    pub(crate) fn is_read_only(&self) -> bool {
        self.access != Access::Write
    }

    /// Returns `Ok` if the path still leads to the opened file. If somebody has moved or deleted that file, nobody would ever
    /// read what is written to it.
    pub(crate) fn check(&self) -> Result<()> {
        let found = std::fs::metadata(&self.path).map_err(|_| gone())?;
        let found = FileIdentity::of(&found);
        if found.number != self.found.number {
            return Err(gone());
        }
        if self.access == Access::Still && (found != self.found || is_filled(&self.log)) {
            return Err(unusable("it was written to while it was open for reading alone: open it again"));
        }
        Ok(())
    }
}

impl FileIdentity {
    fn of(found: &Metadata) -> Self {
        #[cfg(unix)]
        let number = {
            use std::os::unix::fs::MetadataExt as _;
            (found.dev(), found.ino())
        };
        // On other systems an open file can be neither moved nor deleted.
        #[cfg(not(unix))]
        let number = (0, 0);
        Self { number, length: found.len(), modified: found.modified().ok() }
    }
}

/// Returns the path of a file with `end` appended to its name.
pub(crate) fn beside(path: &Path, end: &str) -> PathBuf {
    let mut name = OsString::from(path.as_os_str());
    name.push(end);
    name.into()
}

/// Returns the path of a file's log. For a link, it is beside the file that the link leads to, also where that is missing.
pub(crate) fn log_of(path: &Path) -> PathBuf {
    let missing = || path.read_link().map_or_else(|_| path.to_owned(), |target| path.with_file_name(target));
    beside(&path.canonicalize().unwrap_or_else(|_| missing()), "-wal")
}

/// Returns whether there is a file that is not empty.
pub(crate) fn is_filled(path: &Path) -> bool {
    std::fs::metadata(path).is_ok_and(|found| found.len() > 0)
}

fn gone() -> Error {
    unusable("it is no more the file at its path: open it again")
}

fn unusable(why: &'static str) -> Error {
    Error::Backend {
        backend: BACKEND,
        doing: "use the file",
        transience: Transience::Permanent,
        source: Cause::new(why),
    }
}
