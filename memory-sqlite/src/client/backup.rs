//! Copying the file while it is in use.

use std::path::{Path, absolute};

use memory_core::error::Result;
use sqlx::Connection as _;
use tokio::task::spawn_blocking;

use super::connect::{Failure, connect, options, unopened};
use super::opened::Opened;
use super::place::{Access, is_filled};
use super::private;
use crate::error::Doing;

const DOING: &str = "copy the file";

/// Writes the whole file, as it is at one moment, to `to`.
///
/// `VACUUM INTO` reads one snapshot, so others write meanwhile, and nothing that was deleted goes along.
pub(super) async fn copy(file: &Opened, to: &Path) -> Result<()> {
    // Absolute, because SQLite reads a name that begins with `file:` as a URI.
    let to = absolute(to).map_err(|source| unopened(source.to_string()))?;
    let name = to.to_str().ok_or_else(|| unopened("the path of the copy is not UTF-8".to_owned()))?;
    file.place.check()?;
    if file.config.private {
        private::create(&to);
        if !is_filled(&to) {
            private::tighten(&to);
        }
    }
    // Not one of the readers: they refuse every statement that writes, also this one.
    let mut connection = connect(options(&file.config, file.place.access, false)?).await?;
    sqlx::query("VACUUM INTO ?").bind(name).execute(&mut connection).await.doing(DOING)?;
    connection.close().await.doing(DOING)?;
    if file.config.private {
        // Where no private file could be made before, as behind a link, SQLite has made one.
        private::tighten(&to);
    }
    if file.place.access == Access::Still {
        // The file was read without locks, so others may have written to it.
        file.place.check()?;
    }
    let synced = spawn_blocking(move || std::fs::File::open(to).and_then(|copy| copy.sync_all())).await;
    let unsynced = |why: &dyn std::fmt::Display| Failure::Other(unopened(format!("the copy is not synced: {why}")));
    Ok(synced.map_err(|error| unsynced(&error))?.map_err(|error| unsynced(&error))?)
}
