//! The retry budget, and the backoff with jitter.

use std::time::Duration;

use crate::time::Timestamp;

/// What a call adds to the budget, and what a retry takes from it: one retry for ten calls.
const CALL: u32 = 1;
const RETRY: u32 = 10;
/// The most that the budget holds, and begins with: ten retries.
const FULL: u32 = 10 * RETRY;
/// The shortest and the longest wait before a retry.
const SHORTEST: Duration = Duration::from_millis(50);
const LONGEST: Duration = Duration::from_secs(1);

/// A budget of retries, earned by calls, so that retries do not multiply the load on a failing backend.
#[derive(Debug)]
pub(super) struct Budget(u32);

impl Default for Budget {
    fn default() -> Self {
        Self(FULL)
    }
}

impl Budget {
    /// Counts a call.
    pub(super) fn deposit(&mut self) {
        self.0 = (self.0 + CALL).min(FULL);
    }

    /// Takes out one retry, if the budget has one.
    pub(super) fn withdraw(&mut self) -> bool {
        let left = self.0.checked_sub(RETRY);
        self.0 = left.unwrap_or(self.0);
        left.is_some()
    }
}

/// Returns how long to wait before retry number `retry`, from 0: `roll` chooses between 50 ms and a bound that grows fourfold
/// from 200 ms up to 1 s.
pub(super) fn backoff(retry: u32, roll: u64) -> Duration {
    let bound = SHORTEST.saturating_mul(4_u32.saturating_pow(retry.saturating_add(1))).min(LONGEST);
    let span = (bound - SHORTEST).as_micros() as u64;
    SHORTEST + Duration::from_micros(roll % (span + 1))
}

/// Pseudo-random numbers (SplitMix64), seeded with the time at which the guard is made. So a test with a fixed clock is
/// repeatable.
#[derive(Debug)]
pub(super) struct Dice(u64);

impl Dice {
    /// Returns the dice for a guard made at `now`.
    pub(super) fn at(now: Timestamp) -> Self {
        Self(now.0.cast_unsigned())
    }

    /// Returns the next number.
    pub(super) fn roll(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn retries_stay_below_a_tenth_of_the_calls_and_the_ten_to_begin_with(steps in prop::collection::vec(any::<bool>(), 0..400)) {
            let mut budget = Budget::default();
            let (mut calls, mut retries) = (0, 0);
            for is_call in steps {
                if is_call {
                    budget.deposit();
                    calls += 1;
                } else {
                    retries += u32::from(budget.withdraw());
                }
                prop_assert!(retries * RETRY <= calls + FULL);
            }
        }

        #[test]
        fn waits_lie_between_50_ms_and_a_bound_of_at_most_a_second(retry in 0_u32..100, roll in any::<u64>()) {
            let wait = backoff(retry, roll);
            prop_assert!(wait >= SHORTEST && wait <= LONGEST);
            prop_assert!(retry > 0 || wait <= Duration::from_millis(200));
        }
    }

    #[test]
    fn waits_spread_over_the_whole_span() {
        let mut dice = Dice(7);
        let waits: Vec<Duration> = (0..1_000).map(|_| backoff(5, dice.roll())).collect();
        let below = waits.iter().filter(|wait| **wait < Duration::from_millis(525)).count();
        assert!((400..600).contains(&below), "{below} of 1,000 in the lower half");
    }
}
