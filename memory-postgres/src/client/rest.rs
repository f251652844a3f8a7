//! Connections at rest: reused by the next call without a detour through the pool.
//!
//! The driver's pool asks each returned connection two questions before it is available again, which costs the server more than
//! a small call. After a statement that ended well there is nothing to ask. So such a connection waits here for the next
//! call, for at most a second. After a minute of work it goes back to the pool, which checks its age.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use memory_core::time::Stopwatch;
use sqlx::pool::PoolConnection;
use sqlx::postgres::{PgConnection, PgPool};
use sqlx::{Error as Driver, Postgres as Database};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, TryAcquireError};

/// How long a connection may be idle and still be used without a test.
pub(super) const FRESH: Duration = Duration::from_secs(1);

/// How long a connection goes from call to call before it must return to the pool.
const SHIFT: Duration = Duration::from_secs(60);

/// The connections of a database, lent for one call each.
pub(super) struct Rest {
    pool: PgPool,
    /// A permit for each connection that may be open. With a permit there is a connection at rest, or room in the pool.
    turns: Arc<Semaphore>,
    patience: Duration,
    state: Mutex<RestState>,
}

#[derive(Default)]
struct RestState {
    resting: Vec<Resting>,
    /// Whether a task is running that sends back connections that have rested too long.
    is_watched: bool,
    is_closed: bool,
}

struct Resting {
    connection: PoolConnection<Database>,
    /// The time since it left the pool.
    shift: Stopwatch,
    /// The time since its last call ended.
    rest: Stopwatch,
}

impl Rest {
    /// Lends the connections of a pool of this size. A call waits for one for at most `patience`.
    pub(super) fn new(pool: PgPool, connections: u32, patience: Duration) -> Self {
        let turns = Arc::new(Semaphore::new(connections as usize));
        Self { pool, turns, patience, state: Mutex::default() }
    }

    /// Lends a connection.
    pub(super) async fn lend(self: &Arc<Self>) -> sqlx::Result<Lent> {
        let turn = match Arc::clone(&self.turns).try_acquire_owned() {
            Err(TryAcquireError::NoPermits) => {
                let turn = Arc::clone(&self.turns).acquire_owned();
                let turn = tokio::time::timeout(self.patience, turn).await.map_err(|_| Driver::PoolTimedOut)?;
                turn.map_err(|_| Driver::PoolClosed)?
            }
            turn => turn.map_err(|_| Driver::PoolClosed)?,
        };
        let newest = self.state().resting.pop();
        let (connection, shift) = match newest {
            Some(Resting { connection, shift, rest }) if rest.elapsed() < FRESH => (connection, shift),
            // It goes back to the pool, which tests connections before lending them.
            stale => {
                drop(stale);
                (self.pool.acquire().await?, Stopwatch::start())
            }
        };
        Ok(Lent { rest: Arc::clone(self), connection: Some(connection), shift, _turn: turn })
    }

    /// Closes all connections, once the calls under way have ended if `is_waiting`, else at once. Later calls fail.
    pub(super) async fn close(&self, is_waiting: bool) {
        self.turns.close();
        let resting = {
            let mut state = self.state();
            state.is_closed = true;
            std::mem::take(&mut state.resting)
        };
        drop(resting);
        let closed = self.pool.close();
        if is_waiting {
            closed.await;
        }
    }

    /// Puts a connection to rest, and makes sure that a task watches it.
    fn lay(self: &Arc<Self>, resting: Resting) {
        let mut state = self.state();
        if state.is_closed {
            drop(state);
            drop(resting);
            return;
        }
        state.resting.push(resting);
        if std::mem::replace(&mut state.is_watched, true) {
            return;
        }
        let rest = Arc::downgrade(self);
        tokio::spawn(async move {
            loop {
                tokio::time::sleep(FRESH).await;
                let is_over = rest.upgrade().is_none_or(|rest| rest.send_back());
                if is_over {
                    return;
                }
            }
        });
    }

    /// Returns connections that have rested too long to the pool; returns whether no others are at rest.
    fn send_back(&self) -> bool {
        let mut state = self.state();
        let all = std::mem::take(&mut state.resting);
        let (fresh, stale): (Vec<_>, Vec<_>) = all.into_iter().partition(|resting| resting.rest.elapsed() < FRESH);
        state.resting = fresh;
        state.is_watched = !state.resting.is_empty();
        let is_over = !state.is_watched;
        drop(state);
        drop(stale);
        is_over
    }

    fn state(&self) -> MutexGuard<'_, RestState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Rest {
    fn drop(&mut self) {
        // Not through the pool, which needs a runtime, and there may be none any more.
        for Resting { connection, .. } in std::mem::take(&mut self.state().resting) {
            drop(connection.detach());
        }
    }
}

/// A lent connection. Unless it is given back, drop closes it at once, without a message that a stopped server would not answer.
pub(super) struct Lent {
    rest: Arc<Rest>,
    connection: Option<PoolConnection<Database>>,
    shift: Stopwatch,
    _turn: OwnedSemaphorePermit,
}

impl Lent {
    /// Returns the connection.
    pub(super) fn connection(&mut self) -> sqlx::Result<&mut PgConnection> {
        self.connection.as_deref_mut().ok_or(Driver::PoolClosed)
    }

    /// Returns the connection to the pool, which tests that it is alive and outside any transaction.
    pub(super) fn give_back(mut self) {
        drop(self.connection.take());
    }

    /// Keeps the connection for the next call. Only after a single statement that ended well.
    pub(super) fn keep(mut self) {
        let Some(connection) = self.connection.take() else { return };
        if self.shift.elapsed() < SHIFT {
            let shift = std::mem::replace(&mut self.shift, Stopwatch::start());
            self.rest.lay(Resting { connection, shift, rest: Stopwatch::start() });
        }
    }
}

impl Drop for Lent {
    fn drop(&mut self) {
        if let Some(connection) = self.connection.take() {
            tracing::debug!("a connection is closed after a fault");
            drop(connection.detach());
        }
    }
}
