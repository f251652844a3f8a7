//! Finding facts beside the passes: a finder in a task of its own takes one stretch after another, and passes wait for it a little.
//!
//! A stretch is deferred before the extractor is asked, so that other processes pass it over, and settled when its facts are stored.
//! Where a process is killed in between, the stretch is due again when the time is over.

use std::time::Duration;

use tokio::time::Instant;
use tracing::Instrument as _;

use crate::engine::event::Event;
use crate::engine::handle::Memory;
use crate::engine::inner::{Extraction, Found, Inner, NOTED_IN_ONE_STEP};
use crate::error::{Error, Result};
use crate::extract::FactCounts;
use crate::model::panicked;
use crate::store::upkeep::{LONGEST_WAIT, Note, Outcome};
use crate::time::Timestamp;

use super::extract::{PATIENCE, SLICE, is_of_stretch};
use super::pass::{ATTEMPTS, Pass, settle};
use super::report::UpkeepReport;
use super::seen::Seen;

/// How many notes are read in one call.
const NOTES: usize = 16;
/// How long a round goes on at most.
pub(super) const SHARE: Duration = Duration::from_secs(300);
/// How long other processes pass over a stretch that the extractor is asked about: as long as it may take, and some more for what is
/// read before and stored behind.
const LEASE: Duration = Duration::from_secs(90);
/// How long a stretch waits after a first failure that is not its own.
const FIRST_WAIT: Duration = Duration::from_secs(16);

/// A finder at work. However it ends, nobody waits for it afterwards.
struct Finder {
    memory: Memory,
    is_done: bool,
}

/// One time through all notes that are due.
struct Round<'a> {
    extraction: &'a Extraction,
    /// How long it may still wait for the extractor.
    left: Duration,
    until: Instant,
    seen: Seen,
}

impl Drop for Finder {
    fn drop(&mut self) {
        let finding = &self.memory.inner.finding;
        if std::thread::panicking() {
            finding.tell(failed(&panicked("upkeep", "find facts")));
        }
        if !self.is_done {
            finding.cut_off();
        }
    }
}

impl Finder {
    async fn run(mut self) {
        let memory = self.memory.clone();
        let finding = &memory.inner.finding;
        let rounds = async {
            while let Some(share) = finding.next_round() {
                memory.find_round(share).await;
                finding.end_round();
            }
            Ok(())
        };
        match finding.turn.take(Box::pin(rounds)).await {
            Ok(()) => self.is_done = true,
            Err(error) => finding.tell(failed(&error)),
        }
    }
}

impl Memory {
    /// Finds facts in what is noted for the extractor for so long, and one answer more; and waits first for what is asked already. Returns
    /// what was found, also by others, since a pass or this call told it last. Does nothing without an extractor.
    ///
    /// Passes of [`Memory::upkeep_once`] wait two seconds for the extractor. Whoever ends afterwards, as a program for one command does,
    /// waits longer by this call: with no time at all, for the answer that is under way. If the future is dropped, the extractor goes on.
    ///
    /// # Errors
    /// `ReadOnly` if truth is open for reading only. What fails otherwise is in the report, and is tried again later.
    ///
    /// # Examples
    /// ```
    /// # async fn example(memory: &memory_core::engine::Memory) -> memory_core::Result<()> {
    /// use std::time::Duration;
    ///
    /// memory.upkeep_once().await?;
    /// let report = memory.find_facts(Duration::from_secs(300)).await?;
    /// println!("{} facts more", report.facts);
    /// # Ok(())
    /// # }
    /// ```
    pub async fn find_facts(&self, within: Duration) -> Result<UpkeepReport> {
        let inner = &self.inner;
        if inner.only_reads {
            return Err(Error::ReadOnly { backend: inner.chat.store().backend() });
        }
        if let Some(round) = self.begin_finding(within) {
            inner.finding.ended(round, within.saturating_add(PATIENCE)).await;
        }
        let mut pass = Pass::default();
        pass.take_in(inner.finding.take());
        Ok(pass.report)
    }

    /// Has facts found beside everything else, by whom waits for the extractor for so long. Returns the number of the round; none if there
    /// is no extractor, or upkeep is to end.
    pub(super) fn begin_finding(&self, share: Duration) -> Option<u64> {
        let inner = &self.inner;
        inner.extraction.as_ref().filter(|extraction| !extraction.is_retired())?;
        if inner.turn.is_ending() {
            return None;
        }
        let (round, is_first) = inner.finding.wish(share);
        if is_first {
            let finder = Finder { memory: self.clone(), is_done: false };
            drop(tokio::spawn(finder.run().instrument(tracing::debug_span!("upkeep"))));
        }
        Some(round)
    }

