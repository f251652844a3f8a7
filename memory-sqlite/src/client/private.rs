//! Keeping the file private to the user who made it.
//!
//! SQLite makes the log and the log index with the permissions of the file.

use std::path::Path;

/// The suffixes of the files that SQLite puts beside a database.
#[cfg(unix)]
const BESIDE: [&str; 3] = ["-wal", "-shm", "-journal"];

/// Makes an empty file that only its user may read, if there is none. If that fails, SQLite makes it or reports why not.
///
/// The file is made under another name and then linked to its place. Opening and closing the database file itself would
/// release the locks that this process may hold on it.
#[cfg(unix)]
pub(crate) fn create(path: &Path) {
    use std::fs;
    use std::os::unix::fs::OpenOptionsExt as _;

    if path.symlink_metadata().is_ok() {
        return;
    }
    let new = super::place::beside(path, &format!(".{}", uuid::Uuid::now_v7().simple()));
    let made = fs::OpenOptions::new().write(true).create_new(true).mode(0o600).open(&new).map(drop);
    // Unlike a rename, a link never replaces a file.
    let linked = made.and_then(|()| fs::hard_link(&new, path));
    if let Err(error) = linked {
        tracing::debug!(%error, "a database file is made by SQLite itself");
    }
    // If the file was not made there is nothing to remove.
    let _ = fs::remove_file(&new);
}

/// Removes the permissions of all other users on the file and on those beside it, if they are this user's.
#[cfg(unix)]
pub(crate) fn tighten(path: &Path) {
    use std::fs;
    use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};

    // SQLite puts the log beside the file that a link leads to.
    let Ok(path) = path.canonicalize() else { return };
    let beside = BESIDE.iter().map(|end| super::place::beside(&path, end));
    for file in std::iter::once(path.clone()).chain(beside) {
        let Ok(found) = file.symlink_metadata() else { continue };
        let (mode, is_mine) = (found.mode(), user().is_none_or(|user| user == found.uid()));
        if !found.is_file() || mode & 0o077 == 0 || mode & 0o200 == 0 || !is_mine {
            continue;
        }
        if let Err(error) = fs::set_permissions(&file, fs::Permissions::from_mode(mode & 0o700)) {
            tracing::warn!(%error, "others may read a database file");
        }
    }
}

/// Returns the user of this process, if the system tells. Otherwise the system itself refuses to change another user's file.
#[cfg(unix)]
fn user() -> Option<u32> {
    use std::os::unix::fs::MetadataExt as _;
    Some(std::fs::metadata("/proc/self").ok()?.uid())
}

#[cfg(not(unix))]
pub(crate) fn create(_: &Path) {}

#[cfg(not(unix))]
pub(crate) fn tighten(_: &Path) {}
