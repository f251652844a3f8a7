//! Upkeep: makes indexes follow truth, deletes expired records, summarises full windows. Resumable at any point.

mod again;
mod boards;
mod clean;
mod document;
mod empty;
mod enlist;
mod excess;
mod extract;
mod finding;
mod held;
mod isolate;
mod lapse;
mod lapsed;
mod least;
mod pass;
mod project;
mod report;
mod room;
mod seen;
mod sight;
mod stretch;
mod summarise;
mod synopsis;
mod verify;
mod working;

use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::Notify;
use tokio::task::JoinHandle;
use tracing::Instrument as _;

use crate::error::{Error, Result};
use crate::model::apart;

use super::handle::Memory;
use super::inner::{Ended, Inner};

pub use report::{Lapse, UpkeepReport};

/// The longest pause of the task, which must notice what expires and what is due for a retry.
const IDLE: Duration = Duration::from_secs(30);
/// How long a step of upkeep may continue once upkeep is told to end.
pub(super) const STEP: Duration = Duration::from_secs(10);
/// How long a pass by hand waits for what is queued to reach truth.
const QUEUED: Duration = Duration::from_secs(1);
/// How long a pass by hand waits for the extractor.
const AWHILE: Duration = Duration::from_secs(2);

/// Who makes a pass, and so how long facts are found by its wish.
#[derive(Clone, Copy, Debug)]
enum By {
    /// A caller, who waits for them a little.
    Hand,
    /// The task, which goes on with other things meanwhile.
    Task,
}

/// A running upkeep task. Dropping it stops the task after the step under way.
#[derive(Debug)]
pub struct UpkeepTask {
    stop: Arc<Notify>,
    task: Option<JoinHandle<()>>,
}

impl UpkeepTask {
    /// Stops the task after the step under way, and waits for that. A step that takes longer than ten seconds is cut off. What is
    /// left stays noted.
    pub async fn stop(mut self) {
        self.stop.notify_one();
        if let Some(task) = self.task.take() {
            // A panic in the task has been reported by the runtime.
            let _ = task.await;
        }
    }
}

impl Drop for UpkeepTask {
    fn drop(&mut self) {
        self.stop.notify_one();
    }
}

impl Memory {
    /// Runs upkeep as a task of the current runtime: at once, after every write, and at least every 30 seconds.
    ///
    /// The task continues after every failure, even if a model panics, and logs failures as warnings. Facts are found beside everything
    /// else, so an extractor that is slow holds up no index. The task ends at once if truth is open for reading only.
    ///
    /// # Examples
    /// ```
    /// # async fn example(memory: &memory_core::engine::Memory) -> memory_core::Result<()> {
    /// let upkeep = memory.upkeep(); // as long as the program runs
    /// // …
    /// upkeep.stop().await;
    /// memory.close().await?;
    /// # Ok(())
    /// # }
    /// ```
    #[doc(alias = "prune")]
    pub fn upkeep(&self) -> UpkeepTask {
        let stop = Arc::new(Notify::new());
        let (memory, stopped) = (self.clone(), Arc::clone(&stop));
        let task = tokio::spawn(async move {
            if memory.inner.only_reads {
                return;
            }
            // An earlier process may have left something to do.
            memory.inner.changed.notify_one();
            loop {
                tokio::select! {
                    () = stopped.notified() => {
                        memory.inner.finding.end(STEP).await;
                        return;
                    }
                    () = memory.inner.changed.notified() => {}
                    () = tokio::time::sleep(IDLE) => {}
                }
                let mut pass = pin!(memory.pass(By::Task));
                tokio::select! {
                    done = &mut pass => log(&done),
                    () = stopped.notified() => {
                        memory.inner.end_upkeep(STEP).await;
                        return;
                    }
                }
            }
        });
        UpkeepTask { stop, task: Some(task) }
    }

