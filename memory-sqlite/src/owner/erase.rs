//! Erasing what a burial has made unreachable.

use memory_core::error::Result;
use memory_core::scope::{Epoch, Scope};
use memory_core::store::Erased;
use sqlx::SqliteConnection;

use super::{Truth, bury, find, leave_midst};
use crate::client::Sqlite;
use crate::error::Doing;
use crate::number::{loaded, stored};

const ERASE: &str = "erase an owner";

/// How many rows one transaction deletes at most, so that other writers get their turn in between.
const STEP: u64 = 10_000;

/// The statements that erase a truth's rows of one owner number.
struct Plan {
    /// Deletes some items.
    items: &'static str,
    /// Delete some of the rows that belong to items.
    others: &'static [&'static str],
    /// Counts the items left.
    count: &'static str,
}

impl Plan {
    fn of(truth: Truth) -> Self {
        match truth {
            Truth::Chat => Self {
                items: "DELETE FROM message WHERE item IN (SELECT item FROM message WHERE owner = ? LIMIT ?)",
                others: &[
                    "DELETE FROM value WHERE rowid IN (SELECT rowid FROM value WHERE owner = ? LIMIT ?)",
                    "DELETE FROM session WHERE id IN (SELECT id FROM session WHERE owner = ? LIMIT ?)",
                ],
                count: "SELECT count(*) FROM message WHERE owner = ?",
            },
            Truth::Records => Self {
                items: "DELETE FROM record WHERE item IN (SELECT item FROM record WHERE owner = ? LIMIT ?)",
                others: &[
                    "DELETE FROM value WHERE rowid IN (SELECT rowid FROM value WHERE owner = ? LIMIT ?)",
                    "DELETE FROM record_grave WHERE owner = ?1 \
                     AND id IN (SELECT id FROM record_grave WHERE owner = ?1 LIMIT ?2)",
                ],
                count: "SELECT count(*) FROM record WHERE owner = ?",
            },
        }
    }
}

/// Removes everything of `scope` written in an epoch before `below`, counts what is left, and purges the file if it is small.
pub(crate) async fn erase(file: &Sqlite, truth: Truth, scope: &Scope, below: Epoch) -> Result<Erased> {
    below.check()?;
    let owner = scope.clone();
    let raise =
        file.write(ERASE, move |connection| Box::pin(async move { raise(connection, truth, &owner, below).await }));
    raise.await?;
    let mut removed = 0;
    loop {
        let owner = scope.clone();
        let step = file.write(ERASE, move |connection| Box::pin(async move { step(connection, truth, &owner).await }));
        let Step { items, is_last } = step.await?;
        removed += items;
        if is_last {
            break;
        }
    }
    let owner = scope.clone();
    let left =
        file.read(ERASE, move |connection| Box::pin(async move { left(connection, truth, &owner).await })).await?;
    Ok(Erased { removed, remaining: left, level: file.purge_if_small().await? })
}

/// Makes sure that the owner's epoch is at least `below`, and that nothing of an earlier one is named.
async fn raise(connection: &mut SqliteConnection, truth: Truth, scope: &Scope, below: Epoch) -> Result<()> {
    let below_number = stored(below.0)?;
    match find(connection, truth, scope, ERASE).await? {
        // Buried by an earlier version, it may be named yet.
        Some(owner) if owner.epoch >= below_number => leave_midst(connection, truth, scope, owner, ERASE).await,
        None if below_number == 0 => Ok(()),
        _ => bury(connection, truth, scope, below, ERASE).await.map(|_| ()),
    }
}

struct Step {
    items: u64,
    is_last: bool,
}

/// Deletes some buried rows and, after the last ones, the old number itself.
async fn step(connection: &mut SqliteConnection, truth: Truth, scope: &Scope) -> Result<Step> {
    let plan = Plan::of(truth);
    let Some(owner) = buried(connection, truth, scope).await?.first().copied() else {
        return Ok(Step { items: 0, is_last: true });
    };
    let items = delete(connection, plan.items, owner, STEP).await?;
    let mut rest = STEP.saturating_sub(items);
    for sql in plan.others {
        rest = rest.saturating_sub(delete(connection, sql, owner, rest).await?);
    }
    if rest > 0 {
        let forget = sqlx::query("DELETE FROM owner WHERE id = ?").bind(owner);
        forget.execute(connection).await.doing(ERASE)?;
    }
    Ok(Step { items, is_last: false })
}

async fn delete(connection: &mut SqliteConnection, sql: &'static str, owner: i64, limit: u64) -> Result<u64> {
    let delete = sqlx::query(sql).bind(owner).bind(stored(limit)?).execute(connection).await;
    Ok(delete.doing(ERASE)?.rows_affected())
}

async fn left(connection: &mut SqliteConnection, truth: Truth, scope: &Scope) -> Result<u64> {
    let mut left = 0;
    for owner in buried(connection, truth, scope).await? {
        let count = sqlx::query_scalar::<_, i64>(Plan::of(truth).count).bind(owner);
        left += loaded(count.fetch_one(&mut *connection).await.doing(ERASE)?)?;
    }
    Ok(left)
}

/// Returns the numbers that the owner had before its burials.
async fn buried(connection: &mut SqliteConnection, truth: Truth, scope: &Scope) -> Result<Vec<i64>> {
    let sql = "SELECT id FROM owner WHERE truth = ? AND key = ? AND buried = 1 ORDER BY id";
    let owners = sqlx::query_scalar(sql).bind(truth.number()).bind(scope.key());
    owners.fetch_all(connection).await.doing(ERASE)
}
