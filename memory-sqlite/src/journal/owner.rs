//! The task that owns the journal: it takes calls one by one, and commits those that wait at the same time together.
//!
//! After a write of which nobody knows whether it reached the disk, the journal takes no more: a sync that failed must not be
//! tried again, because the system may have dropped what it could not write. Opening the journal again reads what is there.

use std::pin::Pin;
use std::time::Duration;

use memory_core::error::{Cause, Error, Result, Transience};
use sqlx::Connection as _;
use tokio::sync::{mpsc, oneshot};
use tokio::time::timeout;

use super::fault::Fault;
use super::ledger::{Ledger, Work};
use super::open::Opened;
use crate::client::place::FilePlace;
use crate::error::{BACKEND, Doing};

/// How many calls share one commit at most.
const GROUP: usize = 512;

/// How many calls wait at most, before others wait for a place.
const WAITING: usize = 1_024;

/// How long nothing is asked before the log is moved into the file.
const IDLE: Duration = Duration::from_secs(1);

/// The way to the owner. When the last one is dropped, the journal is closed.
#[derive(Clone, Debug)]
pub(super) struct Owner {
    calls: mpsc::Sender<Call>,
}

/// What an owner is asked.
enum Call {
    Work(Box<dyn Job>),
    Close(oneshot::Sender<Result<()>>),
}

impl Owner {
    /// Takes over an opened journal.
    pub(super) fn begin(opened: Opened) -> Self {
        let (calls, asked) = mpsc::channel(WAITING);
        tokio::spawn(run(opened, asked));
        Self { calls }
    }

    /// Runs `work` and returns its answer once what it changed is durable. Dropping the returned future detaches it.
    pub(super) async fn ask<T, F>(&self, doing: &'static str, work: F) -> Result<T>
    where
        T: Send + 'static,
        F: for<'c> FnOnce(&'c mut Ledger) -> Work<'c, T> + Send + 'static,
    {
        let (caller, answer) = oneshot::channel();
        let job = Call::Work(Box::new(Task { work, caller }));
        self.calls.send(job).await.map_err(|_| closed(doing))?;
        answer.await.map_err(|_| closed(doing))?
    }

    /// Closes the journal, once the calls before are done.
    pub(super) async fn close(&self) -> Result<()> {
        let (caller, answer) = oneshot::channel();
        if self.calls.send(Call::Close(caller)).await.is_err() {
            return Ok(());
        }
        answer.await.unwrap_or(Ok(()))
    }
}

async fn run(opened: Opened, mut asked: mpsc::Receiver<Call>) {
    let Opened { mut ledger, place, durability: _, lock } = opened;
    let mut poison = None;
    let mut group = Vec::new();
    let closer = loop {
        let is_logged = ledger.is_logged() && poison.is_none();
        let some = asked.recv_many(&mut group, GROUP);
        let count = if is_logged { timeout(IDLE, some).await.ok() } else { Some(some.await) };
        match count {
            None => poison = ledger.move_log().await.err().map(|fault| poisoned(&fault)),
            Some(0) => break None,
            Some(_) => {
                if let Some(closer) = serve(&mut ledger, &place, &mut poison, &mut group).await {
                    break Some(closer);
                }
            }
        }
    };
    // Nothing is moved into a file of which it is not known what it holds.
    let moved = match poison {
        None => match ledger.move_log().await {
            Ok(true) => Ok(()),
            Ok(false) => Err(Error::QueueFull),
            Err(fault) => Err(fault.error()),
        },
        Some(error) => Err(error),
    };
    let ended = ledger.into_connection().close().await.doing("close the journal");
    // Only then may another process open it.
    drop(lock);
    asked.close();
    if let Some(closer) = closer {
        drop(closer.send(moved.and(ended)));
    }
}

