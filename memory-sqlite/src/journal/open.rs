//! Opening a journal: its lock, its tables, and a look at every entry.

use std::path::{Path, PathBuf};

use futures_util::TryStreamExt as _;
use memory_core::error::{Error, Result};
use memory_core::store::Durability;
use sqlx::SqliteConnection;
use sqlx::sqlite::SqliteLockingMode;

use super::aside::complete;
use super::config::JournalConfig;
use super::entry::{Entry, columns};
use super::ledger::Ledger;
use super::lock::Lock;
use super::places::Places;
use super::truth::place;
use super::whole::{Whole, read_whole, write_whole};
use crate::SqliteConfig;
use crate::client::connect::{Failure, check_log, connect, options, path_of, run, scalar, unsupported, wal};
use crate::client::place::{Access, FilePlace};
use crate::client::{check_place, private};
use crate::error::{BACKEND, Doing};

/// What it does, in words for errors.
const SCAN: &str = "read the journal";

/// The application id of journals: the ASCII letters `LMeJ`.
const APPLICATION: i64 = 0x4c4d_654a;

/// The scripts that make and upgrade the tables, oldest first.
const MIGRATIONS: &[&str] = &[include_str!("../../migrations/journal_0001.sql")];

/// A journal that was opened.
#[derive(Debug)]
pub(super) struct Opened {
    pub(super) ledger: Ledger,
    pub(super) place: FilePlace,
    pub(super) durability: Durability,
    pub(super) lock: Lock,
}

/// Opens a journal, and looks at every entry.
///
/// # Errors
/// `Unsupported` if another process has it, and for a file of something else; `Corrupt` if it is damaged.
pub(super) async fn open(config: JournalConfig) -> Result<Opened> {
    let path = place_of(&config)?;
    let mut lock = Lock::take(&path)?;
    complete(&path)?;
    check_log(&path)?;
    // SQLite takes a file of no length, or of a few bytes, for a new one. One that was removed on purpose is begun again.
    let was_made = lock.is_made();
    let may_begin = !was_made || !path.exists();
    private::create(&path);
    let (mut connection, durability) = file(&path, may_begin).await?;
    if !was_made {
        lock.note_made()?;
    }
    private::tighten(&path);
    let place = FilePlace::of(&path, Access::Write)?;
    let (places, truth) = scan(&mut connection).await?;
    let truth = bound(&mut connection, &config, &places, truth).await?;
    Ok(Opened { ledger: Ledger::new(connection, config, truth, places), place, durability, lock })
}

/// Returns the database that the entries are meant for, and notes another one if there are no entries, or another name of it.
///
/// # Errors
/// `Unsupported` if there are entries that are meant for another one.
async fn bound(
    connection: &mut SqliteConnection,
    config: &JournalConfig,
    places: &Places,
    found: Option<String>,
) -> Result<Option<String>> {
    let wanted = config.truth.clone();
    let known = found.as_deref().map(place);
    if wanted.is_none() || wanted == known {
        return Ok(found);
    }
    let is_former = known.is_some() && known == config.former;
    if found.is_some() && !is_former && places.len() > 0 {
        let what = format!("use this journal here: {} messages in it are meant for another database", places.len());
        return Err(unsupported(&what));
    }
    let whole = Whole { last: places.last, count: places.len() as u64, mark: places.mark, truth: wanted.clone() };
    write_whole(connection, &whole).await.doing(SCAN)?;
    Ok(wanted)
}

/// Returns the absolute path of a journal, whose folder exists.
pub(super) fn place_of(config: &JournalConfig) -> Result<PathBuf> {
    let path = path_of(&SqliteConfig::new(&config.path))?;
    check_place(&path)?;
    Ok(path)
}

/// Opens the file for this process alone, and makes its tables if it `may_begin` one. Returns how durable a commit is.
pub(super) async fn file(path: &Path, may_begin: bool) -> Result<(SqliteConnection, Durability)> {
    let options = options(&SqliteConfig::new(path), Access::Write, true)?;
    let options = options.locking_mode(SqliteLockingMode::Exclusive).pragma("wal_autocheckpoint", "0");
    let mut connection = connect(options).await?;
    migrate(&mut connection, may_begin).await?;
    let journal = wal(&mut connection).await?;
    let synchronous = scalar::<i64>(&mut connection, "PRAGMA synchronous").await?;
    let is_durable = journal == "wal" && synchronous >= 2;
    Ok((connection, if is_durable { Durability::Queued } else { Durability::Volatile }))
}

async fn migrate(connection: &mut SqliteConnection, may_begin: bool) -> Result<(), Failure> {
    let application = scalar::<i64>(connection, "PRAGMA application_id").await?;
    let objects = scalar::<i64>(connection, "SELECT count(*) FROM sqlite_schema").await?;
    let seen = scalar::<i64>(connection, "PRAGMA user_version").await?;
    let is_new = application == 0 && objects == 0 && seen == 0;
    if is_new && !may_begin {
        return Err(Error::corrupt(BACKEND, "the file of the journal is empty").into());
    }
    if !is_new && application != APPLICATION {
        return Err(unsupported("use the database of something else as a journal").into());
    }
    let seen = usize::try_from(seen).unwrap_or(usize::MAX);
    if seen > MIGRATIONS.len() {
        return Err(unsupported("read a journal written by a newer version").into());
    }
    if seen == MIGRATIONS.len() {
        return Ok(());
    }
    run(connection, "BEGIN IMMEDIATE").await?;
    for script in MIGRATIONS.iter().skip(seen) {
        run(connection, script).await?;
    }
    if is_new {
        let whole = Whole { last: 0, count: 0, mark: 0, truth: None };
        write_whole(connection, &whole).await.map_err(|source| Failure::of(source, SCAN))?;
    }
    // The letters of `APPLICATION` as a number, because a pragma takes no bound value.
    run(connection, "PRAGMA application_id = 1280140618; PRAGMA user_version = 1").await?;
    run(connection, "COMMIT").await
}

/// Reads every entry.
///
/// # Errors
/// `Corrupt` if one is not as it was written, or if entries are missing.
async fn scan(connection: &mut SqliteConnection) -> Result<(Places, Option<String>)> {
    let whole = read_whole(connection).await?;
    let mut places = Places::default();
    let sql = concat!("SELECT ", columns!(), " FROM entry ORDER BY number");
    let mut rows = sqlx::query(sql).fetch(&mut *connection);
    while let Some(row) = rows.try_next().await.doing(SCAN)? {
        places.put(&Entry::read(&row, SCAN)?);
    }
    drop(rows);
    let is_whole = places.len() as u64 == whole.count && places.mark == whole.mark && places.last <= whole.last;
    if !is_whole {
        return Err(Error::corrupt(BACKEND, "entries of the journal are missing"));
    }
    places.last = whole.last;
    Ok((places, whole.truth))
}
