//! Erasing an owner's texts, and clearing them.

use std::sync::Arc;

use memory_core::store::{Erased, ErasureLevel};
use memory_core::{Epoch, Result, Scope};
use sqlx::postgres::PgConnection;

use super::items;
use super::write::delete_places;
use crate::client::{Call, Postgres};
use crate::error::{Attempt, Doing};
use crate::index::burial::{Rows, bury, delete_first, forget, next};
use crate::index::owner::whole;
use crate::index::{Owner, show};

const ERASE: &str = "erase the owner's texts";

/// How many rows one transaction deletes at most, so that none takes long.
const STEP: i64 = 10_000;

/// The tables with rows of an owner's number, and their keys. The first one holds the items, which are counted.
const TABLES: [Rows<'_>; 4] = [
    ("text_item", &["id"]),
    ("text_tail", &["unit", "item"]),
    ("text_segment", &["unit", "segment"]),
    ("text_posting", &["segment", "term"]),
];

/// Removes everything of epochs before `below`.
pub(super) async fn erase(database: &Postgres, name: &Arc<str>, scope: &Scope, below: Epoch) -> Result<Erased> {
    let input = || (scope.clone(), Arc::clone(name), below);
    let begin = database.run(Call::transaction(ERASE).long(), input(), |connection, (scope, name, below)| {
        Box::pin(begin(connection, scope, name, *below))
    });
    let removed = begin.await? + delete_buried(database, name, scope).await?;
    let left = database.run(Call::transaction(ERASE).long(), input(), |connection, (scope, name, below)| {
        Box::pin(left(connection, scope, name, *below))
    });
    Ok(Erased { removed, remaining: left.await?, level: ErasureLevel::Logical })
}

/// Removes everything. It is buried first: nothing is read, so that damage is no obstacle.
pub(super) async fn clear(database: &Postgres, name: &Arc<str>, scope: &Scope) -> Result<()> {
    let input = (scope.clone(), Arc::clone(name));
    let bury = database.run(Call::transaction("clear the owner's texts").long(), input, |connection, (scope, name)| {
        Box::pin(bury(connection, scope, name))
    });
    bury.await?;
    delete_buried(database, name, scope).await.map(|_| ())
}

/// Deletes what is buried, and returns how many were items.
async fn delete_buried(database: &Postgres, name: &Arc<str>, scope: &Scope) -> Result<u64> {
    let mut removed = 0;
    loop {
        let input = (scope.clone(), Arc::clone(name));
        let step = database.run(Call::transaction(ERASE).long(), input, |connection, (scope, name)| {
            Box::pin(step(connection, scope, name))
        });
        match step.await? {
            Some(items) => removed += items,
            None => return Ok(removed),
        }
    }
}

/// Raises the epoch of an owner to `below`. If all its items are older, buries them all at once.
///
/// Otherwise deletes the older items one by one, and returns how many they were.
async fn begin(connection: &mut PgConnection, scope: &Scope, name: &str, below: Epoch) -> Attempt<u64> {
    let mut owner = Owner::intern(connection, scope, name).await?;
    owner.raise(below);
    owner.save(connection).await?;
    // Counted, not read: what is buried may be damaged, and may be much. Without any item there may be what belonged to some.
    let (all, older) = items::count(connection, &owner, below).await?;
    if older == all {
        if older > 0 || owner.is_used() {
            owner.bury(connection, name).await?;
        }
        return Ok(0);
    }
    let places = items::older(connection, &owner, below).await?;
    delete_places(connection, &mut owner, &places).await?;
    Ok(places.len() as u64)
}

/// Deletes some buried rows and, after the last ones, the old number itself. Returns how many were items; none if nothing was
/// buried.
async fn step(connection: &mut PgConnection, scope: &Scope, name: &str) -> Attempt<Option<u64>> {
    show(connection, scope).await?;
    let Some(owner) = next(connection, scope, name, &TABLES).await? else { return Ok(None) };
    let (mut rest, mut items) = (STEP, None);
    for table in TABLES {
        let mut sql = delete_first(table);
        let delete = sql.build().bind(scope.key()).bind(owner).bind(rest);
        let deleted = delete.execute(&mut *connection).await.doing(ERASE)?.rows_affected();
        items.get_or_insert(deleted);
        rest -= whole(deleted);
    }
    if rest > 0 {
        forget(connection, scope, owner, &TABLES).await?;
    }
    Ok(items)
}

async fn left(connection: &mut PgConnection, scope: &Scope, name: &str, below: Epoch) -> Attempt<u64> {
    show(connection, scope).await?;
    // Including those whose number `index_owner` lacks.
    let sql = "SELECT count(*) FROM text_item AS item \
         LEFT JOIN index_owner AS owner ON owner.scope = item.scope AND owner.id = item.owner \
         WHERE item.scope = $1 AND (owner.id IS NULL OR owner.name = $2 AND (owner.buried OR item.epoch < $3))";
    let left = sqlx::query_scalar(sql).bind(scope.key()).bind(name).bind(whole(below.0)).fetch_one(connection);
    let left: i64 = left.await.doing(ERASE)?;
    Ok(left.unsigned_abs())
}
