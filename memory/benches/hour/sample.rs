//! What is looked at every ten seconds: the size of the process, and what waits in the journal.

use std::time::Duration;

use memory::Memory;
use memory_testkit::bench::{Outcome, resident, say};
use tokio::time::{MissedTickBehavior, interval};

use crate::HEAP;
use crate::load::Load;
use crate::outage::Outages;

/// How often is looked, and how often a line is told.
const EVERY: Duration = Duration::from_secs(10);
const PER_LINE: usize = 6;

/// How much memory may grow in ten minutes, in mebibytes.
const GROWTH: f64 = 1.0;

/// What a journal holds at most, unless its configuration says otherwise.
const MOST: usize = 100_000;
const MOST_BYTES: u64 = 64 << 20;

/// What was seen at a time.
#[derive(Clone, Copy, Debug)]
struct Sample {
    minute: f64,
    /// In mebibytes.
    resident: f64,
    /// What is allocated, in mebibytes. SQLite's own memory is not among it.
    allocated: f64,
    waiting: usize,
    bytes: u64,
}

/// All that was seen.
#[derive(Debug)]
pub(crate) struct Samples<'a> {
    memory: &'a Memory,
    load: &'a Load,
    outages: &'a Outages,
    seen: Vec<Sample>,
}

impl<'a> Samples<'a> {
    pub(crate) fn new(memory: &'a Memory, load: &'a Load, outages: &'a Outages) -> Self {
        Self { memory, load, outages, seen: Vec::new() }
    }

    /// Looks for so many minutes.
    pub(crate) async fn take(&mut self, minutes: usize) {
        say("minute  resident MiB  allocated MiB, least, most  waiting  bytes      acknowledged  refused  server");
        let mut turns = interval(EVERY);
        turns.set_missed_tick_behavior(MissedTickBehavior::Delay);
        for number in 0..=minutes * PER_LINE {
            turns.tick().await;
            let (resident, allocated) = (mebibytes(resident().0), mebibytes(HEAP.allocated() as u64));
            let Some(journal) = self.memory.status().await.journal else { continue };
            let minute = number as f64 / PER_LINE as f64;
            self.seen.push(Sample { minute, resident, allocated, waiting: journal.waiting, bytes: journal.bytes });
            if number % PER_LINE == 0 {
                let ((taken, refused), state) = (self.load.appended(), self.outages.state());
                let since = self.seen.iter().rev().take(PER_LINE).map(|sample| sample.allocated);
                let (least, most) =
                    since.fold((f64::MAX, 0.0_f64), |(least, most), one| (least.min(one), most.max(one)));
                say(&format!(
                    "{minute:>6.0}  {resident:>12.1}  {least:>20.1}, {most:>5.1}  {:>7}  {:>9}  {taken:>12}  {refused:>7}  {state}",
                    journal.waiting, journal.bytes
                ));
            }
        }
    }

    /// Tells how memory grew after the warm-up, and the largest queue.
    ///
    /// # Errors
    /// Which goal was missed.
    pub(crate) fn judge(&self, warm_up: usize) -> Outcome<()> {
        let warm: Vec<Sample> = self.seen.iter().filter(|sample| sample.minute >= warm_up as f64).copied().collect();
        let growth = 10.0 * slope(&warm, |sample| sample.resident);
        let allocated = 10.0 * slope(&warm, |sample| sample.allocated);
        let waiting = self.seen.iter().map(|sample| sample.waiting).max().unwrap_or_default();
        let bytes = self.seen.iter().map(|sample| sample.bytes).max().unwrap_or_default();
        let (_, most) = resident();
        say(&format!("resident: {growth:+.2} MiB in ten minutes, at most {:.1} MiB", mebibytes(most)));
        say(&format!("allocated: {allocated:+.2} MiB in ten minutes"));
        say(&format!("queue: at most {waiting} of {MOST} messages, {bytes} of {MOST_BYTES} bytes"));
        if growth >= GROWTH {
            return Err(format!("memory grew by {growth:.2} MiB in ten minutes").into());
        }
        if waiting > MOST || bytes > MOST_BYTES {
            return Err("the queue exceeded its bound".into());
        }
        Ok(())
    }
}

fn mebibytes(bytes: u64) -> f64 {
    bytes as f64 / f64::from(1 << 20)
}

/// Returns by how many mebibytes a minute memory grew: the line with the least squares.
fn slope(samples: &[Sample], memory: impl Fn(&Sample) -> f64) -> f64 {
    let count = samples.len().max(1) as f64;
    let mean = |of: &dyn Fn(&Sample) -> f64| samples.iter().map(of).sum::<f64>() / count;
    let (minute, middle) = (mean(&|sample| sample.minute), mean(&memory));
    let together = mean(&|sample| (sample.minute - minute) * (memory(sample) - middle));
    let spread = mean(&|sample| (sample.minute - minute).powi(2));
    if spread > 0.0 { together / spread } else { 0.0 }
}
