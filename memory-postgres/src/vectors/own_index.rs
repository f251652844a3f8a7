//! The own indexes of the owners with the most vectors, built in the background.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use memory_core::time::Stopwatch;
use memory_core::{Error, Result, Scope};
use sqlx::Connection as _;
use sqlx::postgres::PgConnection;
use tokio::sync::Semaphore;
use tokio::time::timeout;

use super::asked::{Asked, Built};
use super::table::Table;
use crate::client::{Call, Postgres};
use crate::error::{Attempt, BACKEND, Doing, late};
use crate::index::show;
use crate::statement::fill;

/// How many owners of a space have an index of their own at most.
///
/// A statement locks every index of its table, whichever it uses. With default settings a server has room for 6,400 locks and
/// 100 connections: 64 each. With 32 own indexes, the table and its two other indexes, a search takes 35.
pub(super) const MOST: usize = 32;

const DOING: &str = "build an index of vectors";
const DROP: &str = "drop an index of vectors";
/// How long to wait before asking for the lock again.
const PAUSE: Duration = Duration::from_millis(50);
/// How long a drop waits for its turn, which a build of another owner's index may have for an hour, and then for transactions that
/// use the table.
const PATIENCE: Duration = Duration::from_secs(2);
/// How long a drop takes at most, also where the server stands still.
const LONGEST_DROP: Duration = Duration::from_secs(6);

/// An owner with more vectors than a search compares.
#[derive(Clone, Debug)]
pub(super) struct Large {
    pub(super) scope: Scope,
    /// The owner's number.
    pub(super) id: i64,
    pub(super) rows: i64,
}

/// Builds and drops the own indexes of one space. Cheap to clone; clones share their state.
#[derive(Clone, Debug)]
pub(super) struct OwnIndexes {
    database: Postgres,
    table: Arc<Table>,
    asked: Arc<Mutex<Asked>>,
    /// One build at a time, each on a connection of its own.
    turn: Arc<Semaphore>,
    /// The same for drops, which wait less long.
    drops: Arc<Semaphore>,
}

impl OwnIndexes {
    pub(super) fn new(database: &Postgres, table: &Arc<Table>) -> Self {
        let (turn, drops) = (Arc::new(Semaphore::new(1)), Arc::new(Semaphore::new(1)));
        Self { database: database.clone(), table: Arc::clone(table), asked: Arc::default(), turn, drops }
    }

    /// Builds the owner's index in a task of its own, unless this process has tried lately.
    pub(super) fn ensure(&self, large: Large) {
        if !self.table.is_indexable || !self.asked().begin(large.id, large.rows) {
            return;
        }
        let indexes = self.clone();
        tokio::spawn(async move {
            let _turn = indexes.turn.acquire().await;
            // While this one waited, all indexes may have been taken, or the role may have been refused one.
            if !indexes.asked().is_worth(large.rows) {
                return indexes.asked().end(large.id, Built::Unneeded);
            }
            match indexes.build(&large).await {
                Ok(built) => indexes.asked().end(large.id, built),
                Err(error) => {
                    indexes.asked().fail(large.id, &error);
                    tracing::warn!(%error, "an owner's vectors have no index, and are all compared with each search");
                }
            }
        });
    }

    /// Builds the owner's index, for as long as the server is at it.
    pub(super) async fn build(&self, large: &Large) -> Result<Built> {
        if !self.table.is_indexable {
            return Ok(Built::Unneeded);
        }
        let input = (Arc::clone(&self.table), large.clone());
        let build = self.database.apart(DOING, Duration::MAX, input, move |connection, (table, large)| {
            Box::pin(build(connection, table, large))
        });
        build.await.map_err(|error| if is_refused(&error) { refused() } else { error })
    }

    /// Drops the index of an owner's number that was buried, if there is one. One that the role does not own is noted for the next
    /// build of the role that does: the number is never used again, and neither is the index.
    ///
    /// # Errors
    /// One that can be tried again if indexes of the space are being built or dropped, or if a transaction that uses its table takes
    /// long.
    pub(super) async fn discard(&self, owner: i64) -> Result<()> {
        match self.drop_of(owner).await {
            Err(error) if is_refused(&error) => self.leave(owner).await,
            dropped => dropped,
        }
    }

    /// Drops the index of an owner that a deletion left with few vectors. The deletion is done, so a failure is only logged. It is
    /// not noted either: the owner may grow, and use the index again.
    pub(super) async fn tidy(&self, owner: i64) {
        if let Err(error) = self.drop_of(owner).await {
            tracing::warn!(%error, "the index of an owner with few vectors stays");
        }
    }

