//! A saved journal takes the place of the damaged one, which stays beside it.
//!
//! Two renames make it so. Whoever opens the journal next completes what a process began that ended between them.

use std::path::{Path, PathBuf};

use memory_core::error::Result;

use crate::client::connect::unopened;
use crate::client::place::beside;

/// What stands behind the name of a journal that was saved whole, until it takes its place.
const SAVED: &str = ".saved";

/// Puts the journal `new` in the place of the damaged one at `path`, and returns where that is now.
pub(super) fn replace(path: &Path, new: &Path) -> Result<PathBuf> {
    rename(new, &beside(path, SAVED))?;
    let aside = free(path);
    rename(path, &aside)?;
    complete(path)?;
    Ok(aside)
}

/// Completes what was begun: if the damaged file has left and the saved one waits, it takes its place.
pub(super) fn complete(path: &Path) -> Result<()> {
    let saved = beside(path, SAVED);
    if path.exists() || !saved.exists() {
        return Ok(());
    }
    let aside = last(path);
    for end in ["-wal", "-shm"] {
        // The log is that of the damaged file, and must not be taken for one of the saved one. After a clean end there is none.
        let log = beside(path, end);
        if log.exists() {
            rename(&log, &beside(&aside, end))?;
        }
    }
    rename(&saved, path)
}

fn numbered(path: &Path, number: u32) -> PathBuf {
    beside(path, &format!(".damaged-{number}"))
}

/// Returns the first name for a damaged file that is not taken.
fn free(path: &Path) -> PathBuf {
    (1..u32::MAX)
        .map(|number| numbered(path, number))
        .find(|aside| !aside.exists())
        .unwrap_or_else(|| numbered(path, 0))
}

/// Returns the name that was taken last.
fn last(path: &Path) -> PathBuf {
    let taken = (1..u32::MAX).map(|number| numbered(path, number)).take_while(|aside| aside.exists());
    taken.last().unwrap_or_else(|| numbered(path, 0))
}

fn rename(from: &Path, to: &Path) -> Result<()> {
    std::fs::rename(from, to).map_err(|source| unopened(source.to_string()))
}
