//! One pass of upkeep: carries out everything that is due once; one failure holds up nothing else.

use std::collections::BTreeMap;
use std::time::Duration;

use tokio::time::Instant;

use crate::engine::inner::{Found, Index, Inner, Mark};
use crate::error::{Error, Result};
use crate::id::{ItemId, Unit};
use crate::scope::Scope;
use crate::store::text::Rejected;
use crate::store::upkeep::{Backlog, IndexName, LONGEST_WAIT, Note, Outcome, Target, Upkeep};
use crate::time::Timestamp;

use super::document::{Untaken, Work};
use super::isolate::Setback;
use super::report::UpkeepReport;
use super::seen::Seen;
use super::sight::Sight;
use super::summarise::{BETWEEN, SHARE};

/// How many notes are read in one call.
const NOTES: usize = 64;
/// The most notes that are read in one call, if the first ones were carried out already.
const MOST_NOTES: usize = 1 << 14;
/// The size of a batch, by [`Work::weight`], from which on it takes no further note.
const DOCUMENTS: usize = 512;
/// How many records one sweep deletes at most.
const SWEEP: usize = 1_000;
/// How many sweeps one pass makes at most.
const SWEEPS: usize = 1_000;
/// How many attempts a note or text gets that fails by its own fault.
pub(super) const ATTEMPTS: u32 = 5;
/// The longest that a note waits if its store is away, busy or late, so that the index is complete soon after that is over.
const LONGEST_PASSING: Duration = Duration::from_secs(8);

/// What a pass did.
#[derive(Debug, Default)]
pub(crate) struct Pass {
    pub(super) report: UpkeepReport,
    /// How long it has summarised.
    summarised: Duration,
    /// Whether any truth store did what it was asked for.
    has_answered: bool,
    /// The first failure of a truth store.
    error: Option<Error>,
}

impl Pass {
    /// Returns the answer of a truth store. If it failed, reports that and returns none.
    pub(super) fn answer<T>(&mut self, answer: Result<T>) -> Option<T> {
        match answer {
            Ok(answer) => Some(answer),
            Err(error) => {
                self.report.fail(&error);
                self.error.get_or_insert(error);
                None
            }
        }
    }

    /// Tells what was found beside it, as its own.
    pub(super) fn take_in(&mut self, found: Found) {
        let Found { facts, counts, retried, dead, failures } = found;
        self.report.facts += facts;
        self.report.fact_counts.add(counts);
        self.report.retried += retried;
        self.report.dead += dead;
        failures.into_iter().for_each(|why| self.report.fail_because(why));
    }

    /// Returns what finding facts has brought, to be told by another pass.
    pub(super) fn into_found(self) -> Found {
        let UpkeepReport { facts, fact_counts: counts, retried, dead, failures, .. } = self.report;
        Found { facts, counts, retried, dead, failures }
    }

    pub(super) fn end(self) -> Result<UpkeepReport> {
        match self.error {
            Some(error) if !self.has_answered => Err(error),
            _ => Ok(self.report),
        }
    }
}

/// What became of the notes of a batch.
#[derive(Debug, Default)]
struct Batch {
    outcomes: Vec<(Note, Outcome)>,
    /// The states of truth that entries were made from, each with the place of its outcome.
    sights: Vec<(usize, Sight)>,
    /// How many items were given up, each with the place of its outcome.
    lost: Vec<(usize, u64)>,
    /// Whether the index took anything, perhaps of notes that are tried again: what it took is findable after a flush alone.
    has_put: bool,
    /// Whether the store of the index or its embedder does not answer, so that going on is useless.
    is_down: bool,
}

impl Inner {
    /// Carries out everything that is due, but for what reads conversations through an owner's handle.
    pub(crate) async fn pass(&self) -> Pass {
        let mut pass = Pass::default();
        let truths = [(Unit::Message, self.chat.upkeep()), (Unit::Record, self.records.upkeep())];
        for (_, truth) in truths {
            self.sweep(truth.as_ref(), &mut pass).await;
        }
        self.sweep_boards(&mut pass.report).await;
        self.sweep_notes(&mut pass.report);
        for index in &self.indexes {
            self.keep_enlisted(index, &mut pass.report).await;
            for (unit, truth) in truths {
                if !self.follow(index, unit, truth.as_ref(), &mut pass).await {
                    break;
                }
            }
            self.verify(index, &mut pass.report).await;
        }
        self.clean(&mut pass.report).await;
        self.write_accesses(&mut pass.report).await;
        self.summarise(SHARE, &mut pass).await;
        pass
    }

    /// Summarises full sessions for so long, and in the whole pass no longer than its share.
    async fn summarise(&self, share: Duration, pass: &mut Pass) {
        let (begun, left) = (Instant::now(), SHARE.saturating_sub(pass.summarised));
        self.summarise_full(share.min(left), &mut pass.report).await;
        pass.summarised += begun.elapsed();
    }

