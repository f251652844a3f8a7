//! Running works to their end, within a deadline, on a connection that is closed unless the work ended cleanly.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use memory_core::error::{Error, Result};
use sqlx::postgres::PgConnection;
use sqlx::{ConnectOptions as _, SqlSafeStr};
use tokio::time::timeout;

use super::leave::leave;
use super::rest::Rest;
use super::shared::Shared;
use super::{home, migrate, settings};
use crate::config::PostgresConfig;
use crate::error::{Aftermath, Attempt, Doing, Failure, classify, late, lost};
use crate::statement::fill;

/// The shortest deadline of a call that writes thousands of rows.
const BULK: Duration = Duration::from_secs(31);
/// How much less than such a call one of its statements may take.
const MARGIN: Duration = Duration::from_secs(1);
/// The deadline of a call that reads or writes everything.
const LONG: Duration = Duration::from_secs(3_600);
/// How many rows can be written within the usual deadline, even on a busy server.
const FEW: usize = 500;
/// How often a work is tried that conflicts with others.
const TRIES: usize = 3;

/// The future of a piece of work on a connection.
pub(crate) type Work<'c, T> = Pin<Box<dyn Future<Output = Attempt<T>> + Send + 'c>>;

/// The transaction that a piece of work runs in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mode {
    /// None: the work is one statement, which is a transaction.
    Statement,
    /// One that is committed.
    Transaction,
    /// One that reads a snapshot.
    Snapshot,
}

/// How to run a work.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Call {
    doing: &'static str,
    mode: Mode,
    time: Time,
}

/// The deadline of a work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Time {
    Usual,
    Bulk,
    Long,
}

impl Call {
    /// Returns the call of a work that is one statement.
    pub(crate) fn statement(doing: &'static str) -> Self {
        Self { doing, mode: Mode::Statement, time: Time::Usual }
    }

    /// Returns the call of a work that runs in one transaction.
    pub(crate) fn transaction(doing: &'static str) -> Self {
        Self { doing, mode: Mode::Transaction, time: Time::Usual }
    }

    /// Returns the call of a work that reads one snapshot.
    pub(crate) fn snapshot(doing: &'static str) -> Self {
        Self { doing, mode: Mode::Snapshot, time: Time::Usual }
    }

    /// Gives a work all the time it needs.
    pub(crate) fn long(self) -> Self {
        Self { time: Time::Long, mode: Mode::Transaction, ..self }
    }

    /// Gives a work that writes this many rows the time that they need.
    pub(crate) fn rows(self, count: usize) -> Self {
        if count <= FEW { self } else { Self { time: Time::Bulk, mode: Mode::Transaction, ..self } }
    }

    fn deadline(self, config: &PostgresConfig) -> Duration {
        match self.time {
            Time::Usual => config.deadline,
            Time::Bulk => BULK.max(config.deadline),
            Time::Long => LONG,
        }
    }
}

/// Runs `work` to its end, even if the caller drops it.
///
/// A transaction runs in a task of its own, because its locks must not depend on a caller that may not poll. A statement holds
/// only its connection, and [`memory_core::outlive::Awaited`] reserves half of the connections for calls in tasks.
pub(super) async fn run<A, T, F>(shared: &Arc<Shared>, call: Call, input: A, work: F) -> Result<T>
where
    A: Send + Sync + 'static,
    T: Send + 'static,
    F: for<'c> Fn(&'c mut PgConnection, &'c A) -> Work<'c, T> + Send + Sync + 'static,
{
    let (rest, deadline) = (Arc::clone(&shared.rest), call.deadline(&shared.config));
    let tries = async move {
        let tries = tries(&rest, (call, deadline), &input, &work);
        timeout(deadline, tries).await.unwrap_or_else(|_| Err(late(call.doing)))
    };
    let answer = match call.mode {
        Mode::Statement => shared.awaited.run(tries).await,
        Mode::Transaction | Mode::Snapshot => tokio::spawn(tries).await.ok(),
    };
    let answer = answer.unwrap_or_else(|| Err(lost(call.doing)));
    if answer.as_ref().is_err_and(Error::is_retryable) {
        // After a failover, another server with other settings may answer the next call.
        shared.server.doubt();
    }
    answer
}

