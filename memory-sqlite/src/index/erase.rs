//! Erasing an owner's entries in an index, and clearing them.

use memory_core::store::{Erased, ErasureLevel};
use memory_core::{Epoch, Result, Scope};
use sqlx::SqliteConnection;

use super::items::{self, ItemPlace};
use super::owner::Owner;
use crate::client::Sqlite;
use crate::error::Doing;

const ERASE: &str = "erase the owner's index";

/// How many rows one transaction deletes at most, so that other writers get their turn in between.
const STEP: i64 = 10_000;

/// Delete some rows of an owner. The first one deletes items, which are counted.
const STATEMENTS: [&str; 8] = [
    "DELETE FROM index_item WHERE owner = ?1 AND id IN (SELECT id FROM index_item WHERE owner = ?1 LIMIT ?2)",
    "DELETE FROM index_session WHERE id IN (SELECT id FROM index_session WHERE owner = ?1 LIMIT ?2)",
    "DELETE FROM index_value WHERE owner = ?1 AND (item, field, key, type, value) IN \
     (SELECT item, field, key, type, value FROM index_value WHERE owner = ?1 LIMIT ?2)",
    "DELETE FROM text_statistics WHERE owner = ?1 AND unit IN (SELECT unit FROM text_statistics WHERE owner = ?1 LIMIT ?2)",
    "DELETE FROM text_tail WHERE owner = ?1 AND (unit, item) IN \
     (SELECT unit, item FROM text_tail WHERE owner = ?1 LIMIT ?2)",
    "DELETE FROM text_segment WHERE owner = ?1 AND (unit, segment) IN \
     (SELECT unit, segment FROM text_segment WHERE owner = ?1 LIMIT ?2)",
    "DELETE FROM text_posting WHERE owner = ?1 AND (segment, bucket, part) IN \
     (SELECT segment, bucket, part FROM text_posting WHERE owner = ?1 LIMIT ?2)",
    "DELETE FROM vector_block WHERE owner = ?1 AND block IN (SELECT block FROM vector_block WHERE owner = ?1 LIMIT ?2)",
];

/// Raises the epoch of an owner to `below`. If all its items are older, buries them all at once.
///
/// Otherwise returns the places of the older items, to be deleted one by one.
pub(crate) async fn begin(
    connection: &mut SqliteConnection,
    scope: &Scope,
    name: &str,
    below: Epoch,
) -> Result<(i64, Vec<ItemPlace>)> {
    Owner::bury_lost(connection, scope, name).await?;
    let mut owner = Owner::intern(connection, scope, name).await?;
    owner.raise(below);
    owner.save(connection).await?;
    let id = owner.id;
    // Counted, not read: what is buried may be damaged, and may be much. Without any item there may be what belonged to some.
    let (all, older) = items::count(connection, id, below).await?;
    if older < all {
        return Ok((id, items::older(connection, id, below).await?));
    }
    if older > 0 || owner.changed != 0 {
        owner.bury(connection, scope, name).await?;
    }
    Ok((id, Vec::new()))
}

/// Deletes the buried rows, counts what is left, and purges the file if it is small.
pub(crate) async fn finish(file: &Sqlite, scope: &Scope, name: &str, below: Epoch, removed: u64) -> Result<Erased> {
    let removed = removed + delete_buried(file, scope, name).await?;
    let (scope, name) = (scope.clone(), name.to_owned());
    let left =
        file.snapshot(ERASE, move |connection| Box::pin(async move { left(connection, &scope, &name, below).await }));
    let remaining = left.await?;
    let level = if remaining == 0 { file.purge_if_small().await? } else { ErasureLevel::Logical };
    Ok(Erased { removed, remaining, level })
}

/// Deletes all entries of an owner. They are buried first: none is read, so that damage is no obstacle.
pub(crate) async fn clear(file: &Sqlite, scope: &Scope, name: &str) -> Result<()> {
    let (owner, index) = (scope.clone(), name.to_owned());
    let bury = file.write("clear the owner's index", move |connection| {
        Box::pin(async move {
            Owner::bury_lost(connection, &owner, &index).await?;
            match Owner::find(connection, &owner, &index).await? {
                Some(found) => found.bury(connection, &owner, &index).await,
                None => Ok(()),
            }
        })
    });
    bury.await?;
    delete_buried(file, scope, name).await.map(|_| ())
}

/// Deletes the buried rows, and returns how many were items.
async fn delete_buried(file: &Sqlite, scope: &Scope, name: &str) -> Result<u64> {
    let mut removed = 0;
    loop {
        let (scope, name) = (scope.clone(), name.to_owned());
        let step = file.write(ERASE, move |connection| Box::pin(async move { step(connection, &scope, &name).await }));
        match step.await? {
            Some(items) => removed += items,
            None => return Ok(removed),
        }
    }
}

/// Deletes some buried rows and, after the last ones, the old number itself. Returns how many were items of the owner; none if
/// nothing was buried.
async fn step(connection: &mut SqliteConnection, scope: &Scope, name: &str) -> Result<Option<u64>> {
    let Some((owner, is_own)) = buried(connection, scope, name).await?.first().copied() else { return Ok(None) };
    let (mut rest, mut items) = (STEP, None);
    for sql in STATEMENTS {
        let deleted = sqlx::query(sql).bind(owner).bind(rest).execute(&mut *connection).await.doing(ERASE)?;
        items.get_or_insert(deleted.rows_affected());
        rest -= i64::try_from(deleted.rows_affected()).unwrap_or(rest);
    }
    if rest > 0 {
        let forget = sqlx::query("DELETE FROM index_owner WHERE id = ?").bind(owner).execute(connection).await;
        forget.doing(ERASE)?;
    }
    Ok(items.map(|items| if is_own { items } else { 0 }))
}

async fn left(connection: &mut SqliteConnection, scope: &Scope, name: &str, below: Epoch) -> Result<u64> {
    let mut left = 0;
    for (owner, _) in buried(connection, scope, name).await? {
        left += items::count(connection, owner, below).await?.0;
    }
    if let Some(owner) = Owner::find(connection, scope, name).await? {
        left += items::count(connection, owner.id, below).await?.1;
    }
    Ok(left)
}

/// Returns the numbers that the owner had before its burials, and those that nobody knows the owner of; for each whether it was the
/// owner's.
async fn buried(connection: &mut SqliteConnection, scope: &Scope, name: &str) -> Result<Vec<(i64, bool)>> {
    let sql = "SELECT id, scope = ?1 FROM index_owner WHERE scope IN (?1, '') AND name = ?2 AND buried = 1 ORDER BY id";
    sqlx::query_as(sql).bind(scope.key()).bind(name).fetch_all(connection).await.doing(ERASE)
}
