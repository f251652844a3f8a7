//! Owners: their epochs, burial and erasure.

use memory_core::error::{Error, Result};
use memory_core::scope::{Epoch, Scope};
use memory_core::store::{Erased, ErasureLevel};
use sqlx::Row;
use sqlx::postgres::PgConnection;

use crate::client::{Call, Postgres};
use crate::error::{Attempt, BACKEND, Doing};
use crate::number::{bound, limit, loaded, stored};

/// How many rows one transaction deletes at most, so that it meets its deadline.
const STEP: usize = 10_000;

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
    pub(crate) fn number(self) -> i16 {
        match self {
            Self::Chat => 0,
            Self::Records => 1,
        }
    }
}

/// Locks an owner's data of a truth against other writers until the transaction ends. Returns the owner's epoch; none for an
/// unknown owner.
pub(crate) async fn enter(
    connection: &mut PgConnection,
    truth: Truth,
    scope: &Scope,
    doing: &'static str,
) -> Attempt<Option<i64>> {
    let enter = sqlx::query_scalar("SELECT enter_owner($1, $2)").bind(truth.number()).bind(scope.key());
    enter.fetch_one(connection).await.doing(doing)
}

/// Returns the owner's epoch; zero for an unknown one.
pub(crate) async fn epoch(server: &Postgres, truth: Truth, scope: &Scope) -> Result<Epoch> {
    let doing = "read an epoch";
    let epoch = server.run(Call::statement(doing), scope.clone(), move |connection, scope| {
        Box::pin(async move {
            let sql = "SELECT epoch FROM owner WHERE scope = $1 AND truth = $2";
            let epoch = sqlx::query_scalar::<_, i64>(sql).bind(scope.key()).bind(truth.number());
            epoch.fetch_optional(connection).await.doing(doing)
        })
    });
    Ok(Epoch(epoch.await?.map_or(Ok(0), loaded)?))
}

/// Returns up to `count` owners after `after`, in the order of their keys. A key that no owner has holds up no others.
pub(crate) async fn owners(server: &Postgres, truth: Truth, after: Option<&Scope>, count: usize) -> Result<Vec<Scope>> {
    let doing = "list owners";
    let (mut owners, mut after) = (Vec::new(), after.map_or_else(String::new, |after| after.key().to_owned()));
    while owners.len() < count {
        let rest = limit(count - owners.len());
        let keys = server.run(Call::statement(doing), after.clone(), move |connection, after| {
            Box::pin(async move {
                let sql = "SELECT scope FROM owner WHERE truth = $1 AND scope > $2 ORDER BY scope LIMIT $3";
                let keys = sqlx::query_scalar::<_, String>(sql).bind(truth.number()).bind(after).bind(rest);
                keys.fetch_all(connection).await.doing(doing)
            })
        });
        let keys = keys.await?;
        for key in &keys {
            match scope_of(key) {
                Ok(owner) => owners.push(owner),
                Err(error) => tracing::warn!(%error, "a row of the list of owners is passed over"),
            }
        }
        match keys.last() {
            Some(last) if limit(keys.len()) == rest => after.clone_from(last),
            _ => break,
        }
    }
    Ok(owners)
}

/// Returns the owner with this key.
///
/// # Errors
/// `Corrupt` for an invalid key.
pub(crate) fn scope_of(key: &str) -> Result<Scope> {
    Scope::from_key(key).map_err(|_| Error::corrupt(BACKEND, "no owner has this key"))
}

const BURY: &str = "begin an erasure";

/// Begins the erasure of an owner: raises the epoch above `seen` and notes it for every index, unless that was done;
/// returns the epoch.
pub(crate) async fn bury(server: &Postgres, truth: Truth, scope: &Scope, seen: Epoch) -> Result<Epoch> {
    seen.check()?;
    let seen = stored(seen.0)?;
    let bury = server.run(Call::transaction(BURY), scope.clone(), move |connection, scope| {
        Box::pin(async move {
            // First to at least what was seen. The owner is then locked until the transaction ends.
            let epoch = raise(connection, truth, scope, Some(seen)).await?;
            if epoch > seen { Ok(epoch) } else { raise(connection, truth, scope, None).await }
        })
    });
    Ok(Epoch(loaded(bury.await?)?))
}

/// Raises the owner's epoch to `below` if it is lower or, if `below` is none, by one, and notes the erasure. Returns it.
async fn raise(connection: &mut PgConnection, truth: Truth, scope: &Scope, below: Option<i64>) -> Attempt<i64> {
    let raise = sqlx::query_scalar("SELECT bury_owner($1, $2, $3)").bind(truth.number());
    raise.bind(scope.key()).bind(below).fetch_one(connection).await.doing(BURY)
}

/// Removes everything of `scope` written in an epoch before `below`, and counts what is left.
pub(crate) async fn erase(server: &Postgres, truth: Truth, scope: &Scope, below: Epoch) -> Result<Erased> {
    below.check()?;
    let number = stored(below.0)?;
    let raise = server.run(Call::statement(BURY), scope.clone(), move |connection, scope| {
        Box::pin(raise(connection, truth, scope, Some(number)))
    });
    raise.await?;
    let mut removed = 0;
    loop {
        let (items, is_more) = step(server, truth, scope, number).await?;
        removed += loaded(items)?;
        if !is_more {
            break;
        }
    }
    let doing = "count what is left";
    let left = server.run(Call::statement(doing).long(), scope.clone(), move |connection, scope| {
        Box::pin(async move {
            let left = sqlx::query_scalar::<_, i64>("SELECT count_left($1, $2, $3)").bind(truth.number());
            left.bind(scope.key()).bind(bound(below.0)).fetch_one(connection).await.doing(doing)
        })
    });
    Ok(Erased { removed, remaining: loaded(left.await?)?, level: ErasureLevel::Logical })
}

async fn step(server: &Postgres, truth: Truth, scope: &Scope, below: i64) -> Result<(i64, bool)> {
    let doing = "erase an owner";
    let step = server.run(Call::statement(doing).rows(STEP), scope.clone(), move |connection, scope| {
        Box::pin(async move {
            let step = sqlx::query("SELECT items, is_more FROM erase_some($1, $2, $3, $4)").bind(truth.number());
            let row = step.bind(scope.key()).bind(below).bind(limit(STEP)).fetch_one(connection).await.doing(doing)?;
            Ok((row.try_get(0).doing(doing)?, row.try_get(1).doing(doing)?))
        })
    });
    step.await
}
