//! The erasure of an owner's vectors.

use std::sync::Arc;

use memory_core::store::{Erased, ErasureLevel};
use memory_core::{Epoch, Result, Scope};
use sqlx::QueryBuilder;
use sqlx::postgres::PgConnection;

use super::own_index::OwnIndexes;
use super::table::Table;
use super::write::{Shrunk, remove_rows};
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
        indexes.discard(shrunk.owner).await?;
    }
    // The number whose index is gone. It is forgotten only then: a repeat of a call that was cut off finds it again.
    let mut discarded = None;
    loop {
        let input = (scope.clone(), Arc::clone(table), discarded);
        let step = database.run(Call::transaction(ERASE).long(), input, |connection, (scope, table, discarded)| {
            Box::pin(step(connection, scope, table, *discarded))
        });
        let Some(done) = step.await? else { break };
        removed += done.items;
        if discarded != Some(done.owner) {
            indexes.discard(done.owner).await?;
            discarded = Some(done.owner);
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
    let mut sql = QueryBuilder::new("DELETE FROM ");
    sql.push(&table.table).push(" WHERE scope = ").push_bind(scope.key()).push(" AND owner = ").push_bind(owner.id);
    sql.push(" AND epoch < ").push_bind(whole(below.0));
    let deleted = sql.build().execute(&mut *connection).await.doing(ERASE)?;
    let shrunk = remove_rows(connection, owner, whole(deleted.rows_affected())).await?;
    Ok((older, Some(shrunk)))
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
    /// The number that they had.
    owner: i64,
}

/// Deletes some pieces of what is buried, and forgets the number `discarded` when there are no more; none if nothing was.
async fn step(
    connection: &mut PgConnection,
    scope: &Scope,
    table: &Table,
    discarded: Option<i64>,
) -> Attempt<Option<Done>> {
    show(connection, scope).await?;
    let rows: Rows<'_> = (&table.table, &["item", "piece"]);
    let Some(owner) = next(connection, scope, &table.name, &[rows]).await? else { return Ok(None) };
    let mut delete = delete_first(rows, scope, owner, STEP);
    let pieces: Vec<i64> =
        delete.push(" RETURNING gone.piece").build_query_scalar().fetch_all(&mut *connection).await.doing(ERASE)?;
    let items = pieces.iter().filter(|piece| **piece == 0).count() as u64;
    if whole(pieces.len() as u64) < STEP && discarded == Some(owner) {
        forget(connection, scope, owner, &[rows]).await?;
    }
    Ok(Some(Done { items, owner }))
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