    /// Does everything that is due now: indexes what is noted, deletes what has expired, summarises full windows, finds facts if the
    /// memory has an extractor, builds synopses that somebody asked for, and takes a step in forgetting what is not kept
    /// ([`MemoryBuilder::retention`](super::MemoryBuilder::retention)). What waits in a journal is sent first.
    ///
    /// One failure holds up nothing else: no other index, no other owner, no other text of the session. Failures are in the
    /// report and are retried later. If the store of an index does not answer at all, a pass leaves this index after the first owner
    /// for whom it failed, and the next pass begins with another one. A text is given up if the embedder refuses it, or fails for it
    /// five times while answering for others. A pass may be killed at any point, and several processes may run one at once: notes are
    /// settled only after their entries are findable.
    ///
    /// Facts are found beside the passes. When everything is indexed, a pass waits for the extractor, for two seconds in all. What it has
    /// been asked by then goes on, also if the future is dropped, and is told by a later report; the rest is left to the next pass, or to
    /// [`Memory::find_facts`], which waits longer. While one process asks about a stretch of a conversation, others pass it over: for 90
    /// seconds, if it is killed. Two that read the same note at the same moment may both ask.
    ///
    /// A pass always ends. It leaves what is written meanwhile to the next pass, and after five minutes of summarising, or of storing
    /// facts, the rest of that work too. It stops early if the memory is closed or an upkeep task is stopped. It runs in a task of its own,
    /// which ends if the future is dropped.
    ///
    /// # Errors
    /// Only if nothing could be done at all: the first failure of a truth store, if none answered; `Backend` if the pass
    /// panicked, or was cut off by [`Memory::close`]; `ReadOnly` if truth is open for reading only.
    ///
    /// # Examples
    /// ```
    /// # async fn example(memory: &memory_core::engine::Memory) -> memory_core::Result<()> {
    /// let report = memory.upkeep_once().await?; // what was written before is searchable now
    /// assert!(report.failures.is_empty(), "{:?}", report.failures);
    /// # Ok(())
    /// # }
    /// ```
    pub async fn upkeep_once(&self) -> Result<UpkeepReport> {
        // What is still queued then is left to a later pass.
        self.flush(QUEUED).await;
        self.pass(By::Hand).await
    }

    async fn pass(&self, by: By) -> Result<UpkeepReport> {
        if self.inner.only_reads {
            return Err(Error::ReadOnly { backend: self.inner.chat.store().backend() });
        }
        let memory = self.clone();
        let pass = async move {
            let whole = async {
                let mut pass = memory.inner.pass().await;
                let share = match by {
                    By::Hand => AWHILE,
                    By::Task => finding::SHARE,
                };
                if let (Some(round), By::Hand) = (memory.begin_finding(share), by) {
                    memory.inner.finding.ended(round, share).await;
                }
                pass.take_in(memory.inner.finding.take());
                memory.build_synopses(&mut pass.report).await;
                let mut report = pass.end()?;
                memory.lapse(&mut report).await;
                Ok(report)
            };
            memory.inner.turn.take(Box::pin(whole)).await
        };
        let pass = pass.instrument(tracing::debug_span!("upkeep"));
        apart("upkeep", "carry out its pass", pass).await
    }
}

fn log(pass: &Result<UpkeepReport>) {
    match pass {
        Ok(UpkeepReport { summarised, completed, replaced, failures, .. }) => {
            failures.iter().for_each(|why| tracing::warn!(why, "a part of upkeep failed"));
            if *summarised > 0 {
                tracing::info!(summarised, completed, replaced, "summarised full windows");
            }
        }
        Err(error) => tracing::warn!(why = error.with_causes(), "upkeep failed and will be tried again"),
    }
}

impl Inner {
    /// Ends the pass under way, and the finding of facts, each after its present step, or after `patience` in the middle of it. While the
    /// guards are held, neither works.
    pub(super) async fn end_upkeep(&self, patience: Duration) -> [Ended<'_>; 2] {
        let (pass, facts) = tokio::join!(self.turn.end(patience), self.finding.end(patience));
        // The pass may have wished for facts until it ended.
        self.finding.drop_wish();
        [pass, facts]
    }

    /// Stores which records were accessed since the last pass.
    pub(super) async fn write_accesses(&self, report: &mut UpkeepReport) {
        let accessed = std::mem::take(&mut *self.accessed.lock());
        for (scope, records, at) in accessed {
            if let Err(error) = self.records.store().touch(&scope, &records, at).await {
                report.fail(&error);
            }
        }
    }
}