async fn tries<A, T, F>(rest: &Arc<Rest>, (call, deadline): (Call, Duration), input: &A, work: &F) -> Result<T>
where
    F: for<'c> Fn(&'c mut PgConnection, &'c A) -> Work<'c, T>,
{
    let mut tried = 0;
    loop {
        let mut lent = rest.lend().await.doing(call.doing).map_err(|failure| failure.error)?;
        tried += 1;
        let connection = lent.connection().doing(call.doing).map_err(|failure| failure.error)?;
        match transact(connection, (call, deadline), input, work).await {
            Ok(answer) => {
                match call.mode {
                    Mode::Statement => lent.keep(),
                    Mode::Transaction | Mode::Snapshot => lent.give_back(),
                }
                return Ok(answer);
            }
            // Dropped, it is closed.
            Err(Failure { error, aftermath: Aftermath::Close }) => return Err(error),
            Err(Failure { error, aftermath }) => {
                lent.give_back();
                if aftermath != Aftermath::Repeat || tried >= TRIES {
                    return Err(error);
                }
            }
        }
    }
}

async fn transact<A, T, F>(
    connection: &mut PgConnection,
    (call, deadline): (Call, Duration),
    input: &A,
    work: &F,
) -> Attempt<T>
where
    F: for<'c> Fn(&'c mut PgConnection, &'c A) -> Work<'c, T>,
{
    let begin = match call.mode {
        Mode::Statement => return work(connection, input).await,
        Mode::Transaction if call.time == Time::Long => "BEGIN; SET LOCAL statement_timeout = 0".into_sql_str(),
        Mode::Transaction if call.time == Time::Bulk => {
            let limit = deadline.saturating_sub(MARGIN).as_millis().to_string();
            fill("BEGIN; SET LOCAL statement_timeout = {limit}", &[("limit", &limit)]).into_sql()
        }
        Mode::Transaction => "BEGIN".into_sql_str(),
        Mode::Snapshot => "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY".into_sql_str(),
    };
    control(connection, begin, call.doing).await?;
    let outcome = work(connection, input).await;
    let end = match &outcome {
        Ok(_) => "COMMIT",
        Err(failure) if failure.aftermath == Aftermath::Close => return outcome,
        Err(_) => "ROLLBACK",
    };
    match control(connection, end, call.doing).await {
        Ok(()) => outcome,
        // A failed commit may have been applied, and a failed rollback leaves the connection in doubt.
        Err(failure) => Err(Failure { aftermath: worst(failure.aftermath), ..failure }),
    }
}

fn worst(aftermath: Aftermath) -> Aftermath {
    if aftermath == Aftermath::Repeat { aftermath } else { Aftermath::Close }
}

async fn control(connection: &mut PgConnection, sql: impl SqlSafeStr, doing: &'static str) -> Attempt<()> {
    sqlx::raw_sql(sql).execute(connection).await.doing(doing).map(|_| ())
}

/// Makes the first connection: migrates the tables with it, and reads the server's settings.
pub(super) async fn first(config: &PostgresConfig) -> Result<settings::Server> {
    let doing = "connect";
    let work = async {
        let connect = config.connect_options();
        let mut connection = connect.connect().await.map_err(|source| classify(&source, doing).error)?;
        let server = prepare(&mut connection, config).await;
        leave(connection).await;
        server
    };
    timeout(LONG, work).await.unwrap_or_else(|_| Err(late(doing)))
}

async fn prepare(connection: &mut PgConnection, config: &PostgresConfig) -> Result<settings::Server> {
    let server = settings::read(connection).await.map_err(|failure| failure.error)?;
    if !server.is_walled {
        tracing::warn!("row-level security does not bind this role: use one that is no superuser");
    }
    if home::is_public_open(connection).await? {
        tracing::warn!("all roles may make functions in public: REVOKE CREATE ON SCHEMA public FROM PUBLIC");
    }
    migrate::migrate(connection, config).await?;
    Ok(server)
}
