//! The fence of an owner's records, which puts carry and deletions raise.

use memory_core::error::{Error, Result};
use memory_core::scope::{Epoch, Scope};
use memory_core::store::chat::Fence;
use sqlx::postgres::PgConnection;

use crate::client::{Call, Postgres};
use crate::error::{Attempt, BACKEND, Doing};
use crate::number::{loaded, stored};

/// Locks an owner's records against other writers until the transaction ends; returns the fence.
pub(super) async fn enter(connection: &mut PgConnection, scope: &Scope, doing: &'static str) -> Attempt<Fence> {
    let enter = sqlx::query_scalar::<_, Option<Vec<i64>>>("SELECT enter_records($1)").bind(scope.key());
    let found = enter.fetch_one(connection).await.doing(doing)?;
    Ok(found.map_or(Ok(Fence::default()), |found| fence(&found))?)
}

/// Reads the fence.
pub(super) async fn read(server: &Postgres, scope: &Scope) -> Result<Fence> {
    let doing = "read the fence of records";
    let found = server.run(Call::statement(doing), scope.clone(), move |connection, scope| {
        Box::pin(async move {
            let sql = "SELECT ARRAY[epoch, generation] FROM owner WHERE scope = $1 AND truth = 1";
            let found = sqlx::query_scalar::<_, Vec<i64>>(sql).bind(scope.key());
            found.fetch_optional(connection).await.doing(doing)
        })
    });
    found.await?.map_or(Ok(Fence::default()), |found| fence(&found))
}

/// Raises the fence above `seen`, unless it already is or has another epoch; returns it.
pub(super) async fn advance(server: &Postgres, scope: &Scope, seen: Fence) -> Result<Fence> {
    seen.check()?;
    let (epoch, generation, doing) = (stored(seen.epoch.0)?, stored(seen.generation)?, "raise the fence of records");
    let found = server.run(Call::statement(doing), scope.clone(), move |connection, scope| {
        Box::pin(async move {
            let advance = sqlx::query_scalar::<_, Vec<i64>>("SELECT advance_records($1, $2, $3)").bind(scope.key());
            advance.bind(epoch).bind(generation).fetch_one(connection).await.doing(doing)
        })
    });
    fence(&found.await?)
}

fn fence(found: &[i64]) -> Result<Fence> {
    let &[epoch, generation] = found else { return Err(Error::corrupt(BACKEND, "a fence has two numbers")) };
    Ok(Fence { epoch: Epoch(loaded(epoch)?), generation: loaded(generation)? })
}
