//! An owner within one index.

use memory_core::{Epoch, Result, Scope};
use sqlx::SqliteConnection;
use uuid::Uuid;

use super::key::corrupt;
use crate::error::Doing;

const FIND: &str = "find the owner's index";
const BURY: &str = "bury what has no owner";

/// The row of an owner in one index.
#[derive(Debug)]
pub(crate) struct Owner {
    /// The number that opens the keys of all the owner's rows in this index.
    pub(crate) id: i64,
    /// Entries of an older epoch are dropped.
    pub(crate) below: i64,
    next: i64,
    /// A random number, drawn with each change of the owner's entries. A cached state is valid as long as this is the same,
    /// even if the file is replaced by an older copy. 0 if the owner has no entries yet.
    pub(crate) changed: i64,
}

impl Owner {
    /// Returns the owner's row in the index called `name`, if there is one.
    ///
    /// # Errors
    /// `Corrupt` if there is none, but entries whose row is gone: they may be the owner's, and would be the next one's.
    pub(crate) async fn find(connection: &mut SqliteConnection, scope: &Scope, name: &str) -> Result<Option<Self>> {
        let found = Self::look(connection, scope, name).await?;
        let sql =
            "SELECT EXISTS (SELECT 1 FROM index_item WHERE owner > (SELECT coalesce(max(id), 0) FROM index_owner))";
        if found.is_none() && sqlx::query_scalar::<_, bool>(sql).fetch_one(connection).await.doing(FIND)? {
            return Err(corrupt("entries of an index have lost the row of their owner"));
        }
        Ok(found)
    }

    async fn look(connection: &mut SqliteConnection, scope: &Scope, name: &str) -> Result<Option<Self>> {
        let sql = "SELECT id, below, next, changed FROM index_owner WHERE scope = ? AND name = ? AND buried = 0";
        let row = sqlx::query_as(sql).bind(scope.key()).bind(name).fetch_optional(connection).await.doing(FIND)?;
        Ok(row.map(|(id, below, next, changed)| Self { id, below, next, changed }))
    }

    /// Buries entries whose row is gone, if the owner has none in the index called `name`: they may be the owner's. They may also be
    /// those of others and of other indexes, so truth meets a new incarnation of each, and notes everything for it.
    pub(crate) async fn bury_lost(connection: &mut SqliteConnection, scope: &Scope, name: &str) -> Result<()> {
        if Self::look(connection, scope, name).await?.is_some() {
            return Ok(());
        }
        // No scope has an empty key.
        let sql = "INSERT INTO index_owner (id, scope, name, below, next, changed, buried) \
             SELECT DISTINCT owner, '', ?, 0, 1, 0, 1 FROM index_item \
             WHERE owner > (SELECT coalesce(max(id), 0) FROM index_owner)";
        let bury = sqlx::query(sql).bind(name).execute(&mut *connection).await;
        if bury.doing(BURY)?.rows_affected() == 0 {
            return Ok(());
        }
        tracing::warn!("entries of an index that have lost the row of their owner are deleted: upkeep puts them again");
        sqlx::query("DELETE FROM index_place").execute(connection).await.doing(BURY).map(|_| ())
    }

    /// Returns the owner's row in the index called `name`, which is made if there is none.
    pub(crate) async fn intern(connection: &mut SqliteConnection, scope: &Scope, name: &str) -> Result<Self> {
        match Self::find(connection, scope, name).await? {
            Some(owner) => Ok(owner),
            None => Self::create(connection, scope, name, 0).await,
        }
    }

    async fn create(connection: &mut SqliteConnection, scope: &Scope, name: &str, below: i64) -> Result<Self> {
        let sql = "INSERT INTO index_owner (scope, name, below, next, changed, buried) VALUES (?, ?, ?, 1, 0, 0) RETURNING id";
        let id = sqlx::query_scalar(sql)
            .bind(scope.key())
            .bind(name)
            .bind(below)
            .fetch_one(connection)
            .await
            .doing("begin the owner's index")?;
        Ok(Self { id, below, next: 1, changed: 0 })
    }

    /// Makes all the owner's entries in the index called `name` unreachable, to be deleted later.
    pub(crate) async fn bury(self, connection: &mut SqliteConnection, scope: &Scope, name: &str) -> Result<()> {
        let Self { id, below, next: _, changed: _ } = self;
        let bury = sqlx::query("UPDATE index_owner SET buried = 1 WHERE id = ?").bind(id);
        bury.execute(&mut *connection).await.doing("bury the owner's index")?;
        Self::create(connection, scope, name, below).await.map(|_| ())
    }

    /// Returns a number that the owner has not used before.
    pub(crate) fn number(&mut self) -> i64 {
        let number = self.next;
        self.next += 1;
        number
    }

    /// Begins a change of its entries.
    pub(crate) fn change(&mut self) {
        self.changed = drawn();
    }

    /// Raises the epoch below which entries are dropped.
    pub(crate) fn raise(&mut self, below: Epoch) {
        self.below = self.below.max(whole(below.0));
    }

    /// Writes the row back.
    pub(crate) async fn save(&self, connection: &mut SqliteConnection) -> Result<()> {
        let Self { id, below, next, changed } = self;
        sqlx::query("UPDATE index_owner SET below = ?, next = ?, changed = ? WHERE id = ?")
            .bind(below)
            .bind(next)
            .bind(changed)
            .bind(id)
            .execute(connection)
            .await
            .doing("write the owner's index")?;
        Ok(())
    }
}

/// Returns a random number that no process has drawn before, in any copy of the file.
fn drawn() -> i64 {
    let (time, chance) = Uuid::now_v7().as_u64_pair();
    (time ^ chance).cast_signed()
}

/// Returns the number as SQLite holds it. Numbers too large for that, which nothing ever reaches, become the largest.
pub(crate) fn whole(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}
