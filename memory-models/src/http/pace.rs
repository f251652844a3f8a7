//! When requests may be made: so many a minute, so many at once, and none while the server asks to wait.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
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
}

impl Pace {
    pub(super) fn new(requests_per_minute: Option<u32>, concurrency: usize, now: Instant) -> Self {
        let interval = requests_per_minute.map_or(Duration::ZERO, |requests| Duration::from_secs(60) / requests);
        let turns = Mutex::new(Turns { next: now, paused: now });
        Self { interval, concurrency, room: Semaphore::new(concurrency), waiting: AtomicUsize::new(0), turns }
    }

    /// Waits until a request may be made; the permit is held while it is under way.
    ///
    /// # Errors
    /// At once, if it cannot be made before `until`.
    pub(super) async fn enter(&self, until: Instant) -> Result<SemaphorePermit<'_>, Fault> {
        let mut at = self.turn(until)?;
        let permit = match self.room.try_acquire() {
            Ok(permit) => permit,
            Err(_) => self.wait(until).await?,
        };
        loop {
            sleep_until(at).await;
            // The server may have asked to wait since this call took its turn.
            if !self.is_paused() {
                return Ok(permit);
            }
            at = self.turn(until)?;
        }
    }

    async fn wait(&self, until: Instant) -> Result<SemaphorePermit<'_>, Fault> {
        let place = Place::take(&self.waiting);
        if place.number >= self.concurrency.saturating_mul(WAITING) {
            return Err(Fault::Crowded);
        }
        match timeout_at(until, self.room.acquire()).await {
            Ok(Ok(permit)) => Ok(permit),
            _ => Err(Fault::Crowded),
        }
    }

    /// Takes the next turn.
    fn turn(&self, until: Instant) -> Result<Instant, Fault> {
        let mut turns = self.turns.lock().unwrap_or_else(PoisonError::into_inner);
        let now = Instant::now();
        if turns.paused > until {
            return Err(Fault::Paused(turns.paused.saturating_duration_since(now)));
        }
        let at = turns.next.max(turns.paused).max(now);
        if at > until {
            return Err(Fault::Crowded);
        }
        turns.next = at + self.interval;
        Ok(at)
    }

    fn is_paused(&self) -> bool {
        self.turns.lock().unwrap_or_else(PoisonError::into_inner).paused > Instant::now()
    }

    /// Lets all calls wait, because the server asks to.
    pub(super) fn pause(&self, after: Duration) {
        let mut turns = self.turns.lock().unwrap_or_else(PoisonError::into_inner);
        turns.paused = turns.paused.max(Instant::now() + after.min(LONGEST_PAUSE));
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
    use futures_util::future::join;

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

    #[tokio::test(start_paused = true)]
    async fn so_many_are_under_way_at_once_so_many_wait_and_the_rest_is_refused() {
        let begun = Instant::now();
        let pace = Pace::new(None, 2, begun);
        let held = (pace.enter(begun).await.unwrap(), pace.enter(begun).await.unwrap());
        let waits = (0..100).map(|_| async { pace.enter(begun + SECOND).await.map(drop) });
        let ended = futures_util::future::join_all(waits).await;
        assert_eq!(begun.elapsed(), SECOND);
        assert!(ended.iter().all(|end| *end == Err(Fault::Crowded)));
        drop(held);
        assert!(pace.enter(Instant::now() + SECOND).await.is_ok());
    }
}
