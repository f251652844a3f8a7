//! The erasure of an owner's vectors.

use std::sync::Arc;

use memory_core::store::{Erased, ErasureLevel};
use memory_core::{Epoch, Result, Scope};
use sqlx::QueryBuilder;
use sqlx::postgres::PgConnection;

use super::own_index::OwnIndexes;
use super::table::Table;
use super::write::remove_rows;
use crate::client::{Call, Postgres};
use crate::error::{Attempt, Doing};
use crate::index::burial::{Rows, delete_first, forget, next};
use crate::index::owner::whole;
use crate::index::{Owner, show};

const ERASE: &str = "erase the owner's vectors";

/// How many pieces one transaction deletes at the most, so that none takes long.
const STEP: i64 = 2_000;

/// Removes everything of epochs before `below`.
pub(super) async fn erase(
    database: &Postgres,
    table: &Arc<Table>,
    indexes: &OwnIndexes,
    scope: &Scope,
    below: Epoch,
) -> Result<Erased> {
    let input = || (scope.clone(), Arc::clone(table), below);
    let begin = database.run(Call::transaction(ERASE).long(), input(), |connection, (scope, table, below)| {
        Box::pin(begin(connection, scope, table, *below))
    });
    let mut removed = begin.await?;
    loop {
        let step = database.run(Call::transaction(ERASE).long(), input(), |connection, (scope, table, _)| {
            Box::pin(step(connection, scope, table))
        });
        let Some(done) = step.await? else { break };
        removed += done.items;
        if let Some(owner) = done.emptied {
            indexes.discard(owner).await?;
        }
    }
    let left = database.run(Call::transaction(ERASE).long(), input(), |connection, (scope, table, below)| {
        Box::pin(left(connection, scope, table, *below))
    });
    Ok(Erased { removed, remaining: left.await?, level: ErasureLevel::Logical })
}

/// Notes that everything of epochs before `below` is erased, and puts it out of reach if there is nothing else.
///
/// Returns how many items were deleted, one by one, because there are newer ones beside them.
async fn begin(connection: &mut PgConnection, scope: &Scope, table: &Table, below: Epoch) -> Attempt<u64> {
    let mut owner = Owner::intern(connection, scope, &table.name).await?;
    owner.raise(below);
    owner.save(connection).await?;
    let (older, newer) = count(connection, &owner, table, below).await?;
    if older == 0 {
        return Ok(0);
    }
    if newer == 0 {
        owner.bury(connection, &table.name).await?;
        return Ok(0);
    }
    let mut sql = QueryBuilder::new("DELETE FROM ");
    sql.push(&table.table).push(" WHERE scope = ").push_bind(scope.key()).push(" AND owner = ").push_bind(owner.id);
    sql.push(" AND epoch < ").push_bind(whole(below.0));
    let deleted = sql.build().execute(&mut *connection).await.doing(ERASE)?;
    remove_rows(&mut owner, whole(deleted.rows_affected()));
    owner.save(connection).await?;
    Ok(older)
}

/// Returns how many items are of epochs before `below`, and how many others there are.
async fn count(connection: &mut PgConnection, owner: &Owner, table: &Table, below: Epoch) -> Attempt<(u64, u64)> {
    let mut sql = QueryBuilder::new("SELECT count(*) FILTER (WHERE epoch < ");
    sql.push_bind(whole(below.0)).push("), count(*) FILTER (WHERE epoch >= ").push_bind(whole(below.0));
    // Each item has a first piece.
    sql.push(") FROM ").push(&table.table).push(" WHERE piece = 0 AND scope = ").push_bind(owner.scope.key());
    sql.push(" AND owner = ").push_bind(owner.id);
    let (older, newer): (i64, i64) = sql.build_query_as().fetch_one(connection).await.doing(ERASE)?;
    Ok((older.unsigned_abs(), newer.unsigned_abs()))
}

/// What a step has done.
struct Done {
    /// How many items lost their first piece.
    items: u64,
    /// The number of which nothing is left.
    emptied: Option<i64>,
}

/// Deletes some pieces of what is buried; none if nothing was.
async fn step(connection: &mut PgConnection, scope: &Scope, table: &Table) -> Attempt<Option<Done>> {
    show(connection, scope).await?;
    let rows: Rows<'_> = (&table.table, &["item", "piece"]);
    let Some(owner) = next(connection, scope, &table.name, &[rows]).await? else { return Ok(None) };
    let mut delete = delete_first(rows, scope, owner, STEP);
    let pieces: Vec<i64> =
        delete.push(" RETURNING gone.piece").build_query_scalar().fetch_all(&mut *connection).await.doing(ERASE)?;
    let items = pieces.iter().filter(|piece| **piece == 0).count() as u64;
    let is_empty = whole(pieces.len() as u64) < STEP && forget(connection, scope, owner, &[rows]).await?;
    Ok(Some(Done { items, emptied: is_empty.then_some(owner) }))
}

async fn left(connection: &mut PgConnection, scope: &Scope, table: &Table, below: Epoch) -> Attempt<u64> {
    show(connection, scope).await?;
    let mut sql = QueryBuilder::new("SELECT count(*) FROM ");
    sql.push(&table.table)
        .push(" AS item LEFT JOIN index_owner AS owner ON owner.scope = item.scope AND owner.id = item.owner");
    sql.push(" WHERE item.piece = 0 AND item.scope = ").push_bind(scope.key());
    // Also those whose number nobody knows.
    sql.push(" AND (owner.id IS NULL OR owner.buried OR item.epoch < ").push_bind(whole(below.0)).push(")");
    let left: i64 = sql.build_query_scalar().fetch_one(connection).await.doing(ERASE)?;
    Ok(left.unsigned_abs())
}
