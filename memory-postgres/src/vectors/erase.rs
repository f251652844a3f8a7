//! Erasing an owner's vectors, and clearing them.

use std::sync::Arc;

use memory_core::store::{Erased, ErasureLevel};
use memory_core::{Epoch, Result, Scope};
use sqlx::postgres::PgConnection;

use super::own_index::OwnIndexes;
use super::table::Table;
use super::write::{Shrunk, remove_rows};
use crate::client::{Call, Postgres};
use crate::error::{Attempt, Doing};
use crate::index::burial::{Rows, bury, delete_first, forget, next};
use crate::index::owner::whole;
use crate::index::{Owner, show};
use crate::statement::fill;

const ERASE: &str = "erase the owner's vectors";

/// How many pieces one transaction deletes at most, so that none takes long.
const STEP: i64 = 2_000;

/// Removes everything of epochs before `below`.
pub(super) async fn erase(
    database: &Postgres,
    table: &Arc<Table>,
    indexes: &OwnIndexes,
    exact_below: i64,
    scope: &Scope,
    below: Epoch,
) -> Result<Erased> {
    let input = || (scope.clone(), Arc::clone(table), below);
    let begin = database.run(Call::transaction(ERASE).long(), input(), |connection, (scope, table, below)| {
        Box::pin(begin(connection, scope, table, *below))
    });
    let (mut removed, shrunk) = begin.await?;
    if let Some(shrunk) = shrunk.filter(|shrunk| shrunk.is_below(exact_below)) {
        indexes.tidy(shrunk.owner).await;
    }
    removed += delete_buried(database, table, indexes, scope).await?;
    let left = database.run(Call::transaction(ERASE).long(), input(), |connection, (scope, table, below)| {
        Box::pin(left(connection, scope, table, *below))
    });
    Ok(Erased { removed, remaining: left.await?, level: ErasureLevel::Logical })
}

/// Removes everything. It is buried first: nothing is read, so that damage is no obstacle.
pub(super) async fn clear(database: &Postgres, table: &Arc<Table>, indexes: &OwnIndexes, scope: &Scope) -> Result<()> {
    let input = (scope.clone(), Arc::clone(table));
    let bury =
        database.run(Call::transaction("clear the owner's vectors").long(), input, |connection, (scope, table)| {
            Box::pin(bury(connection, scope, &table.name))
        });
    bury.await?;
    delete_buried(database, table, indexes, scope).await.map(|_| ())
}

/// Deletes what is buried, and returns how many were items.
async fn delete_buried(database: &Postgres, table: &Arc<Table>, indexes: &OwnIndexes, scope: &Scope) -> Result<u64> {
    let mut removed = 0;
    // The number whose own index was dropped. Only then is it forgotten, so that a repeat of a call that was cut off finds it.
    let mut discarded = None;
    loop {
        let input = (scope.clone(), Arc::clone(table), discarded);
        let step = database.run(Call::transaction(ERASE).long(), input, |connection, (scope, table, discarded)| {
            Box::pin(step(connection, scope, table, *discarded))
        });
        let Some(done) = step.await? else { return Ok(removed) };
        removed += done.items;
        // After the rows, so that they go even if the index cannot be dropped now.
        if done.is_last && discarded != Some(done.owner) {
            indexes.discard(done.owner).await?;
            discarded = Some(done.owner);
        }
    }
}

/// Raises the epoch of an owner to `below`. If all its items are older, buries them all at once.
///
/// Otherwise deletes the older items one by one, and returns how many they were.
async fn begin(
    connection: &mut PgConnection,
    scope: &Scope,
    table: &Table,
    below: Epoch,
) -> Attempt<(u64, Option<Shrunk>)> {
    let mut owner = Owner::intern(connection, scope, &table.name).await?;
    owner.raise(below);
    owner.save(connection).await?;
    let (older, newer) = count(connection, &owner, table, below).await?;
    if older == 0 {
        return Ok((0, None));
    }
    if newer == 0 {
        owner.bury(connection, &table.name).await?;
        return Ok((0, None));
    }
    let mut sql =
        fill("DELETE FROM {table} WHERE scope = $1 AND owner = $2 AND epoch < $3", &[("table", &table.table)]);
    let delete = sql.build().bind(scope.key()).bind(owner.id).bind(whole(below.0));
    let deleted = delete.execute(&mut *connection).await.doing(ERASE)?;
    let shrunk = remove_rows(connection, owner, whole(deleted.rows_affected())).await?;
    Ok((older, Some(shrunk)))
}

/// Returns how many items are of epochs before `below`, and how many others there are.
async fn count(connection: &mut PgConnection, owner: &Owner, table: &Table, below: Epoch) -> Attempt<(u64, u64)> {
    // Every item has a first piece.
    let text = "SELECT count(*) FILTER (WHERE epoch < $3), count(*) FILTER (WHERE epoch >= $3) FROM {table} \
         WHERE piece = 0 AND scope = $1 AND owner = $2";
    let mut sql = fill(text, &[("table", &table.table)]);
    let count = sql.build_query_as().bind(owner.scope.key()).bind(owner.id).bind(whole(below.0));
    let (older, newer): (i64, i64) = count.fetch_one(connection).await.doing(ERASE)?;
    Ok((older.unsigned_abs(), newer.unsigned_abs()))
}

/// The result of a step.
struct Done {
    /// How many items lost their first piece.
    items: u64,
    /// The number that they had.
    owner: i64,
    /// Whether no piece was left.
    is_last: bool,
}

/// Deletes some buried pieces, and forgets the number `discarded` when there are no more; none if nothing was buried.
async fn step(
    connection: &mut PgConnection,
    scope: &Scope,
    table: &Table,
    discarded: Option<i64>,
) -> Attempt<Option<Done>> {
    show(connection, scope).await?;
    let rows: Rows<'_> = (&table.table, &["item", "piece"]);
    let Some(owner) = next(connection, scope, &table.name, &[rows]).await? else { return Ok(None) };
    let mut sql = delete_first(rows);
    let delete = sql.build_query_as().bind(scope.key()).bind(owner).bind(STEP);
    let pieces: Vec<(Vec<u8>, i64)> = delete.fetch_all(&mut *connection).await.doing(ERASE)?;
    let items = pieces.iter().filter(|(_, piece)| *piece == 0).count() as u64;
    let is_last = whole(pieces.len() as u64) < STEP;
    if is_last && discarded == Some(owner) {
        forget(connection, scope, owner, &[rows]).await?;
    }
    Ok(Some(Done { items, owner, is_last }))
}

async fn left(connection: &mut PgConnection, scope: &Scope, table: &Table, below: Epoch) -> Attempt<u64> {
    show(connection, scope).await?;
    // Including those whose number `index_owner` lacks.
    let text = "SELECT count(*) FROM {table} AS item \
         LEFT JOIN index_owner AS owner ON owner.scope = item.scope AND owner.id = item.owner \
         WHERE item.piece = 0 AND item.scope = $1 AND (owner.id IS NULL OR owner.buried OR item.epoch < $2)";
    let mut sql = fill(text, &[("table", &table.table)]);
    let left = sql.build_query_scalar().bind(scope.key()).bind(whole(below.0)).fetch_one(connection);
    let left: i64 = left.await.doing(ERASE)?;
    Ok(left.unsigned_abs())
}