    /// Drops the index of an owner's number, if there is one.
    async fn drop_of(&self, owner: i64) -> Result<()> {
        let name = self.table.index_of(owner);
        let look =
            self.database.run(Call::statement(DROP), name, |connection, name| Box::pin(is_there(connection, name)));
        // Most owners have none, and wait for nobody.
        if !look.await? {
            return Ok(());
        }
        let since = Stopwatch::start();
        let turn = timeout(PATIENCE, Arc::clone(&self.drops).acquire_owned()).await.map_err(|_| late(DROP))?;
        let patience = PATIENCE.saturating_sub(since.elapsed());
        let input = Arc::clone(&self.table);
        let discard = self.database.apart(DROP, LONGEST_DROP, input, move |connection, table| {
            Box::pin(async move {
                // The permit is held until the drop ends, even if the caller has gone; so repeated calls open one connection.
                let _turn = turn;
                discard(connection, table, owner, patience).await
            })
        });
        discard.await
    }

    /// Notes an index that the role does not own, for the next build of the role that does.
    async fn leave(&self, owner: i64) -> Result<()> {
        let name = self.table.index_of(owner);
        let index = name.as_str();
        tracing::warn!(index, "an index of vectors is left to the role that owns it, whose next build drops it");
        let leave = self.database.run(Call::statement(DROP), name, |connection, name| {
            Box::pin(async move {
                let note = sqlx::query("INSERT INTO index_left (name) VALUES ($1) ON CONFLICT DO NOTHING").bind(name);
                note.execute(connection).await.doing(DROP).map(|_| ())
            })
        });
        leave.await
    }

