//! The place of a file that appears under its name only when it is whole.

use std::fs::{self, File, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};

use super::part::{self, Lock};
use crate::failure::Failure;

/// A file under another name beside its place. It is removed unless it is kept.
pub(super) struct Place {
    path: PathBuf,
    wanted: PathBuf,
    // Given back when the file is removed or kept.
    _lock: Option<Lock>,
}

impl Place {
    /// Begins a file that is to stand at `wanted`, readable by its user alone. What a backup that was killed has left in the folder
    /// is removed.
    ///
    /// # Errors
    /// A wrong call if something is there already, or there is no such folder; `Busy` if another process writes the same file.
    pub(super) fn new(wanted: &Path) -> Result<Self, Failure> {
        if wanted.symlink_metadata().is_ok() {
            return Err(is_there(wanted));
        }
        if wanted.file_name().is_none() {
            return Err(Failure::Usage(format!("{} names no file", wanted.display())));
        }
        let unmade =
            |error: io::Error| Failure::Usage(format!("the file {} cannot be made: {error}", wanted.display()));
        part::sweep(folder(wanted));
        let lock = match Lock::take(wanted) {
            Ok(Some(lock)) => {
                part::remove(wanted);
                Some(lock)
            }
            Ok(None) => {
                let what = format!("another backup to {} is being written: wait for its end", wanted.display());
                return Err(Failure::Busy(what));
            }
            // Without locks nobody can tell whose a part is: one that is there is not touched.
            Err(error) if error.kind() == io::ErrorKind::Unsupported => None,
            Err(error) => return Err(unmade(error)),
        };
        let path = part::part(wanted);
        let mut options = OpenOptions::new();
        options.write(true).create_new(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        options.open(&path).map_err(unmade)?;
        // Only now: what another process writes there is not ours to remove.
        Ok(Self { path, wanted: wanted.to_owned(), _lock: lock })
    }

    /// Returns where the file is until it is kept.
    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Opens the file for writing.
    pub(super) fn file(&self) -> io::Result<File> {
        OpenOptions::new().write(true).open(&self.path)
    }

    /// Gives the file its name, and returns its size.
    ///
    /// # Errors
    /// A wrong call if something was put there meanwhile: nothing is overwritten.
    pub(super) fn keep(self) -> Result<u64, Failure> {
        // Unlike a rename, a link never replaces a file. Where there are no links, nothing better can be done.
        match fs::hard_link(&self.path, &self.wanted) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => return Err(is_there(&self.wanted)),
            Err(_) if self.wanted.symlink_metadata().is_ok() => return Err(is_there(&self.wanted)),
            Err(_) => fs::rename(&self.path, &self.wanted)?,
            Ok(()) => {}
        }
        #[cfg(unix)]
        File::open(folder(&self.wanted))?.sync_all()?;
        Ok(fs::metadata(&self.wanted)?.len())
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        // Kept under its name, or not wanted.
        part::remove(&self.wanted);
    }
}

/// Returns the folder of a file.
fn folder(file: &Path) -> &Path {
    file.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

fn is_there(path: &Path) -> Failure {
    Failure::Usage(format!("{} is there already, and is not overwritten", path.display()))
}
