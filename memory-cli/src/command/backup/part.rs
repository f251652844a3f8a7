//! The part of a backup that is not whole yet, and the lock beside it that tells whether somebody still writes it.

use std::fs::{self, OpenOptions, TryLockError};
use std::io;
use std::path::{Path, PathBuf};

use same_file::Handle;

/// What stands behind the name of a place: of the part, of its journal and of its lock.
const PART: &str = ".memory-part";
const JOURNAL: &str = ".memory-part-journal";
const LOCK: &str = ".memory-part.lock";

/// The lock of a part, held as long as this value lives. Its file goes with it.
pub(super) struct Lock {
    path: PathBuf,
    _file: fs::File,
}

impl Lock {
    /// Takes the lock of the part beside `place`; none if another process has it.
    ///
    /// # Errors
    /// `Unsupported` where there are no locks; else if its file cannot be made.
    pub(super) fn take(place: &Path) -> io::Result<Option<Self>> {
        Self::at(beside(place, LOCK), true)
    }

    fn at(path: PathBuf, create: bool) -> io::Result<Option<Self>> {
        let mut options = OpenOptions::new();
        options.read(true).write(true).create(create).truncate(false);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        let file = options.open(&path)?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Ok(None),
            Err(TryLockError::Error(error)) => {
                if error.kind() == io::ErrorKind::Unsupported {
                    let _ = fs::remove_file(&path);
                }
                return Err(error);
            }
        }
        // Whoever had the lock before may have removed its file after we opened it, and a third may have made another one.
        let own = Handle::from_file(file.try_clone()?)?;
        let is_there = Handle::from_path(&path).is_ok_and(|there| there == own);
        Ok(is_there.then_some(Self { path, _file: file }))
    }
}

impl Drop for Lock {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.path);
    }
}

/// Returns where the part of a place stands.
pub(super) fn part(place: &Path) -> PathBuf {
    beside(place, PART)
}

/// Removes the part of a place, whose lock is held or which is our own.
pub(super) fn remove(place: &Path) {
    let _ = fs::remove_file(part(place));
    let _ = fs::remove_file(beside(place, JOURNAL));
}

/// Removes what processes that are gone have left in a folder: the parts whose lock nobody holds. What cannot be removed stays.
pub(super) fn sweep(folder: &Path) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    for entry in entries.flatten().filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_file())) {
        let name = entry.file_name();
        let Some(name) = name.to_str().and_then(|name| name.strip_suffix(LOCK)) else { continue };
        let place = folder.join(name);
        if let Ok(Some(_lock)) = Lock::at(beside(&place, LOCK), false) {
            remove(&place);
        }
    }
}

fn beside(place: &Path, end: &str) -> PathBuf {
    let mut path = place.to_owned().into_os_string();
    path.push(end);
    path.into()
}
