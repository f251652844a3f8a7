//! Who may read the file: nobody but the user who made it.
//!
//! SQLite makes its log and the index of it with the rights of the file.

use std::path::Path;

/// What SQLite puts beside a file.
#[cfg(unix)]
const BESIDE: [&str; 3] = ["-wal", "-shm", "-journal"];

/// Makes an empty file that only its user may read, if there is none. Where that fails, SQLite tells why or makes it.
///
/// It is made beside its place and put there whole: to open the file itself, and close it again, would take away the locks
/// that this process may hold on it.
#[cfg(unix)]
pub(super) fn create(path: &Path) {
    use std::fs;
    use std::os::unix::fs::OpenOptionsExt as _;

    if path.symlink_metadata().is_ok() {
        return;
    }
    let new = super::place::beside(path, &format!(".{}", uuid::Uuid::now_v7().simple()));
    let made = fs::OpenOptions::new().write(true).create_new(true).mode(0o600).open(&new).map(drop);
    // Unlike a renaming it takes nobody's place.
    let linked = made.and_then(|()| fs::hard_link(&new, path));
    if let Err(error) = linked {
        tracing::debug!(%error, "a database file is made by SQLite itself");
    }
    // Where it was not made there is nothing to be removed.
    let _ = fs::remove_file(&new);
}

/// Takes from all others what they may do with the file, and with what stands beside it, where it is this user's.
#[cfg(unix)]
pub(super) fn tighten(path: &Path) {
    use std::fs;
    use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};

    // SQLite puts its log beside the file that a link leads to.
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

/// Returns the user of this process, where the system tells; else the system refuses what is another's.
#[cfg(unix)]
fn user() -> Option<u32> {
    use std::os::unix::fs::MetadataExt as _;
    Some(std::fs::metadata("/proc/self").ok()?.uid())
}

#[cfg(not(unix))]
pub(super) fn create(_: &Path) {}

#[cfg(not(unix))]
pub(super) fn tighten(_: &Path) {}
