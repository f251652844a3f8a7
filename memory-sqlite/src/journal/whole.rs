//! What the entries of a journal are as a whole: it shows that one is missing.

use memory_core::error::{Error, Result};
use sqlx::{Row as _, SqliteConnection};

use super::entry::sum_of_whole;
use crate::error::{BACKEND, Doing};

/// What the reads do, in words for errors.
const READ: &str = "read the journal";

/// What the entries are as a whole, as the file has it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Whole {
    pub(super) last: u64,
    pub(super) count: u64,
    pub(super) mark: u128,
    /// The database that the entries are meant for.
    pub(super) truth: Option<String>,
}

impl Whole {
    /// Returns what was stored as the last number, the count, the folded sums and the database; none if that is not what `sum` is the
    /// checksum of.
    pub(super) fn of(last: i64, count: i64, mark: &[u8], truth: Option<&str>, sum: &[u8]) -> Option<Self> {
        let (last, count) = (last.cast_unsigned(), count.cast_unsigned());
        let mark = mark.try_into().map(u128::from_le_bytes).ok()?;
        let is_whole = sum == sum_of_whole(last, count, mark, truth).to_le_bytes();
        is_whole.then(|| Self { last, count, mark, truth: truth.map(str::to_owned) })
    }
}

/// Writes what the entries are as a whole.
pub(super) async fn write_whole(connection: &mut SqliteConnection, whole: &Whole) -> sqlx::Result<()> {
    let Whole { last, count, mark, truth } = whole;
    let sum = sum_of_whole(*last, *count, *mark, truth.as_deref());
    let sql = "INSERT OR REPLACE INTO whole (id, last, count, mark, truth, sum) VALUES (1, ?, ?, ?, ?, ?)";
    let query = sqlx::query(sql).bind(last.cast_signed()).bind(count.cast_signed()).bind(mark.to_le_bytes().to_vec());
    let query = query.bind(truth.as_deref()).bind(sum.to_le_bytes().to_vec());
    query.execute(connection).await.map(drop)
}

/// Reads what the entries are as a whole.
///
/// # Errors
/// `Corrupt` if that is damaged.
pub(super) async fn read_whole(connection: &mut SqliteConnection) -> Result<Whole> {
    let row =
        sqlx::query("SELECT last, count, mark, sum, truth FROM whole").fetch_optional(connection).await.doing(READ)?;
    let damaged = || Error::corrupt(BACKEND, "what the journal holds as a whole is damaged");
    let row = row.ok_or_else(damaged)?;
    let count = |column: usize| row.try_get::<i64, _>(column).doing(READ);
    let bytes = |column: usize| row.try_get::<&[u8], _>(column).doing(READ);
    let truth: Option<&str> = row.try_get(4).doing(READ)?;
    Whole::of(count(0)?, count(1)?, bytes(2)?, truth, bytes(3)?).ok_or_else(damaged)
}
