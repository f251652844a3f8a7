//! Keeping the file private to the user who made it.
//!
//! SQLite makes the log and the log index with the permissions of the file, and never changes them.

use std::path::Path;
#[cfg(unix)]
use std::{fs::Metadata, path::PathBuf};

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
    for file in std::iter::once(path.clone()).chain(beside(&path)) {
        let Ok(found) = file.symlink_metadata() else { continue };
        let mode = found.mode();
        if !found.is_file() || mode & 0o077 == 0 || mode & 0o200 == 0 || !is_mine(&found) {
            continue;
        }
        if let Err(error) = fs::set_permissions(&file, fs::Permissions::from_mode(mode & 0o700)) {
            tracing::warn!(%error, "others may read a database file");
        }
    }
}

/// Returns whether a file stands beside the database that its owner may not write, although they may write the database. SQLite
/// made it while the database might not be written either, and would never write the database while it stands there.
#[cfg(unix)]
pub(crate) fn is_held_up(path: &Path, is_private: bool) -> bool {
    !held_up(path, is_private).is_empty()
}

/// Gives such files the permissions that they would get if they were made now: those of the database, or of its owner alone if it
/// is private.
#[cfg(unix)]
pub(crate) fn free(path: &Path, is_private: bool) {
    use std::fs;
    use std::os::unix::fs::PermissionsExt as _;

    for (file, mode) in held_up(path, is_private) {
        match fs::set_permissions(&file, fs::Permissions::from_mode(mode)) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                tracing::warn!(%error, "a file beside a database may still not be written");
            }
            _ => {}
        }
    }
}

/// Returns the files that keep a database of this user from being written, with the permissions that they should have. No link is
/// followed, and no file with a second name is meant: that name may be somebody else's place for it.
#[cfg(unix)]
fn held_up(path: &Path, is_private: bool) -> Vec<(PathBuf, u32)> {
    use std::os::unix::fs::MetadataExt as _;

    let Ok(path) = path.canonicalize() else { return Vec::new() };
    let Ok(database) = path.symlink_metadata() else { return Vec::new() };
    let mode = database.mode() & if is_private { 0o600 } else { 0o666 };
    if mode & 0o200 == 0 || !is_mine(&database) {
        return Vec::new();
    }
    let is_held_up = |found: &Metadata| {
        found.is_file() && found.nlink() == 1 && found.uid() == database.uid() && found.mode() & 0o200 == 0
    };
    let files = beside(&path).filter(|file| file.symlink_metadata().is_ok_and(|found| is_held_up(&found)));
    files.map(|file| (file, mode)).collect()
}

/// Returns the paths of the files that SQLite puts beside a database.
#[cfg(unix)]
fn beside(path: &Path) -> impl Iterator<Item = PathBuf> {
    BESIDE.iter().map(move |end| super::place::beside(path, end))
}

/// Returns whether a file is this user's.
#[cfg(unix)]
fn is_mine(found: &Metadata) -> bool {
    use std::os::unix::fs::MetadataExt as _;
    user().is_none_or(|user| user == found.uid())
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

#[cfg(not(unix))]
pub(crate) fn is_held_up(_: &Path, _: bool) -> bool {
    false
}

#[cfg(not(unix))]
pub(crate) fn free(_: &Path, _: bool) {}

#[cfg(all(test, unix))]
mod tests {
    use std::fs;
    use std::io;
    use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, chown, symlink};

    use super::*;

    /// Makes a database and what stands beside it, with these modes, and returns the modes after the files were freed.
    fn freed(database: u32, is_private: bool) -> io::Result<[u32; 4]> {
        let folder = tempfile::tempdir()?;
        let files = ["", BESIDE[0], BESIDE[1], BESIDE[2]].map(|end| folder.path().join(format!("memory.db{end}")));
        for (file, mode) in files.iter().zip([database, 0o444, 0o400, 0o640]) {
            fs::write(file, b"")?;
            fs::set_permissions(file, fs::Permissions::from_mode(mode))?;
        }
        assert_eq!(is_held_up(&files[0], is_private), database & 0o200 != 0);
        free(&files[0], is_private);
        assert!(!is_held_up(&files[0], is_private));
        let mut modes = [0; 4];
        for (mode, file) in modes.iter_mut().zip(&files) {
            *mode = fs::metadata(file)?.mode() & 0o777;
        }
        Ok(modes)
    }

    #[test]
    fn what_may_be_written_less_than_its_database_gets_the_permissions_of_that() {
        assert_eq!(freed(0o600, true).unwrap(), [0o600, 0o600, 0o600, 0o640]);
        assert_eq!(freed(0o664, true).unwrap(), [0o664, 0o600, 0o600, 0o640]);
        assert_eq!(freed(0o664, false).unwrap(), [0o664, 0o664, 0o664, 0o640]);
        assert_eq!(freed(0o444, true).unwrap(), [0o444, 0o444, 0o400, 0o640]);
    }

    #[test]
    fn what_a_link_leads_to_what_has_another_name_and_what_is_not_ours_stays_as_it_is() {
        let folder = tempfile::tempdir().unwrap();
        let place = |name: &str| folder.path().join(name);
        for (name, mode) in [("memory.db", 0o600), ("linked", 0o444), ("named", 0o444), ("memory.db-journal", 0o444)] {
            fs::write(place(name), b"").unwrap();
            fs::set_permissions(place(name), fs::Permissions::from_mode(mode)).unwrap();
        }
        symlink(place("linked"), place("memory.db-shm")).unwrap();
        fs::hard_link(place("named"), place("memory.db-wal")).unwrap();
        // Only the administrator can give a file to another user.
        let is_given = chown(place("memory.db-journal"), Some(1), None).is_ok();
        free(&place("memory.db"), true);
        let mode = |name: &str| fs::metadata(place(name)).unwrap().mode() & 0o777;
        let stays = if is_given { 0o444 } else { 0o600 };
        assert_eq!([mode("linked"), mode("named"), mode("memory.db-journal")], [0o444, 0o444, stays]);
    }
}