    async fn sweep(&self, truth: &dyn Upkeep, pass: &mut Pass) {
        let now = self.clock.now();
        for _ in 0..SWEEPS {
            if self.turn.is_ending() {
                return;
            }
            let Some(swept) = pass.answer(truth.sweep(now, SWEEP).await) else { return };
            // Not before: a store that fails for one owner and deletes records of others says so when nothing else is left.
            if swept == 0 {
                return;
            }
            pass.report.expired += swept;
            self.tell_expired(None, swept);
            pass.has_answered = true;
        }
    }

    /// Carries out the due notes of one index about messages or records, each once, a batch at a time. Returns whether the index can take
    /// the notes of another truth store.
    async fn follow(&self, index: &Index, unit: Unit, truth: &dyn Upkeep, pass: &mut Pass) -> bool {
        let (mut seen, mut limit) = (Seen::default(), NOTES);
        let mark = index.unindexed.mark();
        while !self.turn.is_ending() {
            let Some(found) = pass.answer(truth.pending(&index.name, self.clock.now(), limit).await) else { break };
            pass.has_answered = true;
            let is_all = found.len() < limit;
            if found.iter().any(|note| seen.is_stuck(note)) {
                pass.report.fail(&Error::corrupt(truth.backend(), "a note that was settled is there again"));
            }
            let notes: Vec<Note> = found.into_iter().filter(|note| seen.is_new(note)).take(NOTES).collect();
            if notes.is_empty() {
                // Other notes may wait behind those that this pass has carried out.
                if is_all && let Some(mark) = mark {
                    let_go_indexed(mark, index, unit, truth, pass).await;
                }
                if is_all || limit >= MOST_NOTES {
                    break;
                }
                limit *= 4;
                continue;
            }
            let Batch { mut outcomes, sights, lost, has_put, is_down } =
                self.batch(index, notes, &mut pass.report).await;
            let flushed = if has_put { index.flush().await } else { Ok(()) };
            if let Err(error) = flushed {
                // What was put since the last flush may not be findable.
                let undo = |(note, outcome)| match outcome {
                    Outcome::Done { .. } => self.failed(note, &error, false, &mut pass.report),
                    other => (note, other),
                };
                outcomes = outcomes.into_iter().map(undo).collect();
            } else {
                for (place, sight) in &sights {
                    // What the index did not take for now is read from truth until it does.
                    if let Some((_, Outcome::Done { .. })) = outcomes.get(*place) {
                        sight.note_indexed(index);
                    }
                }
                let (places, sights): (Vec<usize>, Vec<Sight>) = sights.into_iter().unzip();
                for (place, error) in self.put_true(index, sights).await {
                    let outcome = places.get(place).and_then(|place| outcomes.get_mut(*place));
                    if let Some(outcome) = outcome {
                        *outcome = self.failed(outcome.0.clone(), &error, false, &mut pass.report);
                    }
                }
            }
            let settled = settle(&index.name, truth, &outcomes, &mut seen, pass).await;
            for (place, count) in lost {
                // What is tried again is not given up yet.
                if settled.get(place) == Some(&true)
                    && let Some((Note { scope, epoch, .. }, Outcome::Done { .. })) = outcomes.get(place)
                {
                    self.given_up.add(scope, &index.name, *epoch, count);
                }
            }
            if self.buffers.is_crowded() {
                self.summarise(BETWEEN, pass).await;
            }
            if is_down {
                return false;
            }
        }
        true
    }

    /// Carries out as many notes as fit into one batch; the others stay pending.
    async fn batch(&self, index: &Index, notes: Vec<Note>, report: &mut UpkeepReport) -> Batch {
        let mut batch = Batch::default();
        // Notes of one owner go together. One that has failed goes alone, so that it fails no other.
        let mut works: BTreeMap<(Scope, usize), Vec<Work>> = BTreeMap::new();
        let mut documents = 0;
        for (place, note) in (1..).zip(notes) {
            if documents >= DOCUMENTS {
                break;
            }
            match self.prepare(index, note).await {
                Ok(work) => {
                    documents += work.weight();
                    let alone = if work.note.attempts > 0 { place } else { 0 };
                    works.entry((work.note.scope.clone(), alone)).or_default().push(work);
                }
                Err((note, error)) => batch.outcomes.push(self.failed(note, &error, false, report)),
            }
        }
        let mut answers = false;
        for ((scope, _), mut works) in works {
            let items: Vec<Vec<ItemId>> = works.iter().map(Work::items).collect();
            match self.carry_out(index, &scope, &mut works).await {
                Ok(untaken) => {
                    batch.has_put = true;
                    let count: usize = items.iter().map(Vec::len).sum();
                    report.indexed += count.saturating_sub(untaken.all().count());
                    untaken.all().for_each(|rejected| report.fail(&rejected.error));
                    for (mut work, items) in works.into_iter().zip(&items) {
                        let sight = work.sight.take().map(|sight| (batch.outcomes.len(), sight));
                        let (outcome, lost) = self.outcome(work, items, &untaken, report);
                        batch.lost.extend((lost > 0).then_some((batch.outcomes.len(), lost)));
                        batch.outcomes.push(outcome);
                        batch.sights.extend(sight);
                    }
                }
                // Not the fault of any note: they stay due, and it counts as no attempt.
                Err(Setback { error, is_down: true }) => {
                    report.fail(&error);
                    report.retried += works.len();
                    batch.is_down = true;
                    break;
                }
                Err(Setback { error, .. }) => {
                    let failed = works.into_iter().map(|work| self.failed(work.note, &error, false, report));
                    batch.outcomes.extend(failed);
                    // Others would be waited for in vain. They come first in the next pass: what has failed stands behind them.
                    answers = answers || !error.is_retryable() || index.answers().await;
                    if !answers {
                        batch.is_down = true;
                        break;
                    }
                }
            }
        }
        batch
    }

