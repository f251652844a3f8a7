//! A clock that stands still until it is told to move.

use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

use memory_core::{Clock, Timestamp};

/// A clock set by hand. Begins at 2026-01-01T00:00:00Z.
#[derive(Debug)]
pub struct ManualClock(AtomicI64);

impl Default for ManualClock {
    fn default() -> Self {
        Self::at(Timestamp(1_767_225_600_000_000))
    }
}

impl ManualClock {
    /// Returns a clock that stands at `now`.
    pub fn at(now: Timestamp) -> Self {
        Self(AtomicI64::new(now.0))
    }

    /// Sets the time, forwards or backwards.
    pub fn set(&self, now: Timestamp) {
        self.0.store(now.0, Ordering::SeqCst);
    }

    /// Moves the time forwards, at most to the greatest `Timestamp`.
    pub fn advance(&self, by: Duration) {
        let by = i64::try_from(by.as_micros()).unwrap_or(i64::MAX);
        // The closure always returns a value, so the update cannot fail.
        let _ = self.0.fetch_update(Ordering::SeqCst, Ordering::SeqCst, |now| Some(now.saturating_add(by)));
    }
}

impl Clock for ManualClock {
    fn now(&self) -> Timestamp {
        Timestamp(self.0.load(Ordering::SeqCst))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moves_only_by_hand_and_stops_at_the_end() {
        let clock = ManualClock::at(Timestamp(5));
        clock.advance(Duration::from_micros(2));
        assert_eq!(clock.now(), Timestamp(7));
        clock.set(Timestamp(-1));
        assert_eq!(clock.now(), Timestamp(-1));
        clock.advance(Duration::MAX);
        clock.advance(Duration::MAX);
        assert_eq!(clock.now(), Timestamp(i64::MAX));
    }
}
