//! Opening files without write permission for reading.

use std::path::Path;

use memory_core::error::{Error, Result};
use memory_core::store::Durability;
use sqlx::SqliteConnection;

use super::connect::{Attempt, Failure, connect, options, unopened, unsupported};
use super::migrate::is_up_to_date;
use super::opened::Opened;
use super::place::{Access, FilePlace, beside, is_filled, log_of};
use crate::config::SqliteConfig;

/// Opens a file for reading only.
///
/// To read a log, SQLite needs its index, which it may have to make. Without a log, everything is in the file: then it is read
/// as immutable, and nothing is made beside it. A log that is not empty is never ignored.
///
/// # Errors
/// `Unsupported` if a log that is not empty cannot be read, or if the tables are of an older version.
pub(super) async fn first(config: &SqliteConfig, path: &Path) -> Result<(Opened, SqliteConnection)> {
    if !path.exists() {
        return Err(unopened("there is no such file".to_owned()));
    }
    let log = log_of(path);
    if log.exists() {
        match open(config, path, Access::Read).await {
            Err(Failure::Refused(_)) if !is_filled(&log) => {}
            Err(Failure::Refused(_)) => {
                return Err(unsupported(
                    "read the log of a file that may not be written: copy both to where they may be",
                ));
            }
            outcome => return outcome.map_err(Error::from),
        }
    }
    if is_filled(&beside(&path.canonicalize().unwrap_or_else(|_| path.to_owned()), "-journal")) {
        return Err(unsupported("undo a broken write in a file that may not be written"));
    }
    open(config, path, Access::Still).await.map_err(Error::from)
}

async fn open(config: &SqliteConfig, path: &Path, access: Access) -> Attempt<(Opened, SqliteConnection)> {
    let place = FilePlace::of(path, access)?;
    let mut connection = connect(options(config, access, false)?).await?;
    if !is_up_to_date(&mut connection).await? {
        return Err(unsupported("bring the tables of a file up to date that may not be written").into());
    }
    place.check()?;
    Ok((Opened { config: config.clone(), durability: Durability::Committed, place }, connection))
}
