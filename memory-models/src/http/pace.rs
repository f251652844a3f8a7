//! When requests may be made: so many a minute, so many at once, and none while the server asks to wait.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::{Semaphore, SemaphorePermit};
use tokio::time::{Instant, sleep_until, timeout_at};

use super::error::Fault;

/// How many calls may wait for each that may be under way.
const WAITING: usize = 32;
/// The longest that one answer holds up the calls of all.
const LONGEST_PAUSE: Duration = Duration::from_secs(60);

/// When requests may be made.
#[derive(Debug)]
pub(super) struct Pace {
    /// The time between two requests.
    interval: Duration,
    concurrency: usize,
    room: Semaphore,
    waiting: AtomicUsize,
    turns: Mutex<Turns>,
}

#[derive(Debug)]
struct Turns {
    /// When the next request may be made.
    next: Instant,
    /// Until when the server asked to wait.
    paused: Instant,
    /// How much later turns come for all that the server asked to wait so far.
    shift: Duration,
}

/// The turn of a call that holds a permit.
struct Turn {
    /// When it was to come as it was taken.
    at: Instant,
    /// The shift then.
    shift: Duration,
}

impl Turns {
    /// Returns `at`, a moment behind the pause.
    ///
    /// # Errors
    /// If it is later than `until`.
    fn in_time(&self, at: Instant, until: Instant) -> Result<Instant, Fault> {
        if at <= until {
            return Ok(at);
        }
        if self.paused <= until {
            return Err(Fault::Crowded);
        }
        Err(Fault::Paused(self.paused.saturating_duration_since(Instant::now())))
    }
}

impl Pace {
    pub(super) fn new(requests_per_minute: Option<u32>, concurrency: usize, now: Instant) -> Self {
        let interval = requests_per_minute.map_or(Duration::ZERO, |requests| Duration::from_secs(60) / requests);
        let turns = Mutex::new(Turns { next: now, paused: now, shift: Duration::ZERO });
        Self { interval, concurrency, room: Semaphore::new(concurrency), waiting: AtomicUsize::new(0), turns }
    }

    /// Waits until a request may be made; the permit is held while it is under way.
    ///
    /// Permits are given in the order of the calls, and only who holds one takes a turn: so turns come in that order too.
    ///
    /// # Errors
    /// As soon as it is known that it cannot be made before `until`.
    pub(super) async fn enter(&self, until: Instant) -> Result<SemaphorePermit<'_>, Fault> {
        let permit = match self.room.try_acquire() {
            Ok(permit) => permit,
            Err(_) => self.wait(until).await?,
        };
        let turn = self.turn(until)?;
        loop {
            let due = self.due(&turn, until)?;
            if due <= Instant::now() {
                return Ok(permit);
            }
            sleep_until(due).await;
        }
    }

    async fn wait(&self, until: Instant) -> Result<SemaphorePermit<'_>, Fault> {
        let place = Place::take(&self.waiting);
        if place.number >= self.concurrency.saturating_mul(WAITING) {
            return Err(Fault::Crowded);
        }
        self.check(place.number, until)?;
        match timeout_at(until, self.room.acquire()).await {
            Ok(Ok(permit)) => Ok(permit),
            _ => Err(Fault::Crowded),
        }
    }

    /// Returns `Ok` if a request that so many others come before may be in time.
    ///
    /// # Errors
    /// If it cannot be made before `until`.
    pub(super) fn check(&self, others: usize, until: Instant) -> Result<(), Fault> {
        self.behind(&self.turns(), others, until).map(|_| ())
    }

    /// Returns the earliest turn of a request that so many others come before.
    fn behind(&self, turns: &Turns, others: usize, until: Instant) -> Result<Instant, Fault> {
        let next = turns.next.max(turns.paused).max(Instant::now());
        let others = u32::try_from(others).unwrap_or(u32::MAX);
        turns.in_time(next + self.interval.saturating_mul(others), until)
    }

    /// Takes the next turn.
    fn turn(&self, until: Instant) -> Result<Turn, Fault> {
        let mut turns = self.turns();
        let at = self.behind(&turns, 0, until)?;
        turns.next = at + self.interval;
        Ok(Turn { at, shift: turns.shift })
    }

    /// Returns when a turn comes, after all that the server asked to wait since.
    fn due(&self, turn: &Turn, until: Instant) -> Result<Instant, Fault> {
        let turns = self.turns();
        let due = turn.at + (turns.shift - turn.shift);
        // One that had come already when the server asked to wait waits too.
        turns.in_time(due.max(turns.paused), until)
    }

    /// Lets all calls wait, because the server asks to; their turns stay as far apart as they were.
    pub(super) fn pause(&self, after: Duration) {
        let now = Instant::now();
        let mut turns = self.turns();
        let begun = turns.paused.max(now);
        turns.paused = begun.max(now + after.min(LONGEST_PAUSE));
        let added = turns.paused - begun;
        turns.next += added;
        turns.shift += added;
    }

    fn turns(&self) -> MutexGuard<'_, Turns> {
        self.turns.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A place among the waiting calls, given back on drop.
struct Place<'a> {
    waiting: &'a AtomicUsize,
    number: usize,
}

impl<'a> Place<'a> {
    fn take(waiting: &'a AtomicUsize) -> Self {
        Self { waiting, number: waiting.fetch_add(1, Ordering::Relaxed) }
    }
}

