//! Saving what is whole of a damaged journal.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use futures_util::TryStreamExt as _;
use memory_core::error::Result;
use sqlx::{Connection as _, SqliteConnection};

use super::aside::replace;
use super::config::JournalConfig;
use super::entry::{Entry, columns};
use super::fault::Fault;
use super::leaf::Leaves;
use super::ledger::Ledger;
use super::lock::Lock;
use super::open::{file, open, place_of};
use super::places::Places;
use super::whole::{Whole, read_whole};
use crate::SqliteConfig;
use crate::client::connect::{connect, options, unopened, unsupported};
use crate::client::place::{Access, beside};
use crate::client::private;
use crate::error::Doing;

/// What it does, in words for errors.
const SAVE: &str = "save the journal";

/// How many rows are read at most, and how often it is begun anew behind a place that cannot be read.
const TRIED: u64 = 1 << 20;

/// What was saved of a journal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Recovered {
    /// How many entries are whole, and in the journal now.
    pub kept: u64,
    /// How many entries are lost; none if the damage hides it. 0 if the journal was whole, and nothing was changed.
    pub lost: Option<u64>,
    /// Where the damaged file is now; none if the journal was whole.
    pub damaged: Option<PathBuf>,
}

pub(super) async fn recover(config: JournalConfig) -> Result<Recovered> {
    match count_whole(config.clone()).await {
        Ok(kept) => return Ok(Recovered { kept, lost: Some(0), damaged: None }),
        Err(memory_core::Error::Corrupt { .. }) => {}
        Err(error) => return Err(error),
    }
    let path = place_of(&config)?;
    let _lock = Lock::take(&path)?;
    let (entries, whole) = salvage(&path).await?;
    let truth = match &whole {
        Some(whole) => whole.truth.clone(),
        None if entries.is_empty() || config.truth.is_some() => config.truth.clone(),
        None => {
            return Err(unsupported(
                "recover this journal: which database its messages are meant for cannot be read; name it",
            ));
        }
    };
    let new = beside(&path, ".new");
    remove(&new)?;
    private::create(&new);
    let (connection, _) = file(&new, true).await?;
    let last = entries.last().map_or(0, |entry| entry.number).max(whole.as_ref().map_or(0, |whole| whole.last));
    let mut ledger = Ledger::new(connection, config, truth, Places::after(last));
    let kept = entries.len() as u64;
    ledger.restore(entries);
    ledger.commit().await.map_err(|fault| fault.error())?;
    ledger.checkpoint().await.map_err(|fault: Fault| fault.error())?;
    ledger.into_connection().close().await.doing(SAVE)?;
    let damaged = replace(&path, &new)?;
    // A saved entry may have been acknowledged after what the damage hides; the primary knows it by its id then.
    let lost = whole.map(|whole| whole.count.saturating_sub(kept));
    Ok(Recovered { kept, lost, damaged: Some(damaged) })
}

/// Opens a journal, and returns how many entries it has.
///
/// # Errors
/// `Corrupt` if it is damaged.
async fn count_whole(config: JournalConfig) -> Result<u64> {
    let mut opened = open(config).await?;
    let found = opened.ledger.check().await.map(|()| opened.ledger.count());
    opened.ledger.into_connection().close().await.doing(SAVE)?;
    found
}

/// Reads what is whole, in order, and what the entries were as a whole, if that is: through SQLite as far as that comes, and what it
/// does not find from the pages that hold it.
///
/// # Errors
/// `Backend` if the file or its log cannot be read.
async fn salvage(path: &Path) -> Result<(Vec<Entry>, Option<Whole>)> {
    let (mut entries, mut whole) = read_rows(path).await;
    let is_all = whole.as_ref().is_some_and(|whole| whole.count == entries.len() as u64);
    if !is_all {
        let leaves = Leaves::read(path)?;
        for entry in leaves.entries {
            entries.entry(entry.number).or_insert(entry);
        }
        whole = whole.or(leaves.whole);
    }
    Ok((entries.into_values().collect(), whole))
}

/// Reads what SQLite finds of the entries that are whole, and what they were as a whole, if that is.
async fn read_rows(path: &Path) -> (BTreeMap<u64, Entry>, Option<Whole>) {
    // A damaged file may tell a number twice, in any order, or one that there never was: where to go on is told by whole entries.
    let mut entries = BTreeMap::new();
    let Ok(options) = options(&SqliteConfig::new(path), Access::Write, false) else { return (entries, None) };
    let Ok(mut connection) = connect(options).await else { return (entries, None) };
    let whole = read_whole(&mut connection).await.ok();
    let (mut next, mut tried) = (0, 0);
    while let Reading::Broken = read_on(&mut connection, next, &mut entries, &mut tried).await {
        let read = entries.last_key_value().map_or(0, |(number, _)| number.saturating_add(1));
        next = read.max(next.saturating_add(1));
        if tried >= TRIED || whole.as_ref().is_none_or(|whole| next > whole.last) {
            break;
        }
    }
    let _ = connection.close().await;
    (entries, whole)
}

/// How reading the rows from a number on came to its end.
enum Reading {
    Ended,
    Broken,
}

/// Reads rows from the number `from` on in the order in which they stand in the file, and keeps those that are whole.
async fn read_on(
    connection: &mut SqliteConnection,
    from: u64,
    entries: &mut BTreeMap<u64, Entry>,
    tried: &mut u64,
) -> Reading {
    *tried += 1;
    let sql = concat!("SELECT ", columns!(), " FROM entry WHERE number >= ? ORDER BY number");
    let mut rows = sqlx::query(sql).bind(from.cast_signed()).fetch(connection);
    while *tried < TRIED {
        let Ok(row) = rows.try_next().await else { return Reading::Broken };
        let Some(row) = row else { return Reading::Ended };
        *tried += 1;
        entries.extend(Entry::read(&row, SAVE).ok().map(|entry| (entry.number, entry)));
    }
    Reading::Broken
}

/// Removes what an earlier attempt left.
fn remove(path: &Path) -> Result<()> {
    for end in ["", "-wal", "-shm", "-journal"] {
        match std::fs::remove_file(beside(path, end)) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => return Err(unopened(error.to_string())),
            _ => {}
        }
    }
    Ok(())
}
