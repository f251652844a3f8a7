//! The place of a file that appears under its name only when it is whole.

use std::fs::{self, File, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};

use crate::failure::Failure;

/// A file under another name beside its place. It is removed unless it is kept.
pub(super) struct Place {
    path: PathBuf,
    wanted: PathBuf,
}

impl Place {
    /// Begins a file that is to stand at `wanted`, readable by its user alone.
    ///
    /// # Errors
    /// A wrong call if something is there already, or there is no such folder.
    pub(super) fn new(wanted: &Path) -> Result<Self, Failure> {
        if wanted.symlink_metadata().is_ok() {
            return Err(is_there(wanted));
        }
        let name = wanted.file_name().ok_or_else(|| Failure::Usage(format!("{} names no file", wanted.display())))?;
        let mut beside = name.to_owned();
        beside.push(format!(".{}.part", std::process::id()));
        let path = wanted.with_file_name(beside);
        let mut options = OpenOptions::new();
        options.write(true).create_new(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        let unmade = |error| Failure::Usage(format!("the file {} cannot be made: {error}", wanted.display()));
        options.open(&path).map_err(unmade)?;
        // Only now: what another process writes there is not ours to remove.
        Ok(Self { path, wanted: wanted.to_owned() })
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
        if let Some(folder) = self.wanted.parent() {
            let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
            File::open(folder)?.sync_all()?;
        }
        Ok(fs::metadata(&self.wanted)?.len())
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        // Kept under its name, or not wanted.
        let _ = fs::remove_file(&self.path);
        let mut journal = self.path.clone().into_os_string();
        journal.push("-journal");
        let _ = fs::remove_file(journal);
    }
}

fn is_there(path: &Path) -> Failure {
    Failure::Usage(format!("{} is there already, and is not overwritten", path.display()))
}
