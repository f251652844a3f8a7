//! The connection that writes, and the commit that waiting works share.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};

use memory_core::error::{Error, Result};
use sqlx::SqliteConnection;
use tokio::sync::{Mutex as Turn, MutexGuard, oneshot};

use super::open::{self, Failure, patiently};
use super::{Shared, Work};
use crate::error::{classify, lost, undone};

/// How many works share one commit at the most.
const GROUP: usize = 64;

/// The writing connection and the works that wait for it.
pub(super) struct Writer {
    waiting: Mutex<VecDeque<Box<dyn Job>>>,
    turn: Turn<Option<SqliteConnection>>,
}

impl Writer {
    /// Returns the writer over `connection`.
    pub(super) fn new(connection: SqliteConnection) -> Self {
        Self { waiting: Mutex::default(), turn: Turn::new(Some(connection)) }
    }

    /// Waits for the connection.
    pub(super) async fn turn(&self) -> Held<'_> {
        Held(self.turn.lock().await)
    }

    fn push(&self, job: Box<dyn Job>) {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner).push_back(job);
    }

    fn is_idle(&self) -> bool {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner).is_empty()
    }

    fn next_group(&self) -> Vec<Box<dyn Job>> {
        let mut waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        let count = waiting.len().min(GROUP);
        waiting.drain(..count).collect()
    }
}

/// Runs `work` in a transaction of the writer and returns its answer after the commit.
pub(super) async fn write<T, F>(shared: &Arc<Shared>, doing: &'static str, work: F) -> Result<T>
where
    T: Send + 'static,
    F: for<'c> FnOnce(&'c mut SqliteConnection) -> Work<'c, T> + Send + 'static,
{
    let (caller, answer) = oneshot::channel();
    shared.writer.push(Box::new(Task { work, caller }));
    // Each work brings a task that serves the next group, which may be that of an earlier one: so none is left over.
    let shared = Arc::clone(shared);
    tokio::spawn(async move { serve(&shared, doing).await });
    answer.await.unwrap_or_else(|_| Err(lost(doing)))
}

/// The connection, held by one at a time.
pub(super) struct Held<'a>(MutexGuard<'a, Option<SqliteConnection>>);

impl Held<'_> {
    /// Takes the connection out, so that it is closed unless it is put back; opens another if the last one was closed.
    pub(super) async fn take(&mut self, shared: &Shared) -> Result<SqliteConnection> {
        shared.place.check()?;
        match self.0.take() {
            Some(connection) => Ok(connection),
            None => open::writer(&shared.config).await,
        }
    }

    /// Puts the connection back after a clean end.
    pub(super) fn put_back(&mut self, connection: SqliteConnection) {
        *self.0 = Some(connection);
    }
}

/// Takes the connection out, if there is one, once the works that wait are done.
pub(super) async fn take_idle(shared: &Shared, doing: &'static str) -> Option<SqliteConnection> {
    loop {
        let mut turn = shared.writer.turn().await;
        if shared.writer.is_idle() {
            return turn.0.take();
        }
        drop(turn);
        serve(shared, doing).await;
    }
}

/// Serves the works that wait, in one transaction.
async fn serve(shared: &Shared, doing: &'static str) {
    let mut turn = shared.writer.turn().await;
    let group = shared.writer.next_group();
    if group.is_empty() {
        return;
    }
    let mut connection = match turn.take(shared).await {
        Ok(connection) => connection,
        Err(error) => return group.into_iter().for_each(|job| job.fail(error.clone())),
    };
    let begun = patiently(shared.config.patience, &mut connection, |connection| Box::pin(begin(connection, doing)));
    if let Err(failure) = begun.await {
        if let Failure::Busy(_) = failure {
            turn.put_back(connection);
        }
        let error = Error::from(failure);
        return group.into_iter().for_each(|job| job.fail(error.clone()));
    }
    if transact(shared, &mut connection, group, doing).await {
        turn.put_back(connection);
    }
}

async fn begin(connection: &mut SqliteConnection, doing: &'static str) -> open::Attempt<()> {
    let begun = sqlx::query("BEGIN IMMEDIATE").execute(connection).await;
    begun.map(|_| ()).map_err(|source| Failure::of(source, doing))
}

