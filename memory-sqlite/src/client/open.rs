//! Opening connections, and the tables of the file.

use std::path::{Path, PathBuf};
use std::pin::Pin;
use std::time::Duration;

use memory_core::error::{Cause, Error, Result, Transience};
use memory_core::store::Durability;
use memory_core::time::Stopwatch;
use sqlx::sqlite::{SqliteConnectOptions, SqliteSynchronous};
use sqlx::{ConnectOptions, SqliteConnection};
use tokio::time::sleep;

use super::place::{Access, Place, is_filled};
use super::{private, read_only};
use crate::config::{SqliteConfig, Synchronous};
use crate::error::{BACKEND, classify, is_busy, is_refused};

const OPEN: &str = "open the file";

/// Marks our files, so that no other application's database is taken for one: the ASCII letters `LMem`.
const APPLICATION: i64 = 0x4c4d_656d;

/// The scripts that make the tables, oldest first; a file's `user_version` counts those it has seen.
const MIGRATIONS: &[&str] = &[
    include_str!("../../migrations/0001_truth.sql"),
    include_str!("../../migrations/0002_index.sql"),
    include_str!("../../migrations/0003_drawn_changes.sql"),
    include_str!("../../migrations/0004_pinned.sql"),
    include_str!("../../migrations/0005_counters.sql"),
    include_str!("../../migrations/0006_incarnations.sql"),
    include_str!("../../migrations/0007_generations.sql"),
    include_str!("../../migrations/0008_leads.sql"),
];

/// The version of the tables that this crate works with; an older file is brought up to it when it is opened.
pub const SCHEMA_VERSION: usize = MIGRATIONS.len();

/// A file that was opened.
pub(super) struct Opened {
    /// Its first connection, ready for writing if it may be written.
    pub(super) connection: SqliteConnection,
    /// What its settings give.
    pub(super) durability: Durability,
    pub(super) place: Place,
}

/// Opens a file: checks whose it is, and brings its tables up to date. One that may not be written is opened for reading.
pub(super) async fn first(config: &SqliteConfig) -> Result<Opened> {
    let path = path_of(config)?;
    check_place(&path)?;
    if !config.read_only {
        match for_writing(config, &path).await {
            Err(Failure::Refused(error)) if path.exists() => {
                tracing::warn!(%error, "a database file that may not be written is opened for reading alone");
            }
            outcome => return outcome.map_err(Error::from),
        }
    }
    read_only::first(config, &path).await
}

async fn for_writing(config: &SqliteConfig, path: &Path) -> Attempt<Opened> {
    if config.private && config.create {
        private::create(path);
    }
    let before = Place::of(path, Access::Write);
    let mut connection = connect(options(config, Access::Write, config.create)?).await?;
    if config.private && !is_filled(path) {
        private::tighten(path);
    }
    patiently(config.patience, &mut connection, |connection| Box::pin(migrate(connection))).await?;
    if config.private {
        // Not sooner: one of another application stays as it is.
        private::tighten(path);
    }
    let journal = patiently(config.patience, &mut connection, |connection| Box::pin(wal(connection))).await?;
    let synchronous = scalar::<i64>(&mut connection, "PRAGMA synchronous").await?;
    let is_durable = journal == "wal" && synchronous >= 2;
    let durability = if is_durable { Durability::Committed } else { Durability::Volatile };
    impatient(&mut connection).await?;
    check_writable(&mut connection).await?;
    let place = before.or_else(|_| Place::of(path, Access::Write))?;
    place.check()?;
    Ok(Opened { connection, durability, place })
}

/// Returns `Ok` if the file can be written: SQLite opens one that cannot be, and tells with the first write.
async fn check_writable(connection: &mut SqliteConnection) -> Attempt<()> {
    match run(connection, "BEGIN IMMEDIATE").await {
        Ok(()) => run(connection, "ROLLBACK").await,
        // Somebody else writes.
        Err(Failure::Busy(_)) => Ok(()),
        Err(failure) => Err(failure),
    }
}

/// Opens another connection for writing. It does not wait for locks: whoever uses it asks again.
pub(super) async fn writer(config: &SqliteConfig) -> Result<SqliteConnection> {
    let mut connection = connect(options(config, Access::Write, false)?).await?;
    impatient(&mut connection).await?;
    Ok(connection)
}

/// Opens a connection that can only read.
pub(super) async fn reader(config: &SqliteConfig, access: Access) -> Result<SqliteConnection> {
    let options = options(config, access, false)?.pragma("query_only", "ON");
    // In KiB: with the usual 2 MiB, each search of a large owner's words reads its pages from the system again.
    Ok(connect(options.pragma("cache_size", "-16384")).await?)
}

/// Repeats `attempt` while another connection holds the lock, for `patience` at the most.
///
/// SQLite's own waiting sleeps up to a tenth of a second between two looks, so that one busy process starves another.
pub(super) async fn patiently<T, F>(patience: Duration, connection: &mut SqliteConnection, attempt: F) -> Attempt<T>
where
    F: for<'c> Fn(&'c mut SqliteConnection) -> Pin<Box<dyn Future<Output = Attempt<T>> + Send + 'c>>,
{
    let waiting = Stopwatch::start();
    loop {
        // Never cut short: a statement under way would go on without us.
        match attempt(connection).await {
            Err(Failure::Busy(_)) if waiting.elapsed() < patience => sleep(Duration::from_millis(1)).await,
            outcome => return outcome,
        }
    }
}

/// The outcome of one attempt at something that needs a lock.
pub(super) type Attempt<T> = std::result::Result<T, Failure>;

/// Why an attempt failed.
pub(super) enum Failure {
    /// Another connection holds the lock.
    Busy(Error),
    /// The file, or what has to stand beside it, cannot be opened or written.
    Refused(Error),
    /// Anything else.
    Other(Error),
}