/// Serves calls that wait, with one commit. Returns who wants the journal closed, after those before.
async fn serve(
    ledger: &mut Ledger,
    place: &FilePlace,
    poison: &mut Option<Error>,
    group: &mut Vec<Call>,
) -> Option<oneshot::Sender<Result<()>>> {
    let mut verdicts: Vec<(Verdict, bool)> = Vec::new();
    let mut closer = None;
    for call in group.drain(..) {
        match call {
            Call::Work(job) if closer.is_none() && poison.is_none() => {
                let tell = job.run(ledger).await;
                verdicts.push((tell, ledger.has_hidden()));
            }
            Call::Work(job) => job.fail(poison.clone().unwrap_or_else(|| closed("serve a call"))),
            Call::Close(caller) => closer = Some(caller),
        }
    }
    if verdicts.is_empty() {
        return closer;
    }
    let committed = match place.check() {
        Ok(()) => ledger.commit().await.map_err(Some),
        // If the file was moved away, nobody would ever read what is written to it.
        Err(_) => Err(None),
    };
    let tidied = match committed {
        Ok(()) => ledger.tidy().await.map_err(Some),
        Err(fault) => Err(fault),
    };
    // What was committed is durable, also where a full disk keeps it in the log. It alone is not gone that must leave no trace.
    let is_gone = !matches!(tidied, Ok(false));
    let mut outcome = tidied.map(drop);
    if let Err(fault) = &outcome
        && let Err(error) = settle(ledger, fault.as_ref()).await
    {
        tracing::error!(error = error.with_causes(), "the journal takes no more until it is opened again");
        *poison = Some(error);
    }
    let answer = match outcome.as_mut() {
        Ok(()) => Ok(()),
        Err(fault) => Err(poison.clone().or(fault.take().map(|fault| fault.error())).unwrap_or(Error::QueueFull)),
    };
    for (tell, has_hidden) in verdicts {
        tell(if has_hidden && !is_gone { Err(Error::QueueFull) } else { answer.clone() });
    }
    closer
}

/// Takes back what was not committed.
///
/// # Errors
/// What poisons the journal, if it is not known what the file holds.
async fn settle(ledger: &mut Ledger, fault: Option<&Fault>) -> Result<()> {
    match fault {
        Some(Fault::Full) => ledger.undo().await.map_err(|fault| poisoned(&fault)),
        Some(broken) => Err(poisoned(broken)),
        None => Err(fail("use the journal", "its file is no more at its path")),
    }
}

fn poisoned(fault: &Fault) -> Error {
    fail("write the journal", fault.error().with_causes())
}

fn closed(doing: &'static str) -> Error {
    fail(doing, "the journal is closed")
}

fn fail(doing: &'static str, why: impl Into<String>) -> Error {
    Error::Backend { backend: BACKEND, doing, transience: Transience::Permanent, source: Cause::new(why.into()) }
}

/// Tells a caller how the commit went.
type Verdict = Box<dyn FnOnce(Result<()>) + Send>;

/// A call, whatever the type of its answer.
trait Job: Send {
    /// Runs it.
    fn run<'c>(self: Box<Self>, ledger: &'c mut Ledger) -> Pin<Box<dyn Future<Output = Verdict> + Send + 'c>>;

    /// Tells the caller that it did not run.
    fn fail(self: Box<Self>, error: Error);
}

struct Task<T, F> {
    work: F,
    caller: oneshot::Sender<Result<T>>,
}

impl<T, F> Job for Task<T, F>
where
    T: Send + 'static,
    F: for<'c> FnOnce(&'c mut Ledger) -> Work<'c, T> + Send + 'static,
{
    fn run<'c>(self: Box<Self>, ledger: &'c mut Ledger) -> Pin<Box<dyn Future<Output = Verdict> + Send + 'c>> {
        Box::pin(async move {
            let Self { work, caller } = *self;
            let answer = work(ledger).await;
            // If the caller is gone, its work is kept all the same.
            let tell = move |commit: Result<()>| drop(caller.send(answer.and_then(|value| commit.map(|()| value))));
            Box::new(tell) as Verdict
        })
    }

    fn fail(self: Box<Self>, error: Error) {
        drop(self.caller.send(Err(error)));
    }
}
