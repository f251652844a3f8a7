//! The fence of an owner's records, which puts carry and deletions raise.

use memory_core::error::Result;
use memory_core::scope::{Epoch, Scope};
use memory_core::store::chat::Fence;
use sqlx::SqliteConnection;

use crate::client::Sqlite;
use crate::error::Doing;
use crate::number::{loaded, stored};
use crate::owner::{self, Owner, Truth};

const ADVANCE: &str = "raise the fence of records";

/// Returns the owner, if it is known, with its fence.
pub(super) async fn find(
    connection: &mut SqliteConnection,
    scope: &Scope,
    doing: &'static str,
) -> Result<Option<(Owner, Fence)>> {
    let sql = "SELECT id, epoch, generation FROM owner WHERE truth = ? AND key = ? AND buried = 0";
    let owner = sqlx::query_as::<_, (i64, i64, i64)>(sql).bind(Truth::Records.number()).bind(scope.key());
    let Some((id, epoch, generation)) = owner.fetch_optional(connection).await.doing(doing)? else { return Ok(None) };
    let fence = Fence { epoch: Epoch(loaded(epoch)?), generation: loaded(generation)? };
    Ok(Some((Owner { id, epoch }, fence)))
}

/// Raises the generation of an owner's records to `generation`, or by one if it is none.
pub(super) async fn raise(
    connection: &mut SqliteConnection,
    owner: Owner,
    generation: Option<i64>,
    doing: &'static str,
) -> Result<()> {
    let raise = sqlx::query("UPDATE owner SET generation = coalesce(?, generation + 1) WHERE id = ?");
    raise.bind(generation).bind(owner.id).execute(connection).await.doing(doing).map(|_| ())
}

/// Reads the fence.
pub(super) async fn read(file: &Sqlite, scope: &Scope) -> Result<Fence> {
    let (scope, doing) = (scope.clone(), "read the fence of records");
    let found = file.read(doing, move |connection| Box::pin(async move { find(connection, &scope, doing).await }));
    Ok(found.await?.map_or(Fence::default(), |(_, fence)| fence))
}

/// Raises the fence above `seen`, unless it already is or has another epoch; returns it.
pub(super) async fn advance(file: &Sqlite, scope: &Scope, seen: Fence) -> Result<Fence> {
    seen.check()?;
    let scope = scope.clone();
    let work = file.write(ADVANCE, move |connection| {
        Box::pin(async move {
            let (owner, now) = match find(connection, &scope, ADVANCE).await? {
                Some(found) => found,
                None => (owner::create(connection, Truth::Records, &scope, 0, ADVANCE).await?, Fence::default()),
            };
            if now.epoch != seen.epoch || now > seen {
                return Ok(now);
            }
            let next = Fence { generation: seen.generation.saturating_add(1), ..seen };
            raise(connection, owner, Some(stored(next.generation)?), ADVANCE).await?;
            Ok(next)
        })
    });
    work.await
}
