//! The retry budget: how much more is spent when a server fails.

use std::time::Duration;

use tokio::time::Instant;

/// How many calls earn a retry.
const CALLS: u64 = 10;
/// The span that is looked at, in seconds.
const SPAN: u64 = 60;

/// Calls and retries of the last minute, second by second.
#[derive(Debug)]
pub(super) struct Spend {
    begun: Instant,
    seconds: [Second; SPAN as usize],
}

#[derive(Clone, Copy, Debug, Default)]
struct Second {
    number: u64,
    calls: u64,
    retries: u64,
}

impl Spend {
    /// Returns a budget of which nothing is spent.
    pub(super) fn new(now: Instant) -> Self {
        Self { begun: now, seconds: [Second::default(); SPAN as usize] }
    }

    /// Counts a call.
    pub(super) fn call(&mut self, now: Instant) {
        if let Some(second) = self.second(now) {
            second.calls += 1;
        }
    }

    /// Counts a retry, if there may be one more: over the last minute one for ten calls, but at least one.
    pub(super) fn retry(&mut self, now: Instant) -> bool {
        let number = self.number(now);
        let last = self.seconds.iter().filter(|second| second.number + SPAN > number);
        let (calls, retries) = last.fold((0, 0), |sum, second| (sum.0 + second.calls, sum.1 + second.retries));
        let is_left = retries < (calls / CALLS).max(1);
        if let Some(second) = self.second(now).filter(|_| is_left) {
            second.retries += 1;
        }
        is_left
    }

    fn number(&self, now: Instant) -> u64 {
        // From one span on, so that the first seconds are not taken for those that were never counted.
        now.saturating_duration_since(self.begun).as_secs() + SPAN
    }

    fn second(&mut self, now: Instant) -> Option<&mut Second> {
        let number = self.number(now);
        let second = self.seconds.get_mut((number % SPAN) as usize)?;
        if second.number != number {
            *second = Second { number, ..Second::default() };
        }
        Some(second)
    }
}

/// Returns how long to wait before retry number `retry`, from 0: `roll` chooses between 50 ms and a bound that grows fourfold from
/// 200 ms up to 4 s.
pub(super) fn backoff(retry: u32, roll: u64) -> Duration {
    let shortest = Duration::from_millis(50);
    let bound = shortest.saturating_mul(4_u32.saturating_pow(retry.saturating_add(1))).min(Duration::from_secs(4));
    let span = (bound - shortest).as_micros() as u64;
    shortest + Duration::from_micros(roll % (span + 1))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn over_any_minute_retries_are_a_tenth_of_the_calls_or_one(
            steps in prop::collection::vec((0..4_000_u64, any::<bool>()), 1..600)
        ) {
            let begun = Instant::now();
            let (mut now, mut spend) = (begun, Spend::new(begun));
            let (mut calls, mut retries): (Vec<Instant>, Vec<Instant>) = Default::default();
            for (millis, is_call) in steps {
                now += Duration::from_millis(millis / 20);
                if is_call {
                    spend.call(now);
                    calls.push(now);
                } else if spend.retry(now) {
                    retries.push(now);
                    let in_minute = |times: &[Instant]| times.iter().filter(|at| now - **at < Duration::from_secs(60)).count();
                    // Whole seconds are counted, so a call may count for up to one more.
                    let in_more = calls.iter().filter(|at| now - **at < Duration::from_secs(61)).count();
                    prop_assert!(in_minute(&retries) <= (in_more / 10).max(1) + 1);
                    prop_assert!(retries.len() <= calls.len() / 10 + 1 + (now - begun).as_secs() as usize / 59);
                }
            }
        }

        #[test]
        fn waits_lie_between_50_ms_and_a_bound_of_at_most_4_s(retry in 0_u32..100, roll in any::<u64>()) {
            let wait = backoff(retry, roll);
            prop_assert!(wait >= Duration::from_millis(50) && wait <= Duration::from_secs(4));
            prop_assert!(retry > 0 || wait <= Duration::from_millis(200));
        }
    }

    #[test]
    fn a_lone_call_may_be_tried_again_once_a_minute_and_a_hundred_calls_ten_times() {
        let now = Instant::now();
        let mut spend = Spend::new(now);
        spend.call(now);
        assert!(spend.retry(now) && !spend.retry(now));
        let later = now + Duration::from_secs(59);
        spend.call(later);
        assert!(!spend.retry(later));
        let next = now + Duration::from_secs(61);
        assert!(spend.retry(next));
        let much_later = now + Duration::from_secs(600);
        (0..100).for_each(|_| spend.call(much_later));
        assert_eq!((0..50).filter(|_| spend.retry(much_later)).count(), 10);
    }
}
