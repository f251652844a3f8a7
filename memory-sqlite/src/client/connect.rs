//! Connections: opening them, and waiting for locks.

use std::path::{Path, PathBuf};
use std::pin::Pin;
use std::time::Duration;

use memory_core::error::{Cause, Error, Result, Transience};
use memory_core::time::Stopwatch;
use sqlx::sqlite::{SqliteConnectOptions, SqliteSynchronous};
use sqlx::{ConnectOptions, SqliteConnection};
use tokio::time::sleep;

use super::place::{Access, is_filled, log_of};
use crate::config::{SqliteConfig, Synchronous};
use crate::error::{BACKEND, classify, is_busy, is_refused};

const OPEN: &str = "open the file";

/// Opens another connection for writing. It does not wait for locks; its user retries.
pub(crate) async fn writer(config: &SqliteConfig) -> Result<SqliteConnection> {
    let mut connection = connect(options(config, Access::Write, false)?).await?;
    impatient(&mut connection).await?;
    Ok(connection)
}

/// Takes the lock of whoever writes, as another process does, until the connection rolls back.
#[cfg(test)]
pub(crate) async fn locking(config: &SqliteConfig) -> SqliteConnection {
    let mut connection = writer(config).await.unwrap();
    run(&mut connection, "BEGIN IMMEDIATE").await.map_err(Error::from).unwrap();
    connection
}

/// Opens a connection that can only read.
pub(crate) async fn reader(config: &SqliteConfig, access: Access) -> Result<SqliteConnection> {
    let options = options(config, access, false)?.pragma("query_only", "ON");
    // In KiB. With the default of 2 MiB, each search in a large owner's texts reads its pages from the system again.
    Ok(connect(options.pragma("cache_size", "-16384")).await?)
}

/// Repeats `attempt` while another connection holds the lock, for at most `patience`.
///
/// SQLite's own busy handler sleeps up to a tenth of a second between two attempts, so that one busy process starves another.
pub(crate) async fn patiently<T, F>(patience: Duration, connection: &mut SqliteConnection, attempt: F) -> Attempt<T>
where
    F: for<'c> Fn(&'c mut SqliteConnection) -> Pin<Box<dyn Future<Output = Attempt<T>> + Send + 'c>>,
{
    let waiting = Stopwatch::start();
    loop {
        // Never cancelled: a statement under way would continue without us.
        match attempt(connection).await {
            Err(Failure::Busy(_)) if waiting.elapsed() < patience => sleep(Duration::from_millis(1)).await,
            outcome => return outcome,
        }
    }
}

/// The outcome of one attempt at something that needs a lock.
pub(crate) type Attempt<T> = std::result::Result<T, Failure>;

/// Why an attempt failed.
pub(crate) enum Failure {
    /// Another connection holds the lock.
    Busy(Error),
    /// The file, or its log, cannot be opened or written.
    Refused(Error),
    /// Anything else.
    Other(Error),
}

impl Failure {
    /// Returns the failure for a driver's error while `doing` something.
    pub(crate) fn of(source: sqlx::Error, doing: &'static str) -> Self {
        let (is_busy, is_refused) = (is_busy(&source), is_refused(&source));
        let error = classify(source, doing);
        match (is_busy, is_refused) {
            (true, _) => Self::Busy(error),
            (_, true) => Self::Refused(error),
            _ => Self::Other(error),
        }
    }
}

impl From<Failure> for Error {
    fn from(failure: Failure) -> Self {
        match failure {
            Failure::Busy(error) | Failure::Refused(error) | Failure::Other(error) => error,
        }
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Self::Other(error)
    }
}

/// Returns the absolute path, because SQLite reads a name that begins with `file:` as a URI.
pub(crate) fn path_of(config: &SqliteConfig) -> Result<PathBuf> {
    std::path::absolute(&config.path).map_err(|source| unopened(source.to_string()))
}