    /// Returns the outcome of a note that was carried out, perhaps except for some of its items, and how many of these were given
    /// up.
    fn outcome(
        &self,
        work: Work,
        items: &[ItemId],
        untaken: &Untaken,
        report: &mut UpkeepReport,
    ) -> ((Note, Outcome), u64) {
        let Work { note, through, .. } = work;
        let mine = |list: &[Rejected]| -> Vec<Rejected> {
            list.iter().filter(|rejected| items.contains(&rejected.item)).cloned().collect()
        };
        if let Some(delayed) = mine(&untaken.delayed).first() {
            return (self.failed(note, &delayed.error, false, report), 0);
        }
        let (mut lost, unmade) = (mine(&untaken.refused), mine(&untaken.unmade));
        let may_pass = unmade.iter().find(|rejected| rejected.error.is_retryable());
        let is_all = unmade.len() == items.len() && through == note.upto;
        match may_pass.or(unmade.first()) {
            Some(rejected) if is_all => {
                let failed = self.failed(note, &rejected.error, true, report);
                if matches!(failed.1, Outcome::Dead { .. }) {
                    unmade.iter().for_each(|rejected| report.give_up(&failed.0.scope, rejected));
                }
                return (failed, 0);
            }
            Some(rejected) if may_pass.is_some() && note.attempts + 1 < ATTEMPTS => {
                return (self.failed(note, &rejected.error, true, report), 0);
            }
            _ => lost.extend(unmade),
        }
        report.rejected += lost.len();
        lost.iter().for_each(|rejected| report.give_up(&note.scope, rejected));
        ((note, Outcome::Done { through }), lost.len() as u64)
    }

    /// Returns the outcome of a note that failed: a retry later, or giving up after [`ATTEMPTS`] if it is the note's own fault.
    /// A store that refuses everything, because a key has expired or an index is missing, will accept again some day. One that is
    /// away, busy or late is asked again soon, however long that lasts. An erasure is never given up.
    pub(super) fn failed(
        &self,
        note: Note,
        error: &Error,
        is_its_own: bool,
        report: &mut UpkeepReport,
    ) -> (Note, Outcome) {
        report.fail(error);
        let is_its_own = is_its_own || matches!(error, Error::Invalid { .. });
        if note.attempts + 1 >= ATTEMPTS && is_its_own && note.target != Target::Owner {
            tracing::warn!(%error, "a note was given up");
            report.dead += 1;
            return (note, Outcome::Dead { why: error.with_causes() });
        }
        report.retried += 1;
        let longest = if error.is_retryable() { LONGEST_PASSING } else { LONGEST_WAIT };
        let wait = Duration::from_secs(1 << note.attempts.min(12)).min(longest);
        let at = self.clock.now().checked_add(wait).unwrap_or(Timestamp(i64::MAX));
        (note, Outcome::Retry { at, why: error.with_causes() })
    }
}

/// Lets go what this process wrote before a mark, if nothing is noted any more: whoever took the notes, the index has it.
async fn let_go_indexed(mark: Mark, index: &Index, unit: Unit, truth: &dyn Upkeep, pass: &mut Pass) {
    if let Some(Backlog { pending: 0, .. }) = pass.answer(truth.backlog(&index.name).await) {
        index.unindexed.remove_until(mark, unit);
    }
}

/// Settles notes; if that fails, owner by owner, so that one owner holds up no other. Returns of each whether it is settled.
pub(super) async fn settle(
    index: &IndexName,
    truth: &dyn Upkeep,
    outcomes: &[(Note, Outcome)],
    seen: &mut Seen,
    pass: &mut Pass,
) -> Vec<bool> {
    let is_done = truth.settle(index, outcomes).await.is_ok();
    let mut settled = Vec::with_capacity(outcomes.len());
    for of_owner in outcomes.chunk_by(|(one, _), (other, _)| one.scope == other.scope) {
        let is_done = is_done || pass.answer(truth.settle(index, of_owner).await).is_some();
        of_owner.iter().for_each(|(note, outcome)| seen.note(note, outcome, is_done));
        settled.extend(of_owner.iter().map(|_| is_done));
    }
    settled
}
