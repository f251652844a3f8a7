//! Saving what is whole of a damaged journal.

use std::path::{Path, PathBuf};

use memory_core::error::Result;
use sqlx::{Connection as _, SqliteConnection};

use super::aside::replace;
use super::config::JournalConfig;
use super::entry::{Entry, columns};
use super::ledger::{Fault, Ledger};
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

/// How many numbers are tried one by one at most, where the entries cannot be read in order.
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
    match open(config.clone()).await {
        Ok(opened) => {
            let kept = opened.ledger.count();
            opened.ledger.into_connection().close().await.doing(SAVE)?;
            return Ok(Recovered { kept, lost: Some(0), damaged: None });
        }
        Err(memory_core::Error::Corrupt { .. }) => {}
        Err(error) => return Err(error),
    }
    let path = place_of(&config)?;
    let _lock = Lock::take(&path)?;
    let (entries, whole) = salvage(&path).await;
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

/// Reads what is whole, in order, and what the entries were as a whole, if that is.
async fn salvage(path: &Path) -> (Vec<Entry>, Option<Whole>) {
    let Ok(options) = options(&SqliteConfig::new(path), Access::Write, false) else { return (Vec::new(), None) };
    let Ok(mut connection) = connect(options).await else { return (Vec::new(), None) };
    let whole = read_whole(&mut connection).await.ok();
    let mut entries = Vec::new();
    let (mut next, mut tried) = (0, 0);
    while let Some(number) = following(&mut connection, next, whole.as_ref().map(|whole| whole.last)).await {
        tried += 1;
        if tried > TRIED {
            break;
        }
        entries.extend(entry(&mut connection, number).await);
        next = number.saturating_add(1);
    }
    let _ = connection.close().await;
    (entries, whole)
}

/// Returns the number of the next entry from `from` on. Where the file does not tell, the next number up to `last`.
async fn following(connection: &mut SqliteConnection, from: u64, last: Option<u64>) -> Option<u64> {
    let sql = "SELECT min(number) FROM entry WHERE number >= ?";
    let found = sqlx::query_scalar::<_, Option<i64>>(sql).bind(from.cast_signed()).fetch_one(connection).await;
    match found {
        Ok(number) => number.map(i64::cast_unsigned),
        Err(_) => last.filter(|last| from <= *last).map(|_| from),
    }
}

async fn entry(connection: &mut SqliteConnection, number: u64) -> Option<Entry> {
    let sql = concat!("SELECT ", columns!(), " FROM entry WHERE number = ?");
    let row = sqlx::query(sql).bind(number.cast_signed()).fetch_optional(connection).await.ok()??;
    Entry::read(&row, SAVE).ok().filter(|entry| entry.number == number)
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
