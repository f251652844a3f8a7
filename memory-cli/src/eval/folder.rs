//! Reading a set that is a folder of files.

use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::failure::Failure;

/// Returns what lies in a folder, in the order of the names; numbers among them as numbers.
pub(super) fn entries(folder: &Path) -> Result<Vec<PathBuf>, Failure> {
    let unread = |error| Failure::Usage(format!("the folder {} cannot be read: {error}", folder.display()));
    let mut entries = Vec::new();
    for entry in std::fs::read_dir(folder).map_err(unread)? {
        entries.push(entry.map_err(unread)?.path());
    }
    let name = |path: &Path| path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    entries.sort_by_cached_key(|path| (name(path).parse::<u64>().ok(), name(path)));
    Ok(entries)
}

/// Reads a file of JSON.
pub(super) fn json(path: &Path) -> Result<Value, Failure> {
    let bytes =
        std::fs::read(path).map_err(|error| Failure::Usage(format!("{} cannot be read: {error}", path.display())))?;
    serde_json::from_slice(&bytes)
        .map_err(|error| Failure::Usage(format!("{} is no JSON, line {}", path.display(), error.line())))
}
