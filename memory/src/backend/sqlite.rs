//! One SQLite file.

use std::sync::Arc;

use memory_core::{Result, Truth};
use memory_sqlite::{Sqlite, SqliteChat, SqliteConfig, SqliteRecords, SqliteText, SqliteVectors};

use super::{Opened, Wanted};

pub(super) async fn open(path: &str, wanted: &Wanted<'_>) -> Result<Opened> {
    let sqlite = Sqlite::connect(SqliteConfig::new(path)).await?;
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
