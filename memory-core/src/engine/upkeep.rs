//! Upkeep: indexes follow truth, expired records go, full windows are summarised. Resumable at any point.

use std::collections::BTreeMap;
use std::sync::{Arc, PoisonError};
use std::time::Duration;

use tokio::sync::Notify;
use tokio::task::JoinHandle;

use crate::error::{Error, Result};
use crate::scope::Scope;
use crate::time::Timestamp;
use crate::upkeep::{IndexName, Note, Outcome, Upkeep};

use super::memory::{Inner, Memory};
use super::project::Work;

/// Notes that are read together.
const NOTES: usize = 64;
/// Documents after which a batch takes no further note.
const DOCUMENTS: usize = 512;
/// Records that one sweep deletes at the most.
const SWEEP: usize = 1_000;
/// Attempts after which a note is given up, if trying again cannot help.
const ATTEMPTS: u32 = 5;
/// The task wakes at least so often, for what expires and what is to be tried again.
const IDLE: Duration = Duration::from_secs(30);

/// What a pass of upkeep did.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct UpkeepReport {
    /// Entries put into indexes.
    pub indexed: usize,
    /// Entries that an index refused; their items are found by other indexes only.
    pub rejected: usize,
    /// Notes that failed and will be tried again.
    pub retried: usize,
    /// Notes given up.
    pub dead: usize,
    /// Expired records deleted.
    pub expired: u64,
    /// Windows whose oldest part was summarised.
    pub summarised: usize,
    /// What failed: errors with their causes, one line each without payload, each once.
    pub failures: Vec<String>,
}

impl UpkeepReport {
    pub(super) fn fail(&mut self, error: &Error) {
        let why = error.with_causes();
        if !self.failures.contains(&why) {
            self.failures.push(why);
        }
    }
}

/// The upkeep of a memory as a task. Dropping it stops the task after the step under way.
#[derive(Debug)]
pub struct UpkeepTask {
    stop: Arc<Notify>,
    task: Option<JoinHandle<()>>,
}

impl UpkeepTask {
    /// Stops the task after the step under way, and waits for it. What is left stays noted.
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
    /// Runs upkeep as a task of the present runtime: after every write, and at least every 30 seconds.
    pub fn upkeep(&self) -> UpkeepTask {
        let stop = Arc::new(Notify::new());
        let (memory, stopped) = (self.clone(), Arc::clone(&stop));
        let task = tokio::spawn(async move {
            loop {
                tokio::select! {
                    () = stopped.notified() => return,
                    () = memory.inner.changed.notified() => {}
                    () = tokio::time::sleep(IDLE) => {}
                }
                if let Err(error) = memory.upkeep_once().await {
                    tracing::warn!(%error, "upkeep failed and will be tried again");
                }
            }
        });
        UpkeepTask { stop, task: Some(task) }
    }

    /// Does everything that is due now: indexes what is noted, deletes what has expired, summarises full windows.
    ///
    /// Indexes are independent: one that fails holds up none of the others. May be killed at any point, and run by
    /// several processes at once: notes are settled after their entries are findable.
    ///
    /// # Errors
    /// Only those of the truth stores; what fails in an index or model is in the report and will be tried again.
    pub async fn upkeep_once(&self) -> Result<UpkeepReport> {
        let inner = &self.inner;
        let _one_at_a_time = inner.tending.lock().await;
        let mut report = UpkeepReport::default();
        let now = inner.clock.now();
        for upkeep in [inner.chat.upkeep(), inner.records.upkeep()] {
            report.expired += inner.sweep(upkeep.as_ref(), now).await?;
        }
        for index in inner.index_names() {
            for upkeep in [inner.chat.upkeep(), inner.records.upkeep()] {
                inner.follow(&index, upkeep.as_ref(), &mut report).await?;
            }
        }
        inner.write_accesses(&mut report).await;
        inner.summarise_full(&mut report).await;
        Ok(report)
    }
}

impl Inner {
    async fn sweep(&self, upkeep: &dyn Upkeep, now: Timestamp) -> Result<u64> {
        let mut removed = 0;
        loop {
            let swept = upkeep.sweep(now, SWEEP).await?;
            removed += swept;
            if swept < SWEEP as u64 {
                return Ok(removed);
            }
        }
    }

    /// Writes down which records were returned since the last pass.
    pub(super) async fn write_accesses(&self, report: &mut UpkeepReport) {
        let accessed = std::mem::take(&mut *self.accessed.lock().unwrap_or_else(PoisonError::into_inner));
        for (scope, records, at) in accessed {
            if let Err(error) = self.records.store().touch(&scope, &records, at).await {
                report.fail(&error);
            }
        }
    }

    /// Works through the notes of one index until none is due, a batch at a time.
    async fn follow(&self, index: &IndexName, upkeep: &dyn Upkeep, report: &mut UpkeepReport) -> Result<()> {
        loop {
            let notes = upkeep.pending(index, self.clock.now(), NOTES).await?;
            if notes.is_empty() {
                return Ok(());
            }
            let mut outcomes = self.batch(index, notes, report).await;
            if let Err(error) = self.flush(index).await {
                // Nothing put since the last flush is sure to be findable.
                let undo = |(note, outcome)| match outcome {
                    Outcome::Done { .. } => self.failed(note, &error, report),
                    other => (note, other),
                };
                outcomes = outcomes.into_iter().map(undo).collect();
            }
            upkeep.settle(index, &outcomes).await?;
        }
    }

    /// Carries out as many notes as fit into one batch; the others stay pending.
    async fn batch(&self, index: &IndexName, notes: Vec<Note>, report: &mut UpkeepReport) -> Vec<(Note, Outcome)> {
        let mut outcomes = Vec::with_capacity(notes.len());
        // Notes of one owner go together; one that has failed goes alone, so that it takes no other with it again.
        let mut works: BTreeMap<(Scope, usize), Vec<Work>> = BTreeMap::new();
        let mut documents = 0;
        for (place, note) in (1..).zip(notes) {
            if documents >= DOCUMENTS {
                break;
            }
            match self.prepare(index, note).await {
                Ok(work) => {
                    documents += work.documents.len();
                    let alone = if work.note.attempts > 0 { place } else { 0 };
                    works.entry((work.note.scope.clone(), alone)).or_default().push(work);
                }
                Err((note, error)) => outcomes.push(self.failed(note, &error, report)),
            }
        }
        for ((scope, _), mut works) in works {
            let count: usize = works.iter().map(|work| work.documents.len()).sum();
            let done = self.carry_out(index, &scope, &mut works).await;
            if let Ok(rejected) = &done {
                report.indexed += count.saturating_sub(rejected.len());
                report.rejected += rejected.len();
                rejected.iter().for_each(|rejected| report.fail(&rejected.error));
            }
            outcomes.extend(works.into_iter().map(|work| match &done {
                Ok(_) => (work.note, Outcome::Done { through: work.through }),
                Err(error) => self.failed(work.note, error, report),
            }));
        }
        outcomes
    }

    fn failed(&self, note: Note, error: &Error, report: &mut UpkeepReport) -> (Note, Outcome) {
        report.fail(error);
        if note.attempts + 1 >= ATTEMPTS && !error.is_retryable() {
            tracing::warn!(%error, "a note was given up");
            report.dead += 1;
            return (note, Outcome::Dead { why: error.with_causes() });
        }
        report.retried += 1;
        let wait = Duration::from_secs(1 << note.attempts.min(12));
        let at = self.clock.now().checked_add(wait).unwrap_or(Timestamp(i64::MAX));
        (note, Outcome::Retry { at, why: error.with_causes() })
    }
}
