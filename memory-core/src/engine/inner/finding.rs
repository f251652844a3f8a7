//! The finding of facts beside the passes of upkeep: who wishes for it, how far it is, and what it has to tell the next pass.

use std::time::Duration;

use tokio::sync::watch;
use tokio::time::{Instant, timeout};

use crate::extract::FactCounts;
use crate::sync::Lock;

use super::turn::{Ended, Turn};

/// What was found, and what failed.
#[derive(Debug, Default)]
pub(crate) struct Found {
    pub(crate) facts: usize,
    pub(crate) counts: FactCounts,
    pub(crate) retried: usize,
    pub(crate) dead: usize,
    /// What failed, each once.
    pub(crate) failures: Vec<String>,
}

impl Found {
    fn add(&mut self, more: Self) {
        let Self { facts, counts, retried, dead, failures } = more;
        self.facts += facts;
        self.counts.add(counts);
        self.retried += retried;
        self.dead += dead;
        for why in failures {
            if !self.failures.contains(&why) {
                self.failures.push(why);
            }
        }
    }
}

/// The state of a finder, which works in rounds: each carries out every note that is due, once.
#[derive(Clone, Copy, Debug, Default)]
struct State {
    /// How long the next round may wait for the extractor; none if nobody wishes for a round.
    wish: Option<Duration>,
    /// How many rounds have begun, and how many of them have ended.
    begun: u64,
    ended: u64,
    /// Whether there is a finder.
    is_running: bool,
    /// Whether it reads or writes. If not, it waits for the extractor or for its turn.
    is_working: bool,
}

/// Finds facts in a task of its own, the finder, so that nothing else waits for an extractor.
#[derive(Debug)]
pub(crate) struct Finding {
    /// Lets one finder of this process work at a time, and ends it.
    pub(crate) turn: Turn,
    state: watch::Sender<State>,
    found: Lock<Found>,
}

impl Default for Finding {
    fn default() -> Self {
        Self { turn: Turn::default(), state: watch::Sender::new(State::default()), found: Lock::default() }
    }
}

impl Finding {
    /// Wishes for a round that may wait for the extractor for so long. Returns its number, and whether the caller is to begin a finder
    /// because there is none.
    pub(crate) fn wish(&self, share: Duration) -> (u64, bool) {
        let (mut round, mut is_first) = (0, false);
        self.state.send_modify(|state| {
            state.wish = state.wish.max(Some(share));
            (round, is_first) = (state.begun + 1, !state.is_running);
            state.is_running = true;
        });
        (round, is_first)
    }

    /// Forgets who wishes for a round.
    pub(crate) fn drop_wish(&self) {
        self.state.send_modify(|state| state.wish = None);
    }

    /// Begins the next round and returns how long it may wait for the extractor. None if nobody wishes for one: then the finder is to
    /// end.
    pub(crate) fn next_round(&self) -> Option<Duration> {
        let mut share = None;
        self.state.send_modify(|state| {
            share = state.wish.take();
            state.is_running = share.is_some();
            state.is_working = share.is_some();
            state.begun += u64::from(share.is_some());
        });
        share
    }

    /// Ends the round.
    pub(crate) fn end_round(&self) {
        self.state.send_modify(|state| (state.ended, state.is_working) = (state.begun, false));
    }

    /// Tells whether the finder works, or waits for the extractor.
    pub(crate) fn set_working(&self, is_working: bool) {
        self.state.send_modify(|state| state.is_working = is_working);
    }

    /// Takes note that the finder was cut off. Nobody waits for it any longer.
    pub(crate) fn cut_off(&self) {
        self.state.send_modify(|state| *state = State { begun: state.begun, ended: state.begun, ..State::default() });
    }

    /// Waits until a round has ended, or no finder works any more. Waits for the extractor no longer than `patience`.
    pub(crate) async fn ended(&self, round: u64, patience: Duration) {
        let (mut states, mut left) = (self.state.subscribe(), patience);
        loop {
            let state = *states.borrow_and_update();
            if state.ended >= round || !state.is_running {
                return;
            }
            let begun = Instant::now();
            // What is written is written soon; and whoever waits for it finds it.
            let longest = if state.is_working { Duration::MAX } else { left };
            if !matches!(timeout(longest, states.changed()).await, Ok(Ok(()))) {
                return;
            }
            if !state.is_working {
                left = left.saturating_sub(begun.elapsed());
            }
        }
    }

    /// Ends the finder after its present step, or after `patience` in the middle of the step. While the guard is held, none works.
    pub(crate) async fn end(&self, patience: Duration) -> Ended<'_> {
        let ended = self.turn.end(patience).await;
        self.drop_wish();
        ended
    }

    /// Takes what was found, to be told by the next pass.
    pub(crate) fn tell(&self, found: Found) {
        self.found.lock().add(found);
    }

    /// Returns what was found since the last call.
    pub(crate) fn take(&self) -> Found {
        std::mem::take(&mut *self.found.lock())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    #[test]
    fn a_wish_during_a_round_is_for_the_next_one_and_the_longest_wish_counts() {
        let finding = Finding::default();
        assert_eq!(finding.wish(SECOND), (1, true));
        assert_eq!(finding.next_round(), Some(SECOND));
        assert_eq!(finding.wish(3 * SECOND), (2, false));
        assert_eq!(finding.wish(SECOND), (2, false));
        finding.end_round();
        assert_eq!(finding.next_round(), Some(3 * SECOND));
        finding.end_round();
        assert_eq!(finding.next_round(), None);
        assert_eq!(finding.wish(SECOND), (3, true), "the finder has ended");
    }

    #[tokio::test(start_paused = true)]
    async fn whoever_waits_has_patience_with_the_extractor_and_not_with_what_is_written() {
        let (finding, begun) = (Finding::default(), Instant::now());
        let (round, _) = finding.wish(SECOND);
        finding.next_round();
        let rounds = async {
            for _ in 0..2 {
                tokio::time::sleep(5 * SECOND).await;
                finding.set_working(false);
                tokio::time::sleep(SECOND).await;
                finding.set_working(true);
            }
            tokio::time::sleep(5 * SECOND).await;
            finding.set_working(false);
            std::future::pending::<()>().await;
        };
        tokio::select! {
            () = finding.ended(round, 3 * SECOND) => {}
            () = rounds => {}
        }
        // Three times five seconds of work, and three of waiting.
        assert_eq!(begun.elapsed(), 18 * SECOND);
    }

    #[tokio::test(start_paused = true)]
    async fn nobody_waits_for_a_finder_that_was_cut_off() {
        let finding = Finding::default();
        finding.wish(SECOND);
        finding.next_round();
        let (round, is_first) = finding.wish(SECOND);
        assert!(!is_first);
        finding.cut_off();
        finding.ended(round, Duration::MAX).await;
        assert!(finding.wish(SECOND).1);
    }
}
