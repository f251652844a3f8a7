//! An owner within one index.

use memory_core::{Epoch, Result, Scope, Version};
use sqlx::postgres::PgConnection;

use crate::error::{Attempt, Doing};
use crate::number::loaded;

/// The row of an owner in one index, locked until the transaction ends: writers of one index of one owner take turns.
#[derive(Debug)]
pub(crate) struct Owner {
    pub(crate) scope: Scope,
    /// Follows the scope in the keys of everything that the owner has in this index.
    pub(crate) id: i64,
    /// Entries of an older epoch are dropped.
    pub(crate) below: i64,
    next: i64,
    totals: Vec<i64>,
}

/// Finds an owner's row, after setting the owner for row-level security. The limit keeps the order of the parts: the planner
/// never merges the inner part into the outer one, whose answer it needs.
const FIND: &str = "WITH shown AS MATERIALIZED (SELECT set_config('memory.scope', $1, true) AS scope) \
     SELECT mine.id, mine.below, mine.next, mine.totals FROM shown CROSS JOIN LATERAL (\
     SELECT id, below, next, totals FROM index_owner \
     WHERE scope = shown.scope AND name = $2 AND NOT buried LIMIT 1 FOR UPDATE) AS mine";

/// Adds a row, unless another transaction does.
const CREATE: &str = "INSERT INTO index_owner (scope, name) VALUES ($1, $2) \
     ON CONFLICT (scope, name) WHERE NOT buried DO NOTHING";

const DOING: &str = "find the owner's index";

impl Owner {
    /// Locks the owner's row in the index called `name`, if there is one. From then on row-level security shows the
    /// owner's rows.
    pub(crate) async fn find(connection: &mut PgConnection, scope: &Scope, name: &str) -> Attempt<Option<Self>> {
        let found = sqlx::query_as(FIND).bind(scope.key()).bind(name).fetch_optional(connection).await.doing(DOING)?;
        Ok(found.map(|(id, below, next, totals)| Self { scope: scope.clone(), id, below, next, totals }))
    }

    /// Locks the owner's row in the index called `name`, which is made if there is none.
    pub(crate) async fn intern(connection: &mut PgConnection, scope: &Scope, name: &str) -> Attempt<Self> {
        loop {
            if let Some(owner) = Self::find(connection, scope, name).await? {
                return Ok(owner);
            }
            let create = sqlx::query(CREATE).bind(scope.key()).bind(name).execute(&mut *connection);
            create.await.doing("begin the owner's index")?;
        }
    }

    /// Makes all the owner's entries in the index called `name` unreachable, to be deleted later.
    pub(crate) async fn bury(self, connection: &mut PgConnection, name: &str) -> Attempt<()> {
        let doing = "bury the owner's index";
        let Self { scope, id, below, next: _, totals: _ } = self;
        let bury = sqlx::query("UPDATE index_owner SET buried = true WHERE scope = $1 AND id = $2");
        bury.bind(scope.key()).bind(id).execute(&mut *connection).await.doing(doing)?;
        let create = sqlx::query("INSERT INTO index_owner (scope, name, below) VALUES ($1, $2, $3)");
        create.bind(scope.key()).bind(name).bind(below).execute(connection).await.doing(doing).map(|_| ())
    }

    /// Returns whether anything was ever put under this number of the owner.
    pub(crate) fn is_used(&self) -> bool {
        self.next != 1
    }

    /// Returns a number that the owner has not used before.
    pub(crate) fn number(&mut self) -> i64 {
        let number = self.next;
        self.next += 1;
        number
    }

    /// Raises the epoch below which entries are dropped.
    pub(crate) fn raise(&mut self, below: Epoch) {
        self.below = self.below.max(whole(below.0));
    }

    /// Returns a total; 0 if there was none.
    pub(crate) fn total(&self, place: usize) -> i64 {
        self.totals.get(place).copied().unwrap_or(0)
    }

    /// Sets a total.
    pub(crate) fn set_total(&mut self, place: usize, total: i64) {
        if self.totals.len() <= place {
            self.totals.resize(place + 1, 0);
        }
        if let Some(held) = self.totals.get_mut(place) {
            *held = total;
        }
    }

    /// Writes the row back.
    pub(crate) async fn save(&self, connection: &mut PgConnection) -> Attempt<()> {
        let Self { scope, id, below, next, totals } = self;
        sqlx::query("UPDATE index_owner SET below = $3, next = $4, totals = $5 WHERE scope = $1 AND id = $2")
            .bind(scope.key())
            .bind(id)
            .bind(below)
            .bind(next)
            .bind(totals)
            .execute(connection)
            .await
            .doing("write the owner's index")
            .map(|_| ())
    }
}

/// Returns the number as the server holds it. Numbers too large for that, which nothing ever reaches, become the largest.
pub(crate) fn whole(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

/// Returns the version that these stored numbers stand for.
///
/// # Errors
/// `Corrupt` if one of them is negative.
pub(crate) fn version(epoch: i64, revision: i64) -> Result<Version> {
    Ok(Version { epoch: Epoch(loaded(epoch)?), revision: loaded(revision)? })
}

/// Returns the owner's number in the index called `name`, without a lock.
pub(crate) async fn number(connection: &mut PgConnection, scope: &Scope, name: &str) -> Attempt<Option<i64>> {
    let sql = "SELECT id FROM index_owner WHERE scope = $1 AND name = $2 AND NOT buried";
    sqlx::query_scalar(sql).bind(scope.key()).bind(name).fetch_optional(connection).await.doing(DOING)
}