    /// Finds the facts in what is noted, until the share of the round is used up.
    async fn find_round(&self, share: Duration) {
        let inner = &self.inner;
        let Some(extraction) = inner.extraction.as_ref().filter(|extraction| !extraction.is_retired()) else { return };
        let mut pass = Pass::default();
        let mut goes_on = inner.enlist_extraction(extraction, &mut pass).await;
        inner.finding.tell(pass.into_found());
        let (until, seen) = (Instant::now() + SHARE, Seen::default());
        let mut round = Round { extraction, left: share, until, seen };
        while goes_on {
            let mut pass = Pass::default();
            goes_on = self.find_next(&mut round, &mut pass).await;
            inner.finding.tell(pass.into_found());
        }
    }

    /// Finds the facts in what the next note is about. Returns whether there may be more.
    async fn find_next(&self, round: &mut Round<'_>, pass: &mut Pass) -> bool {
        let (inner, extraction) = (&self.inner, round.extraction);
        if inner.finding.turn.is_ending() || round.left.is_zero() || Instant::now() >= round.until {
            return false;
        }
        let truth = inner.chat.upkeep().as_ref();
        // Read anew for each: meanwhile other processes have taken some.
        let found = truth.pending(&extraction.name, inner.clock.now(), NOTES).await;
        let Some(found) = pass.answer(found) else { return false };
        let Some(note) = found.into_iter().find(|note| round.seen.is_new(note)) else { return false };
        let lease = inner.lease(&note);
        if pass.answer(truth.settle(&extraction.name, std::slice::from_ref(&lease)).await).is_none() {
            // Others may ask about it too. It has its turn in the next round, and other owners have theirs in this one.
            round.seen.note(&note, &lease.1, false);
            return true;
        }
        let mut counts = FactCounts::default();
        let found = self.facts_of(extraction, &note, &mut round.left, &mut counts).await;
        pass.report.fact_counts.add(counts);
        if counts != FactCounts::default() {
            let facts = found.as_ref().map_or(0, |(_, operations)| *operations);
            inner.tell(Some(&note.scope), &Event::Extracted { facts, counts });
        }
        let mut is_refused = false;
        let outcome = match found {
            Ok((through, operations)) => {
                pass.report.facts += operations;
                (note, Outcome::Done { through })
            }
            // What cannot be read in one stretch holds up no other.
            Err(error @ Error::Invalid { .. }) if note.attempts + 1 >= ATTEMPTS => {
                pass.report.fail(&error);
                let through = note.end_of_slice(SLICE);
                (note, Outcome::Done { through })
            }
            Err(error) if is_of_stretch(&error) => inner.failed(note, &error, true, &mut pass.report),
            Err(error) => {
                // Who was refused for good is refused for every stretch.
                is_refused = !error.is_retryable();
                inner.asked_later(note, &error, &mut pass.report)
            }
        };
        settle(&extraction.name, truth, &[outcome], &mut round.seen, pass).await;
        !is_refused
    }
}

impl Inner {
    /// Has truth note conversations. Returns false if it did not answer, or the finder is to end before everything is noted.
    async fn enlist_extraction(&self, extraction: &Extraction, pass: &mut Pass) -> bool {
        let now = self.clock.now();
        if !extraction.is_to_enlist(now) {
            return true;
        }
        while !self.finding.turn.is_ending() {
            let incarnation = Some(extraction.incarnation());
            let enlisted = self.chat.upkeep().enlist(&extraction.name, incarnation, NOTED_IN_ONE_STEP).await;
            let Some(is_all) = pass.answer(enlisted) else { return false };
            if is_all {
                extraction.set_enlisted(Some(now));
                return true;
            }
        }
        false
    }

    /// Returns that a note is due again when the extractor is answered at the latest. That is no failure: if the process is killed until
    /// then, again and again, the note has failed once, and uses up no further attempt.
    fn lease(&self, note: &Note) -> (Note, Outcome) {
        let note = Note { attempts: note.attempts.saturating_sub(1), ..note.clone() };
        (note, Outcome::Retry { at: self.after(LEASE), why: "somebody finds facts in it".to_owned() })
    }

    fn after(&self, wait: Duration) -> Timestamp {
        self.clock.now().checked_add(wait).unwrap_or(Timestamp(i64::MAX))
    }

    /// Returns that a note is tried again, each time later: each answer may be paid for, also one that comes too late.
    fn asked_later(&self, note: Note, error: &Error, report: &mut UpkeepReport) -> (Note, Outcome) {
        report.fail(error);
        report.retried += 1;
        let wait = (FIRST_WAIT * (1 << note.attempts.min(8))).max(error.retry_after()).min(LONGEST_WAIT);
        (note, Outcome::Retry { at: self.after(wait), why: error.with_causes() })
    }
}

fn failed(error: &Error) -> Found {
    Found { failures: vec![error.with_causes()], ..Found::default() }
}
