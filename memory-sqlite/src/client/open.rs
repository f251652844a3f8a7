//! Opening the file.

use std::path::Path;

use memory_core::error::{Error, Result};
use memory_core::store::Durability;
use sqlx::{Connection as _, SqliteConnection};

use super::connect::{
    Attempt, Failure, at, check_log, connect, impatient, options, path_of, patiently, run, scalar, unopened, wal,
};
use super::migrate::{is_up_to_date, migrate};
use super::opened::Opened;
use super::place::{Access, FilePlace, is_filled};
use super::{private, read_only};
use crate::config::SqliteConfig;
use crate::error::{BACKEND, Doing as _};

/// Opens a file: checks that it is ours, and upgrades its tables. A file without write permission is opened for reading only.
pub(super) async fn first(config: SqliteConfig) -> Result<(Opened, SqliteConnection)> {
    let path = path_of(&config)?;
    opened(config, &path).await.map_err(|error| match error {
        Error::Corrupt { source, .. } => Error::corrupt(BACKEND, at(&path, &source.to_string())),
        other => other,
    })
}

async fn opened(config: SqliteConfig, path: &Path) -> Result<(Opened, SqliteConnection)> {
    check_place(path)?;
    check_log(path)?;
    if !config.read_only {
        match for_writing(&config, path).await {
            Err(Failure::Refused(error)) if path.exists() => {
                tracing::warn!(%error, "a database file that may not be written is opened for reading alone");
            }
            outcome => return outcome.map_err(Error::from),
        }
    }
    read_only::first(&config, path).await
}

async fn for_writing(config: &SqliteConfig, path: &Path) -> Attempt<(Opened, SqliteConnection)> {
    if config.private && config.create {
        private::create(path);
    }
    let before = FilePlace::of(path, Access::Write);
    let mut connection = connect(options(config, Access::Write, config.create)?).await?;
    if private::is_held_up(path, config.private) {
        connection = freed(config, path, connection).await?;
    }
    if config.private && !is_filled(path) {
        private::tighten(path);
    }
    patiently(config.patience, &mut connection, |connection| Box::pin(migrate(connection))).await?;
    if config.private {
        // Not earlier, because the file of another application must stay as it is.
        private::tighten(path);
    }
    let journal = patiently(config.patience, &mut connection, |connection| Box::pin(wal(connection))).await?;
    let synchronous = scalar::<i64>(&mut connection, "PRAGMA synchronous").await?;
    let is_durable = journal == "wal" && synchronous >= 2;
    let durability = if is_durable { Durability::Committed } else { Durability::Volatile };
    impatient(&mut connection).await?;
    check_writable(&mut connection).await?;
    let place = before.or_else(|_| FilePlace::of(path, Access::Write))?;
    place.check()?;
    Ok((Opened { config: config.clone(), durability, place }, connection))
}

/// Lets the files beside a database be written again, and opens it anew: a connection that was refused once stays refused.
async fn freed(config: &SqliteConfig, path: &Path, mut connection: SqliteConnection) -> Attempt<SqliteConnection> {
    // First, because the files of another application must stay as they are.
    patiently(config.patience, &mut connection, |connection| Box::pin(is_up_to_date(connection))).await?;
    private::free(path, config.private);
    connection.close().await.doing("close the file")?;
    connect(options(config, Access::Write, config.create)?).await
}

/// Returns `Ok` if the file can be written. SQLite reports that it cannot only with the first write.
async fn check_writable(connection: &mut SqliteConnection) -> Attempt<()> {
    match run(connection, "BEGIN IMMEDIATE").await {
        Ok(()) => run(connection, "ROLLBACK").await,
        // Somebody else writes.
        Err(Failure::Busy(_)) => Ok(()),
        Err(failure) => Err(failure),
    }
}

/// Refuses a path that is not a file, with a reason. SQLite would only say that it cannot open it, or wait forever.
pub(crate) fn check_place(path: &Path) -> Result<()> {
    match std::fs::metadata(path) {
        Ok(found) if found.is_dir() => Err(unopened("it is a folder".to_owned())),
        Ok(found) if !found.is_file() => Err(unopened("it is no ordinary file".to_owned())),
        Err(_) if path.parent().is_some_and(|folder| !folder.is_dir()) => {
            Err(unopened("its folder does not exist".to_owned()))
        }
        _ => Ok(()),
    }
}
