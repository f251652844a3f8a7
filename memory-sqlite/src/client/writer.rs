//! The writing connection, and the group commit of waiting works.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};

use memory_core::error::{Error, Result};
use sqlx::SqliteConnection;
use tokio::sync::{Mutex as Turn, MutexGuard, oneshot};

use super::connect::{self, Attempt, Failure, patiently};
use super::opened::Opened;
use super::work::{Work, run};
use crate::error::{lost, undone};

/// How many works share one commit at most.
const GROUP: usize = 64;

/// The writing connection and the works that wait for it.
pub(super) struct Writer {
    file: Arc<Opened>,
    waiting: Mutex<VecDeque<Box<dyn Job>>>,
    turn: Turn<Option<SqliteConnection>>,
}

impl Writer {
    /// Returns the writer over `connection`.
    pub(super) fn new(file: &Arc<Opened>, connection: SqliteConnection) -> Self {
        Self { file: Arc::clone(file), waiting: Mutex::default(), turn: Turn::new(Some(connection)) }
    }

    /// Returns the file that it writes.
    pub(super) fn file(&self) -> &Opened {
        &self.file
    }

    /// Runs `work` in a transaction and returns its answer after the commit.
    pub(super) async fn write<T, F>(self: &Arc<Self>, doing: &'static str, work: F) -> Result<T>
    where
        T: Send + 'static,
        F: for<'c> FnOnce(&'c mut SqliteConnection) -> Work<'c, T> + Send + 'static,
    {
        let (caller, answer) = oneshot::channel();
        self.push(Box::new(Task { work, caller }));
        // Each work spawns a task that serves one group, perhaps of earlier works. There is a task for each, so none is left
        // over.
        let writer = Arc::clone(self);
        tokio::spawn(async move { writer.serve(doing).await });
        answer.await.unwrap_or_else(|_| Err(lost(doing)))
    }

    /// Waits for the lock on the connection.
    pub(super) async fn turn(&self) -> Held<'_> {
        Held { file: &self.file, turn: self.turn.lock().await }
    }

    /// Takes the connection out, if there is one, once the waiting works are done.
    pub(super) async fn take_idle(&self, doing: &'static str) -> Option<SqliteConnection> {
        loop {
            let mut held = self.turn().await;
            if self.is_idle() {
                return held.turn.take();
            }
            drop(held);
            self.serve(doing).await;
        }
    }

    /// Serves the waiting works, in one transaction.
    async fn serve(&self, doing: &'static str) {
        let mut turn = self.turn().await;
        let group = self.next_group();
        if group.is_empty() {
            return;
        }
        let mut connection = match turn.take().await {
            Ok(connection) => connection,
            Err(error) => return group.into_iter().for_each(|job| job.fail(error.clone())),
        };
        let patience = self.file.config.patience;
        let begun = patiently(patience, &mut connection, |connection| Box::pin(begin(connection, doing)));
        if let Err(failure) = begun.await {
            if let Failure::Busy(_) = failure {
                turn.put_back(connection);
            }
            let error = Error::from(failure);
            return group.into_iter().for_each(|job| job.fail(error.clone()));
        }
        if transact(&self.file, &mut connection, group, doing).await {
            turn.put_back(connection);
        }
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

/// The connection, held by one at a time.
pub(super) struct Held<'a> {
    file: &'a Opened,
    turn: MutexGuard<'a, Option<SqliteConnection>>,
}

impl Held<'_> {
    /// Takes the connection out; it is closed unless it is put back. Opens another if the last one was closed.
    pub(super) async fn take(&mut self) -> Result<SqliteConnection> {
        self.file.place.check()?;
        match self.turn.take() {
            Some(connection) => Ok(connection),
            None => connect::writer(&self.file.config).await,
        }
    }

    /// Puts the connection back after a clean end.
    pub(super) fn put_back(&mut self, connection: SqliteConnection) {
        *self.turn = Some(connection);
    }
}

async fn begin(connection: &mut SqliteConnection, doing: &'static str) -> Attempt<()> {
    let begun = sqlx::query("BEGIN IMMEDIATE").execute(connection).await;
    begun.map(|_| ()).map_err(|source| Failure::of(source, doing))
}

/// Runs the works in the open transaction, commits, and answers their callers. Returns whether the connection is still good.
async fn transact(
    file: &Opened,
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
        // If the file was moved away meanwhile, the transaction is gone with it.
        outcome = run(connection, end, doing).await.and_then(|()| file.place.check());
    }
    verdicts.into_iter().for_each(|verdict| (verdict.tell)(outcome.clone()));
    if let Err(error) = &outcome {
        tracing::warn!(%error, "a writing connection is closed after a failed transaction");
        jobs.for_each(|job| job.fail(error.clone()));
    }
    outcome.is_ok()
}

/// Runs one of several works in a savepoint, so that its failure undoes only itself.
///
/// Some faults make SQLite roll back the whole transaction. Then the savepoint is gone too, and the group may be retried.
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

/// The outcome of a work: whether to keep its changes, and how to tell its caller about the commit.
struct Verdict {
    is_kept: bool,
    tell: Box<dyn FnOnce(Result<()>) + Send>,
}

/// A waiting work, whatever the type of its answer.
trait Job: Send {
    /// Runs it in the open transaction.
    fn run<'c>(
        self: Box<Self>,
        connection: &'c mut SqliteConnection,
    ) -> std::pin::Pin<Box<dyn Future<Output = Verdict> + Send + 'c>>;

    /// Reports to the caller that it did not run.
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
            // If the caller is gone, its work is kept all the same.
            let tell = move |commit: Result<()>| drop(caller.send(answer.and_then(|value| commit.map(|()| value))));
            Verdict { is_kept, tell: Box::new(tell) }
        })
    }

    fn fail(self: Box<Self>, error: Error) {
        drop(self.caller.send(Err(error)));
    }
}