/// Runs the works in the transaction that was begun, commits, and tells their callers. Returns whether the connection
/// is still good.
async fn transact(
    shared: &Shared,
    connection: &mut SqliteConnection,
    group: Vec<Box<dyn Job>>,
    doing: &'static str,
) -> bool {
    let is_alone = group.len() == 1;
    let mut jobs = group.into_iter();
    let mut verdicts = Vec::new();
    let mut outcome = Ok(());
    for job in jobs.by_ref() {
        let ran = if is_alone { Ok(job.run(connection).await) } else { nested(connection, job, doing).await };
        match ran {
            Ok(verdict) => verdicts.push(verdict),
            Err(error) => {
                outcome = Err(error);
                break;
            }
        }
    }
    if outcome.is_ok() {
        let is_kept = verdicts.iter().any(|verdict| verdict.is_kept);
        let end = if is_kept { "COMMIT" } else { "ROLLBACK" };
        // A file that was moved away meanwhile has taken the transaction with it.
        outcome = run(connection, end, doing).await.and_then(|()| shared.place.check());
    }
    verdicts.into_iter().for_each(|verdict| (verdict.tell)(outcome.clone()));
    if let Err(error) = &outcome {
        tracing::warn!(%error, "a writing connection is closed after a failed transaction");
        jobs.for_each(|job| job.fail(error.clone()));
    }
    outcome.is_ok()
}

/// Runs one of several works, so that its failure undoes nothing but itself.
///
/// Some faults make SQLite undo the whole transaction; then the savepoint is gone too, and the group may try again.
async fn nested(connection: &mut SqliteConnection, job: Box<dyn Job>, doing: &'static str) -> Result<Verdict> {
    if run(connection, "SAVEPOINT job", doing).await.is_err() {
        job.fail(undone(doing));
        return Err(undone(doing));
    }
    let verdict = job.run(connection).await;
    let back = if verdict.is_kept { Ok(()) } else { run(connection, "ROLLBACK TO job", doing).await };
    if back.is_ok() && run(connection, "RELEASE job", doing).await.is_ok() {
        return Ok(verdict);
    }
    (verdict.tell)(Err(undone(doing)));
    Err(undone(doing))
}

async fn run(connection: &mut SqliteConnection, sql: &'static str, doing: &'static str) -> Result<()> {
    sqlx::query(sql).execute(connection).await.map(|_| ()).map_err(|source| classify(source, doing))
}

/// What became of a work: whether its changes are to be kept, and how its caller is told of the commit.
struct Verdict {
    is_kept: bool,
    tell: Box<dyn FnOnce(Result<()>) + Send>,
}

/// A work that waits, whatever its answer is.
trait Job: Send {
    /// Runs it in the open transaction.
    fn run<'c>(
        self: Box<Self>,
        connection: &'c mut SqliteConnection,
    ) -> std::pin::Pin<Box<dyn Future<Output = Verdict> + Send + 'c>>;

    /// Tells its caller that it did not run.
    fn fail(self: Box<Self>, error: Error);
}

struct Task<T, F> {
    work: F,
    caller: oneshot::Sender<Result<T>>,
}

impl<T, F> Job for Task<T, F>
where
    T: Send + 'static,
    F: for<'c> FnOnce(&'c mut SqliteConnection) -> Work<'c, T> + Send + 'static,
{
    fn run<'c>(
        self: Box<Self>,
        connection: &'c mut SqliteConnection,
    ) -> std::pin::Pin<Box<dyn Future<Output = Verdict> + Send + 'c>> {
        Box::pin(async move {
            let Self { work, caller } = *self;
            let answer = work(connection).await;
            let is_kept = answer.is_ok();
            // A caller who has gone away is not told; its work stands all the same.
            let tell = move |commit: Result<()>| drop(caller.send(answer.and_then(|value| commit.map(|()| value))));
            Verdict { is_kept, tell: Box::new(tell) }
        })
    }

    fn fail(self: Box<Self>, error: Error) {
        drop(self.caller.send(Err(error)));
    }
}
