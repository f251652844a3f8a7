//! The indexes that owners with many vectors have of their own, built in the background.

use std::collections::HashSet;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use memory_core::{Error, Result};
use sqlx::QueryBuilder;
use sqlx::postgres::PgConnection;

use super::table::Table;
use crate::client::Postgres;
use crate::error::{Attempt, BACKEND, Doing};

const DOING: &str = "build an index of vectors";
/// How long to wait before asking again whose turn it is.
const PAUSE: Duration = Duration::from_millis(50);

/// Builds and drops the owners' own indexes of one space. Cheap to clone; clones share what is being built.
#[derive(Clone, Debug)]
pub(super) struct OwnIndexes {
    database: Postgres,
    table: Arc<Table>,
    /// Owners whose index this process has begun: each once, so that a server that refuses is not asked with each call.
    begun: Arc<Mutex<HashSet<i64>>>,
}

impl OwnIndexes {
    pub(super) fn new(database: &Postgres, table: &Arc<Table>) -> Self {
        Self { database: database.clone(), table: Arc::clone(table), begun: Arc::default() }
    }

    /// Builds the owner's index in a task of its own, unless this process has begun to.
    pub(super) fn ensure(&self, owner: i64) {
        if !self.table.is_indexable || !self.begun.lock().unwrap_or_else(PoisonError::into_inner).insert(owner) {
            return;
        }
        let indexes = self.clone();
        tokio::spawn(async move {
            if let Err(error) = indexes.build(owner).await {
                tracing::warn!(%error, "an owner's vectors have no index, and are all compared with each search");
            }
        });
    }

    /// Builds the owner's index, and returns whether it stands.
    pub(super) async fn build(&self, owner: i64) -> Result<bool> {
        if !self.table.is_indexable {
            return Ok(false);
        }
        let input = Arc::clone(&self.table);
        let build =
            self.database.apart(DOING, input, move |connection, table| Box::pin(build(connection, table, owner)));
        build.await
    }

    /// Drops the index of an owner's number that is no longer in use, if there is one.
    pub(super) async fn discard(&self, owner: i64) -> Result<()> {
        let input = Arc::clone(&self.table);
        let discard = self.database.apart("drop an index of vectors", input, move |connection, table| {
            Box::pin(discard(connection, table, owner))
        });
        discard.await
    }
}

/// Neither blocks writers nor readers. Of several processes one builds.
async fn build(connection: &mut PgConnection, table: &Table, owner: i64) -> Attempt<bool> {
    let name = table.index_of(owner);
    take_turn(connection, table).await?;
    match state(connection, &name).await? {
        Some(true) => return Ok(true),
        // Left by a build that was interrupted.
        Some(false) => drop_index(connection, &name).await?,
        None => {}
    }
    // By one process: several share memory, of which containers have little, and would crowd out the searches.
    let alone = sqlx::raw_sql("SET max_parallel_maintenance_workers = 0").execute(&mut *connection);
    alone.await.doing(DOING)?;
    let half = format!("halfvec({})", table.space.dimension);
    let mut sql = QueryBuilder::new("CREATE INDEX CONCURRENTLY ");
    sql.push(&name).push(" ON ").push(&table.table).push(" USING hnsw ((embedding::").push(&half);
    sql.push(") halfvec_cosine_ops) WHERE owner = ").push(owner);
    if let Err(failure) = sql.build().persistent(false).execute(&mut *connection).await.doing(DOING) {
        return Err(if is_refused(&failure.error) { refused().into() } else { failure });
    }
    Ok(state(connection, &name).await? == Some(true))
}

/// Waits until no other index of the table is built or dropped, until the end of the connection.
///
/// The lock is asked for again and again: one statement that waits for it would hold a snapshot, and a build that is under
/// way waits for those who hold one, which the server calls a deadlock.
async fn take_turn(connection: &mut PgConnection, table: &Table) -> Attempt<()> {
    let lock = "SELECT pg_try_advisory_lock(hashtextextended(current_schema() || '.' || $1, 0))";
    loop {
        let taken = sqlx::query_scalar(lock).bind(&table.table).fetch_one(&mut *connection);
        if taken.await.doing(DOING)? {
            return Ok(());
        }
        tokio::time::sleep(PAUSE).await;
    }
}

async fn discard(connection: &mut PgConnection, table: &Table, owner: i64) -> Attempt<()> {
    let name = table.index_of(owner);
    if state(connection, &name).await?.is_none() {
        return Ok(());
    }
    take_turn(connection, table).await?;
    drop_index(connection, &name).await
}

async fn drop_index(connection: &mut PgConnection, name: &str) -> Attempt<()> {
    let mut sql = QueryBuilder::new("DROP INDEX CONCURRENTLY IF EXISTS ");
    sql.push(name);
    sql.build().persistent(false).execute(connection).await.doing("drop an index of vectors").map(|_| ())
}

/// Returns whether the index of this name is valid; none if there is none.
async fn state(connection: &mut PgConnection, name: &str) -> Attempt<Option<bool>> {
    let sql = "SELECT indisvalid FROM pg_index WHERE indexrelid = to_regclass(current_schema() || '.' || $1)";
    sqlx::query_scalar(sql).bind(name).fetch_optional(connection).await.doing(DOING)
}

/// Returns whether the role lacks the right.
fn is_refused(error: &Error) -> bool {
    let Error::Backend { source, .. } = error else { return false };
    source.to_string().contains("42501")
}

fn refused() -> Error {
    Error::Unsupported {
        backend: BACKEND,
        what: "build an index of vectors: the role does not own the table".to_owned(),
    }
}
