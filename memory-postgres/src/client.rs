//! The client: a pool of connections, and the work that runs on them.
//!
//! Every work runs to its end, so that a dropped future leaves nothing half done. A transaction runs in a task of its own. A
//! single statement runs where it is awaited; if it is dropped, a task finishes it. A connection returns to the pool only
//! after a clean end; after a fault or a missed deadline it is closed. As a second guard, each connection that comes back
//! from a transaction or an error is asked whether a transaction is open on it, and closed if so.

mod apart;
mod home;
mod leave;
mod migrate;
mod rest;
mod settings;
mod shared;
mod watch;
mod work;

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use memory_core::error::Result;
use memory_core::outlive::{Awaited, UNPOLLED};
use memory_core::recent::Recent;
use memory_core::store::{Durability, Health};
use sqlx::postgres::{PgConnection, PgPool, PgPoolOptions};
use sqlx::{Connection as _, Row as _};

use crate::config::PostgresConfig;
use crate::error::Doing;

use rest::{FRESH, Rest};
use shared::Shared;
pub(crate) use work::{Call, Work};

/// An open database. Cheap to clone; clones share their connections.
///
/// Any number of processes may have one database open.
#[derive(Clone)]
pub struct Postgres {
    shared: Arc<Shared>,
}

impl Postgres {
    /// Connects, creates or upgrades the tables, and reads how durable the server's writes are.
    ///
    /// # Errors
    /// `Unsupported` for a server too old, a database whose encoding is not UTF-8, tables of a newer version of this crate, or a
    /// schema in which other roles may make objects or have made some; `Backend` if the server cannot be reached or refuses.
    pub async fn connect(config: PostgresConfig) -> Result<Self> {
        let server = work::first(&config).await?;
        let rest = Arc::new(Rest::new(pool(&config), config.connections, config.patience()));
        let awaited = Awaited::new(config.connections as usize / 2);
        let server = Recent::new(server, Arc::clone(&config.clock));
        Ok(Self { shared: Arc::new(Shared { config, rest, awaited, server }) })
    }

    /// Returns how durable a committed write is, by the server's settings when last read: `Committed` if `fsync` and
    /// `full_page_writes` are on, because every connection sets `synchronous_commit`.
    pub fn durability(&self) -> Durability {
        self.shared.server.last().durability
    }

    /// Returns whether row-level security binds the role that is logged in, when last read. It does not bind superusers and roles
    /// with `BYPASSRLS`: for these the owner's key in every statement is the only wall.
    pub fn is_walled(&self) -> bool {
        self.shared.server.last().is_walled
    }

    /// Returns how durable a write of truth is, by settings at most a minute old.
    pub(crate) async fn truth(&self) -> Result<Durability> {
        Ok(self.shared.server.get(|| self.ask()).await?.durability)
    }

    async fn ask(&self) -> Result<settings::Server> {
        let call = Call::statement(settings::READ);
        self.run(call, (), |connection, ()| Box::pin(async move { settings::read(connection).await })).await
    }

    /// Closes all connections, also those of clones and their stores, once the calls under way have ended. A call that was begun
    /// but is not polled is waited for [`UNPOLLED`]. Later calls fail.
    pub async fn close(&self) {
        let paused = self.shared.awaited.pause(UNPOLLED).await;
        self.shared.rest.close(paused.is_some()).await;
    }

    /// Runs `work` on a connection and returns its answer.
    ///
    /// Dropping the returned future detaches the work, which still happens fully or not at all.
    pub(crate) async fn run<A, T, F>(&self, call: Call, input: A, work: F) -> Result<T>
    where
        A: Send + Sync + 'static,
        T: Send + 'static,
        F: for<'c> Fn(&'c mut PgConnection, &'c A) -> Work<'c, T> + Send + Sync + 'static,
    {
        work::run(&self.shared, call, input, work).await
    }

    /// Runs `work` on a connection of its own, outside any transaction and for at most `patience`, and closes the connection: for
    /// what the server cannot do within a transaction. A connection on which the server has nothing left to do fails, however
    /// much patience there is.
    ///
    /// Dropping the returned future detaches the work.
    pub(crate) async fn apart<A, T, F>(&self, doing: &'static str, patience: Duration, input: A, work: F) -> Result<T>
    where
        A: Send + Sync + 'static,
        T: Send + 'static,
        F: for<'c> FnOnce(&'c mut PgConnection, &'c A) -> Work<'c, T> + Send + 'static,
    {
        apart::run(&self.shared, doing, patience, input, work).await
    }

    /// Returns the health of the server.
    pub(crate) async fn ping(&self) -> Result<Health> {
        let doing = "answer";
        let version = self.run(Call::statement(doing), (), move |connection, ()| {
            Box::pin(async move {
                sqlx::query_scalar::<_, String>("SHOW server_version").fetch_one(connection).await.doing(doing)
            })
        });
        let version = version.await?;
        let settings::Server { durability, is_walled } = self.shared.server.renew(|| self.ask()).await?;
        Ok(Health { is_walled: Some(is_walled), ..Health::new("PostgreSQL", version, durability) })
    }
}

impl fmt::Debug for Postgres {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Postgres").field("config", &self.shared.config).finish_non_exhaustive()
    }
}

fn pool(config: &PostgresConfig) -> PgPool {
    PgPoolOptions::new()
        .max_connections(config.connections)
        .acquire_timeout(config.patience())
        // Below, a connection is tested only after a rest. A test before every call would double the round trips.
        .test_before_acquire(false)
        .before_acquire(|connection, about| {
            Box::pin(async move {
                if about.idle_for > FRESH {
                    connection.ping().await?;
                }
                Ok(true)
            })
        })
        // Not `ROLLBACK`, for which the server logs a warning if there is no transaction. A failed transaction answers with an
        // error, which closes the connection too.
        .after_release(|connection, _| {
            Box::pin(async move {
                // In the simple protocol a statement is one message, and each message has its own statement timestamp.
                let outside = sqlx::raw_sql("SELECT now() = statement_timestamp()");
                outside.fetch_one(connection).await?.try_get(0)
            })
        })
        .connect_lazy_with(config.connect_options())
}