    fn asked(&self) -> MutexGuard<'_, Asked> {
        self.asked.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Builds the index without blocking writers or readers. Only one of several processes builds it.
async fn build(connection: &mut PgConnection, table: &Table, large: &Large) -> Attempt<Built> {
    let name = table.index_of(large.id);
    take_turn(connection, table, Duration::MAX).await?;
    let Some(rows) = rows(connection, large).await? else { return Ok(Built::Unneeded) };
    forget_left(connection, &name).await?;
    let mut others = standing(connection, table).await?;
    let is_there = others.iter().any(|(other, _)| *other == name);
    others.retain(|(other, _)| *other != name);
    if let Some(bar) = make_room(connection, others, if is_there { i64::MAX } else { rows }).await? {
        return Ok(Built::Full(bar));
    }
    if !is_there {
        create(connection, table, &name, large.id).await?;
        // An erasure meanwhile may have looked for the index before there was one to drop.
        if self::rows(connection, large).await?.is_none() {
            drop_index(connection, &name).await?;
            return Ok(Built::Unneeded);
        }
    }
    let rows = rows.to_string();
    let mut sql = fill("COMMENT ON INDEX {name} IS '{rows}'", &[("name", &name), ("rows", &rows)]);
    sql.build().persistent(false).execute(connection).await.doing(DOING)?;
    Ok(Built::Stands)
}

/// Makes room for the index of an owner with `rows` vectors: drops indexes above the limit and, if all are taken, that of an
/// owner with fewer than half as many. Returns none or, if there is no room, how many vectors are needed for an index.
async fn make_room(connection: &mut PgConnection, mut others: Vec<(String, i64)>, rows: i64) -> Attempt<Option<i64>> {
    others.sort_by_key(|(_, rows)| *rows);
    let mut left = others.len();
    for (name, few) in &others {
        let bar = few.saturating_mul(2).saturating_add(1);
        if left < MOST {
            break;
        }
        if left == MOST && rows < bar {
            return Ok(Some(bar));
        }
        drop_index(connection, name).await?;
        left -= 1;
    }
    Ok(None)
}

async fn create(connection: &mut PgConnection, table: &Table, name: &str, owner: i64) -> Attempt<()> {
    // With one process: parallel ones need shared memory, of which containers have little, and would crowd out searches.
    let alone = sqlx::raw_sql("SET max_parallel_maintenance_workers = 0").execute(&mut *connection);
    alone.await.doing(DOING)?;
    let (dimension, owner) = (table.space.dimension.to_string(), owner.to_string());
    let text = "CREATE INDEX CONCURRENTLY {name} ON {table} \
         USING hnsw ((embedding::halfvec({dimension})) halfvec_cosine_ops) WHERE owner = {owner}";
    let holes = [("name", name), ("table", &table.table), ("dimension", &dimension), ("owner", &owner)];
    let mut sql = fill(text, &holes);
    sql.build().persistent(false).execute(connection).await.doing(DOING).map(|_| ())
}

/// Waits until no other index of the table is being built or dropped, and holds that lock until the connection ends.
///
/// It polls for the lock. A statement that waits for it would hold a snapshot, and a concurrent build waits for all snapshots,
/// which is a deadlock.
async fn take_turn(connection: &mut PgConnection, table: &Table, patience: Duration) -> Attempt<()> {
    let since = Stopwatch::start();
    let lock = "SELECT pg_try_advisory_lock(hashtextextended(current_schema() || '.' || $1, 0))";
    loop {
        let taken = sqlx::query_scalar(lock).bind(&table.table).fetch_one(&mut *connection);
        if taken.await.doing(DOING)? {
            return Ok(());
        }
        if since.elapsed() >= patience {
            return Err(late(DROP).into());
        }
        tokio::time::sleep(PAUSE).await;
    }
}

/// Returns how many vectors the owner has; none if its number is no longer in use.
async fn rows(connection: &mut PgConnection, large: &Large) -> Attempt<Option<i64>> {
    let mut reading = connection.begin().await.doing(DOING)?;
    show(&mut reading, &large.scope).await?;
    let sql = "SELECT coalesce(totals[1], 0) FROM index_owner WHERE scope = $1 AND id = $2 AND NOT buried";
    let rows = sqlx::query_scalar(sql).bind(large.scope.key()).bind(large.id).fetch_optional(&mut *reading).await;
    let rows = rows.doing(DOING)?;
    reading.commit().await.doing(DOING)?;
    Ok(rows)
}

/// Forgets that an index was left, which is wanted, and those that are gone: a drop that was cut off has forgotten nothing.
async fn forget_left(connection: &mut PgConnection, wanted: &str) -> Attempt<()> {
    let sql = "DELETE FROM index_left WHERE name = $1 OR to_regclass(current_schema() || '.' || name) IS NULL";
    sqlx::query(sql).bind(wanted).execute(connection).await.doing(DOING).map(|_| ())
}

/// Returns the own indexes, by name and by the owner's number of vectors when last read; 0 if the owner is unknown. Drops what
/// an interrupted build left, and what another role could not drop.
async fn standing(connection: &mut PgConnection, table: &Table) -> Attempt<Vec<(String, i64)>> {
    let sql = "SELECT own.relname::text, \
         i.indisvalid AND NOT EXISTS (SELECT FROM index_left AS unused WHERE unused.name = own.relname), \
         coalesce(substring(obj_description(own.oid, 'pg_class') FROM '^[0-9]{1,18}$')::bigint, 0) \
         FROM pg_index AS i JOIN pg_class AS own ON own.oid = i.indexrelid \
         JOIN pg_am AS method ON method.oid = own.relam AND method.amname = 'hnsw' \
         WHERE i.indrelid = to_regclass(current_schema() || '.' || $1)";
    let found: Vec<(String, bool, i64)> =
        sqlx::query_as(sql).bind(&table.table).fetch_all(&mut *connection).await.doing(DOING)?;
    let mut standing = Vec::with_capacity(found.len());
    for (name, is_kept, rows) in found {
        if is_kept {
            standing.push((name, rows));
        } else {
            drop_index(connection, &name).await?;
        }
    }
    Ok(standing)
}

async fn is_there(connection: &mut PgConnection, index: &str) -> Attempt<bool> {
    let sql = "SELECT to_regclass(current_schema() || '.' || $1) IS NOT NULL";
    sqlx::query_scalar(sql).bind(index).fetch_one(connection).await.doing(DROP)
}

async fn discard(connection: &mut PgConnection, table: &Table, owner: i64, patience: Duration) -> Attempt<()> {
    take_turn(connection, table, patience).await?;
    // The server's own bound, for it would go on waiting although nobody waits for its answer. An index that is dropped by half is
    // invalid: no search uses it, and the next try or build drops it.
    let bound = sqlx::query("SELECT set_config('statement_timeout', $1, false)");
    let bound = bound.bind(format!("{}ms", PATIENCE.as_millis())).execute(&mut *connection);
    bound.await.doing(DROP)?;
    drop_index(connection, &table.index_of(owner)).await
}

async fn drop_index(connection: &mut PgConnection, name: &str) -> Attempt<()> {
    let mut sql = fill("DROP INDEX CONCURRENTLY IF EXISTS {name}", &[("name", name)]);
    sql.build().persistent(false).execute(&mut *connection).await.doing(DROP)?;
    let forget = sqlx::query("DELETE FROM index_left WHERE name = $1").bind(name);
    forget.execute(connection).await.doing(DROP).map(|_| ())
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