impl Drop for Place<'_> {
    fn drop(&mut self) {
        self.waiting.fetch_sub(1, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use futures_util::future::{join, join_all};
    use tokio::task::yield_now;

    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    #[tokio::test(start_paused = true)]
    async fn sixty_requests_a_minute_are_a_second_apart_and_what_comes_too_late_is_refused_at_once() {
        let begun = Instant::now();
        let pace = Pace::new(Some(60), 8, begun);
        for _ in 0..5 {
            drop(pace.enter(begun + SECOND * 9).await.unwrap());
        }
        assert_eq!(begun.elapsed(), SECOND * 4);
        let crowded = pace.enter(Instant::now() + SECOND / 2).await.map(drop);
        assert_eq!((crowded, begun.elapsed()), (Err(Fault::Crowded), SECOND * 4));
    }

    #[tokio::test(start_paused = true)]
    async fn all_wait_while_the_server_asks_to_and_who_cannot_is_told_how_long() {
        let begun = Instant::now();
        let pace = Pace::new(None, 8, begun);
        pace.pause(SECOND * 5);
        assert_eq!(pace.enter(begun + SECOND).await.map(drop), Err(Fault::Paused(SECOND * 5)));
        drop(pace.enter(begun + SECOND * 10).await.unwrap());
        assert_eq!(begun.elapsed(), SECOND * 5);
        pace.pause(Duration::from_secs(u64::MAX / 2));
        drop(pace.enter(begun + SECOND * 100).await.unwrap());
        assert_eq!(begun.elapsed(), SECOND * 65, "nobody holds up all calls for more than a minute");
    }

    #[tokio::test(start_paused = true)]
    async fn who_waits_already_when_the_server_asks_to_wait_waits_on_or_is_told_how_long() {
        let begun = Instant::now();
        let pace = Pace::new(None, 1, begun);
        for (patience, waited) in [(SECOND * 10, Ok(())), (SECOND, Err(Fault::Paused(SECOND * 5)))] {
            let now = Instant::now();
            let held = pace.enter(now + SECOND).await.unwrap();
            // The answer to the call under way asks all to wait, and then that call ends.
            let answer = async {
                pace.pause(SECOND * 5);
                drop(held);
            };
            let (entered, ()) = join(pace.enter(now + patience), answer).await;
            let expected = if waited.is_ok() { SECOND * 5 } else { Duration::ZERO };
            assert_eq!((entered.map(drop), now.elapsed()), (waited, expected));
        }
    }

    /// Makes so many calls at once, a request a second, and lets the answer to the first ask all to wait 10 seconds. Returns what
    /// became of each, and when.
    async fn calls_around_a_pause(count: u32, patience: Duration) -> Vec<(Result<(), Fault>, Duration)> {
        let begun = Instant::now();
        let pace = &Pace::new(Some(60), 8, begun);
        let calls = (0..count).map(|call| async move {
            let entered = pace.enter(begun + patience).await;
            let at = begun.elapsed();
            if call == 0 {
                // All others wait by then, some of them for their turns.
                yield_now().await;
                pace.pause(SECOND * 10);
            }
            (entered.map(drop), at)
        });
        join_all(calls).await
    }

    #[tokio::test(start_paused = true)]
    async fn after_a_pause_the_calls_go_on_in_their_order_and_at_their_rate() {
        let ended = calls_around_a_pause(60, SECOND * 69).await;
        let expected = (0..60).map(|call| (Ok(()), if call == 0 { Duration::ZERO } else { SECOND * (10 + call) }));
        assert_eq!(ended, expected.collect::<Vec<_>>());
    }

    #[tokio::test(start_paused = true)]
    async fn a_pause_takes_its_time_from_the_last_calls_and_not_from_the_first() {
        let ended = calls_around_a_pause(40, SECOND * 30).await;
        let expected = (0..40).map(|call| match call {
            0 => (Ok(()), Duration::ZERO),
            1..=20 => (Ok(()), SECOND * (10 + call)),
            // They waited already, and are told when there is a permit for them, that of the call at 23 seconds.
            21..=30 => (Err(Fault::Crowded), SECOND * 23),
            _ => (Err(Fault::Crowded), Duration::ZERO),
        });
        assert_eq!(ended, expected.collect::<Vec<_>>());
    }

    #[tokio::test(start_paused = true)]
    async fn who_would_wait_for_a_permit_until_it_is_too_late_is_refused_at_once() {
        let begun = Instant::now();
        let pace = Pace::new(None, 1, begun);
        let _held = pace.enter(begun).await.unwrap();
        pace.pause(SECOND * 5);
        let refused = pace.enter(begun + SECOND).await.map(drop);
        assert_eq!((refused, begun.elapsed()), (Err(Fault::Paused(SECOND * 5)), Duration::ZERO));
    }

    #[tokio::test(start_paused = true)]
    async fn so_many_are_under_way_at_once_so_many_wait_and_the_rest_is_refused() {
        let begun = Instant::now();
        let pace = Pace::new(None, 2, begun);
        let held = (pace.enter(begun).await.unwrap(), pace.enter(begun).await.unwrap());
        let waits = (0..100).map(|_| async { pace.enter(begun + SECOND).await.map(drop) });
        let ended = join_all(waits).await;
        assert_eq!(begun.elapsed(), SECOND);
        assert!(ended.iter().all(|end| *end == Err(Fault::Crowded)));
        drop(held);
        assert!(pace.enter(Instant::now() + SECOND).await.is_ok());
    }
}
