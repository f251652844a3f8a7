//! Owners: their numbers, epochs, burial and erasure.

mod erase;

use futures_util::TryStreamExt as _;
use memory_core::error::Result;
use memory_core::scope::{Epoch, Scope};
use sqlx::{Row, SqliteConnection};

use crate::client::Sqlite;
use crate::error::Doing;
use crate::number::{loaded, stored};

pub(crate) use erase::erase;

/// The truth that a row belongs to. An owner's conversations and records each have an epoch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Truth {
    /// Conversations.
    Chat,
    /// Records.
    Records,
}

impl Truth {
    /// Returns the number of the truth in tables.
    pub(crate) fn number(self) -> i64 {
        match self {
            Self::Chat => 0,
            Self::Records => 1,
        }
    }
}

/// An owner's number and epoch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Owner {
    pub(crate) id: i64,
    pub(crate) epoch: i64,
}

/// Returns the owner, if it is known.
pub(crate) async fn find(
    connection: &mut SqliteConnection,
    truth: Truth,
    scope: &Scope,
    doing: &'static str,
) -> Result<Option<Owner>> {
    let sql = "SELECT id, epoch FROM owner WHERE truth = ? AND key = ? AND buried = 0";
    let owner = sqlx::query_as::<_, (i64, i64)>(sql).bind(truth.number()).bind(scope.key());
    let owner = owner.fetch_optional(connection).await.doing(doing)?;
    Ok(owner.map(|(id, epoch)| Owner { id, epoch }))
}

/// Returns the owner, whose row is made if there is none.
pub(crate) async fn obtain(
    connection: &mut SqliteConnection,
    truth: Truth,
    scope: &Scope,
    doing: &'static str,
) -> Result<Owner> {
    match find(connection, truth, scope, doing).await? {
        Some(owner) => Ok(owner),
        None => create(connection, truth, scope, 0, doing).await,
    }
}

/// Makes the row of an unknown owner.
pub(crate) async fn create(
    connection: &mut SqliteConnection,
    truth: Truth,
    scope: &Scope,
    epoch: i64,
    doing: &'static str,
) -> Result<Owner> {
    let insert = sqlx::query("INSERT INTO owner (truth, key, epoch) VALUES (?, ?, ?)");
    let insert = insert.bind(truth.number()).bind(scope.key()).bind(epoch).execute(connection).await.doing(doing)?;
    Ok(Owner { id: insert.last_insert_rowid(), epoch })
}

/// Raises the owner's epoch to `epoch`, and returns the owner with its new number.
///
/// All rows with the old number become unreachable. Of the owner's notes, only those of its erasure stay.
pub(crate) async fn bury(
    connection: &mut SqliteConnection,
    truth: Truth,
    scope: &Scope,
    epoch: Epoch,
    doing: &'static str,
) -> Result<Owner> {
    let old = find(connection, truth, scope, doing).await?;
    let epoch = stored(epoch.0)?;
    let Some(old) = old else { return create(connection, truth, scope, epoch, doing).await };
    let bury = sqlx::query("UPDATE owner SET buried = 1 WHERE id = ?").bind(old.id);
    bury.execute(&mut *connection).await.doing(doing)?;
    let new = create(connection, truth, scope, epoch, doing).await?;
    let drop = sqlx::query("DELETE FROM note WHERE owner = ? AND (session <> 0 OR record <> x'')").bind(old.id);
    drop.execute(&mut *connection).await.doing(doing)?;
    let keep = sqlx::query("UPDATE note SET owner = ? WHERE owner = ?").bind(new.id).bind(old.id);
    keep.execute(&mut *connection).await.doing(doing)?;
    leave_midst(connection, truth, scope, new, doing).await?;
    Ok(new)
}

/// Takes walks that are in the midst of what the owner had before its burial out of it, because they name something of it. None of
/// it is left to note, and what was written since was noted by whoever wrote it.
async fn leave_midst(
    connection: &mut SqliteConnection,
    truth: Truth,
    scope: &Scope,
    owner: Owner,
    doing: &'static str,
) -> Result<()> {
    // Unless it is there now. Walks of indexes that are being retired are of the truth's number below zero.
    let sql = "UPDATE enlisted SET noted_key = '' WHERE truth IN (?1, -1 - ?1) AND noted_owner = ?2 AND noted_key <> '' \
         AND NOT EXISTS (SELECT 1 FROM session WHERE owner = ?3 AND key = noted_key) \
         AND NOT EXISTS (SELECT 1 FROM record WHERE owner = ?3 AND id = unhex(noted_key)) \
         AND NOT EXISTS (SELECT 1 FROM record_grave WHERE owner = ?3 AND id = unhex(noted_key))";
    let leave = sqlx::query(sql).bind(truth.number()).bind(scope.key()).bind(owner.id);
    leave.execute(connection).await.doing(doing).map(|_| ())
}

/// Returns the owner's epoch; zero for an unknown one.
pub(crate) async fn epoch(file: &Sqlite, truth: Truth, scope: &Scope) -> Result<Epoch> {
    let (scope, doing) = (scope.clone(), "read an epoch");
    let owner =
        file.read(doing, move |connection| Box::pin(async move { find(connection, truth, &scope, doing).await }));
    Ok(Epoch(owner.await?.map_or(Ok(0), |owner| loaded(owner.epoch))?))
}

/// Returns up to `count` owners after `after`, in the order of their keys. A damaged key, which is no owner's, is passed over: it must
/// not keep the others from being listed.
pub(crate) async fn owners(file: &Sqlite, truth: Truth, after: Option<&Scope>, count: usize) -> Result<Vec<Scope>> {
    let (after, doing) = (after.cloned(), "list owners");
    let work = file.read(doing, move |connection| {
        Box::pin(async move {
            let sql = "SELECT key FROM owner WHERE truth = ? AND buried = 0 AND key > ? ORDER BY key";
            let keys = sqlx::query(sql).bind(truth.number()).bind(after.as_ref().map_or("", Scope::key));
            let mut rows = keys.fetch(connection);
            let mut owners = Vec::new();
            while owners.len() < count {
                let Some(row) = rows.try_next().await.doing(doing)? else { break };
                match row.try_get::<&str, _>(0).ok().and_then(|key| Scope::from_key(key).ok()) {
                    Some(scope) => owners.push(scope),
                    None => tracing::warn!("the file holds an owner whose key is damaged, and lists the others"),
                }
            }
            Ok(owners)
        })
    });
    work.await
}

#[cfg(test)]
mod tests;
