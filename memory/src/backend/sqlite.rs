//! One SQLite file.

use std::sync::Arc;

use memory_core::{Result, Truth};
use memory_sqlite::{Sqlite, SqliteChat, SqliteConfig, SqliteRecords, SqliteText, SqliteVectors};

use super::{Opened, Wanted};

/// How a path ends whose file is to be read alone.
const READ_ONLY: &str = "?mode=ro";

/// Returns the path of the file that a URL's path names, and whether it is to be read alone.
pub(super) fn parts(path: &str) -> (&str, bool) {
    path.strip_suffix(READ_ONLY).map_or((path, false), |path| (path, true))
}

pub(super) async fn open(path: &str, wanted: &Wanted<'_>) -> Result<Opened> {
    let (path, is_read_only) = parts(path);
    let sqlite = Sqlite::connect(SqliteConfig::new(path).with_read_only(is_read_only)).await?;
    let mut opened = Opened::default();
    if wanted.truth {
        opened.chat = Some(Truth::chat(Arc::new(SqliteChat::new(&sqlite))));
        opened.records = Some(Truth::records(Arc::new(SqliteRecords::new(&sqlite))));
    }
    if let Some(analysis) = wanted.analysis {
        opened.text = Some(Arc::new(SqliteText::new(&sqlite, analysis.name())));
    }
    if let Some(space) = wanted.space {
        opened.vectors = Some(Arc::new(SqliteVectors::new(&sqlite, space.clone())));
    }
    Ok(opened)
}