pub(crate) fn options(config: &SqliteConfig, access: Access, create: bool) -> Result<SqliteConnectOptions> {
    let synchronous = match config.synchronous {
        Synchronous::Full => SqliteSynchronous::Full,
        Synchronous::Normal => SqliteSynchronous::Normal,
    };
    let options = SqliteConnectOptions::new()
        .filename(path_of(config)?)
        .create_if_missing(create)
        .read_only(access != Access::Write)
        .immutable(access == Access::Still)
        .busy_timeout(config.patience)
        .synchronous(synchronous)
        .pragma("fullfsync", "ON")
        .pragma("secure_delete", "ON")
        // Pages kept for a rollback hold content too, so they stay out of temporary files.
        .pragma("temp_store", "MEMORY")
        .statement_cache_capacity(256)
        // SQLite runs in its own thread, ahead of the reader: at most this many rows, each of which may hold 4 MiB.
        .row_buffer_size(16)
        .disable_statement_logging();
    Ok(options)
}

pub(crate) async fn connect(options: SqliteConnectOptions) -> Attempt<SqliteConnection> {
    // Waiting does not help with a path that cannot be opened.
    let lasting = |error| match error {
        Error::Backend { source, .. } => unopened(at(options.get_filename(), &source.to_string())),
        other => other,
    };
    options.connect().await.map_err(|source| match Failure::of(source, OPEN) {
        Failure::Refused(error) => Failure::Refused(lasting(error)),
        Failure::Busy(error) | Failure::Other(error) => Failure::Other(lasting(error)),
    })
}

/// Returns why a file cannot be opened, with its path and what the system says of it. It is not opened to ask: to close it again
/// would give back the locks that other connections of this process have.
pub(super) fn at(path: &Path, why: &str) -> String {
    let told = std::fs::metadata(path).err().map(|error| format!("{error}: ")).unwrap_or_default();
    format!("{}: {told}{why}", path.display())
}

/// Refuses a log whose file is missing or empty. SQLite would delete it, and with it what was not moved into the file yet.
pub(crate) fn check_log(path: &Path) -> Result<()> {
    // The log first: another process that makes the file fills it before it begins the log.
    if !is_filled(&log_of(path)) || is_filled(path) {
        return Ok(());
    }
    Err(unopened(at(path, "its log is there without it: put the file back, or remove the log")))
}

pub(crate) fn unopened(source: String) -> Error {
    Error::Backend { backend: BACKEND, doing: OPEN, transience: Transience::Permanent, source: Cause::new(source) }
}

/// Makes the connection fail at once if a lock is held.
pub(crate) async fn impatient(connection: &mut SqliteConnection) -> Result<()> {
    scalar::<i64>(connection, "PRAGMA busy_timeout = 0").await?;
    Ok(())
}

/// Returns the single value that a statement gives.
pub(crate) async fn scalar<T>(connection: &mut SqliteConnection, sql: &'static str) -> Attempt<T>
where
    T: Send + Unpin + for<'r> sqlx::Decode<'r, sqlx::Sqlite> + sqlx::Type<sqlx::Sqlite>,
{
    sqlx::query_scalar(sql).fetch_one(connection).await.map_err(|source| Failure::of(source, OPEN))
}

pub(crate) fn unsupported(what: &str) -> Error {
    Error::Unsupported { backend: BACKEND, what: what.to_owned() }
}

/// Runs a script.
pub(crate) async fn run(connection: &mut SqliteConnection, script: &'static str) -> Attempt<()> {
    let done = sqlx::raw_sql(script).execute(connection).await;
    done.map(|_| ()).map_err(|source| Failure::of(source, "create its tables"))
}

/// Switches the file to the write-ahead log and returns the journal mode it then has.
pub(crate) async fn wal(connection: &mut SqliteConnection) -> Attempt<String> {
    let mode = sqlx::query_scalar("PRAGMA journal_mode = WAL").fetch_one(connection).await;
    mode.map_err(|source| Failure::of(source, OPEN))
}