impl Failure {
    /// Returns the failure for a driver's error met while `doing` something.
    pub(super) fn of(source: sqlx::Error, doing: &'static str) -> Self {
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

/// Says what is wrong with a path that SQLite can only call one that cannot be opened, or waits for.
fn check_place(path: &Path) -> Result<()> {
    match std::fs::metadata(path) {
        Ok(found) if found.is_dir() => Err(unopened("it is a folder".to_owned())),
        Ok(found) if !found.is_file() => Err(unopened("it is no ordinary file".to_owned())),
        Err(_) if path.parent().is_some_and(|folder| !folder.is_dir()) => {
            Err(unopened("its folder does not exist".to_owned()))
        }
        _ => Ok(()),
    }
}

/// Returns the absolute path, because SQLite reads a name that begins with `file:` as a URI.
fn path_of(config: &SqliteConfig) -> Result<PathBuf> {
    std::path::absolute(&config.path).map_err(|source| unopened(source.to_string()))
}

pub(super) fn options(config: &SqliteConfig, access: Access, create: bool) -> Result<SqliteConnectOptions> {
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
        // Pages set aside for an undo are content too: they stay out of temporary files.
        .pragma("temp_store", "MEMORY")
        .statement_cache_capacity(256)
        // SQLite runs in a thread of its own, ahead of the reader of its rows: a page that ends early wastes no more than these.
        .row_buffer_size(64)
        .disable_statement_logging();
    Ok(options)
}

pub(super) async fn connect(options: SqliteConnectOptions) -> Attempt<SqliteConnection> {
    // A path that cannot be opened does not become right by waiting.
    let lasting = |error| match error {
        Error::Backend { source, .. } => unopened(source.to_string()),
        other => other,
    };
    options.connect().await.map_err(|source| match Failure::of(source, OPEN) {
        Failure::Refused(error) => Failure::Refused(lasting(error)),
        Failure::Busy(error) | Failure::Other(error) => Failure::Other(lasting(error)),
    })
}

pub(super) fn unopened(source: String) -> Error {
    Error::Backend { backend: BACKEND, doing: OPEN, transience: Transience::Permanent, source: Cause::new(source) }
}

async fn impatient(connection: &mut SqliteConnection) -> Result<()> {
    scalar::<i64>(connection, "PRAGMA busy_timeout = 0").await?;
    Ok(())
}

async fn scalar<T>(connection: &mut SqliteConnection, sql: &'static str) -> Attempt<T>
where
    T: Send + Unpin + for<'r> sqlx::Decode<'r, sqlx::Sqlite> + sqlx::Type<sqlx::Sqlite>,
{
    sqlx::query_scalar(sql).fetch_one(connection).await.map_err(|source| Failure::of(source, OPEN))
}

/// Switches the file to the write-ahead log and returns the journal mode it then has.
async fn wal(connection: &mut SqliteConnection) -> Attempt<String> {
    let mode = sqlx::query_scalar("PRAGMA journal_mode = WAL").fetch_one(connection).await;
    mode.map_err(|source| Failure::of(source, OPEN))
}

async fn migrate(connection: &mut SqliteConnection) -> Attempt<()> {
    // Looked at first without a lock: a foreign file is not touched at all.
    if is_up_to_date(connection).await? {
        return Ok(());
    }
    run(connection, "BEGIN IMMEDIATE").await?;
    let outcome = upgrade(connection).await;
    run(connection, if outcome.is_ok() { "COMMIT" } else { "ROLLBACK" }).await?;
    outcome
}

async fn upgrade(connection: &mut SqliteConnection) -> Attempt<()> {
    // Looked at again under the lock: another process may have been first.
    if is_current(connection).await? {
        return Ok(());
    }
    let seen = usize::try_from(scalar::<i64>(connection, "PRAGMA user_version").await?).unwrap_or(usize::MAX);
    for script in MIGRATIONS.iter().skip(seen) {
        run(connection, script).await?;
    }
    // The letters of `APPLICATION` as a number, because a pragma takes no bound value.
    run(connection, "PRAGMA application_id = 1280140653").await
}

/// Returns whether the file is ours and needs no migration, without a lock.
pub(super) async fn is_up_to_date(connection: &mut SqliteConnection) -> Attempt<bool> {
    run(connection, "BEGIN").await?;
    let is_current = is_current(connection).await;
    run(connection, "ROLLBACK").await?;
    is_current
}

/// Returns whether the file is ours and needs no migration. Asked within a transaction, so that its parts fit together.
async fn is_current(connection: &mut SqliteConnection) -> Attempt<bool> {
    let application = scalar::<i64>(connection, "PRAGMA application_id").await?;
    let objects = scalar::<i64>(connection, "SELECT count(*) FROM sqlite_schema").await?;
    let seen = scalar::<i64>(connection, "PRAGMA user_version").await?;
    let is_new = application == 0 && objects == 0 && seen == 0;
    if !is_new && application != APPLICATION {
        return Err(unsupported("use the database of another application").into());
    }
    let known = i64::try_from(MIGRATIONS.len()).unwrap_or(i64::MAX);
    if seen > known {
        return Err(unsupported("read a file written by a newer version").into());
    }
    Ok(!is_new && seen == known)
}

pub(super) fn unsupported(what: &str) -> Error {
    Error::Unsupported { backend: BACKEND, what: what.to_owned() }
}

async fn run(connection: &mut SqliteConnection, script: &'static str) -> Attempt<()> {
    let done = sqlx::raw_sql(script).execute(connection).await;
    done.map(|_| ()).map_err(|source| Failure::of(source, "create its tables"))
}
