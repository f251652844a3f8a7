//! Recency: decay with age, and rank in time.

use std::time::Duration;

use crate::time::Timestamp;

const DAY: u64 = 24 * 3_600;

/// Exponential decay: it halves with each half-life.
///
/// ```
/// use std::time::Duration;
///
/// use memory_core::rank::Decay;
///
/// let day = Duration::from_secs(24 * 3_600);
/// assert_eq!(Decay::WORKING.at(day), 0.5);
/// assert!((Decay::kari().at(7 * day) - 0.70).abs() < 0.01);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[doc(alias = "exponential_decay")]
#[doc(alias = "NeuroVault")]
pub struct Decay {
    /// The time in which it halves.
    pub half_life: Duration,
}

impl Decay {
    /// For messages in a session: one hour.
    pub const SESSION: Self = Self { half_life: Duration::from_secs(3_600) };
    /// For working memory: one day.
    pub const WORKING: Self = Self { half_life: Duration::from_secs(DAY) };
    /// For long-term memory: 5 % a day, a half-life of 13.86 days.
    pub const LONG_TERM: Self = Self { half_life: Duration::from_millis(1_197_758_328) };
    /// For the preset [`super::Ranking::kari`]: `e^(-age / 3600 s)`, a half-life of 2,495 s.
    pub const KARI_RECALL: Self = Self { half_life: Duration::from_micros(2_495_329_850) };
    /// For facts: no decay.
    pub const NONE: Self = Self { half_life: Duration::MAX };

    /// Returns the decay `e^(-0.05 t)` with `t` in days: 0.70 after a week, 0.22 after 30 days.
    pub fn kari() -> Self {
        Self::per_day(0.05)
    }

    /// Returns the decay `e^(-rate t)` with `t` in days; [`Decay::NONE`] for a rate that is not above 0.
    pub fn per_day(rate: f64) -> Self {
        // At a rate of 0 the half-life is endless, which no duration is.
        let half_life = std::f64::consts::LN_2 / rate.max(0.0) * DAY as f64;
        Duration::try_from_secs_f64(half_life).map_or(Self::NONE, |half_life| Self { half_life })
    }

    /// Returns the recency at `age`: `0.5^(age / half_life)`, which is 1 at age 0 and never rises with age.
    pub fn at(self, age: Duration) -> f32 {
        if age.is_zero() || self.half_life == Duration::MAX {
            return 1.0;
        }
        if self.half_life.is_zero() {
            return 0.0;
        }
        0.5f64.powf(age.as_secs_f64() / self.half_life.as_secs_f64()) as f32
    }

    /// Returns the recency at `now` of something made at `at`; the future counts as the present.
    pub fn between(self, at: Timestamp, now: Timestamp) -> f32 {
        self.at(now.since(at))
    }
}

/// Returns the recency by rank of the item at `index` of `length` items, oldest first: `(index + 1) / length`, so the newest
/// has 1.
pub fn recency_by_rank(index: usize, length: usize) -> f32 {
    let length = length.max(1);
    (index.saturating_add(1).min(length) as f64 / length as f64) as f32
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn s0_11_recency_never_rises_with_age(a in any::<i64>(), b in any::<i64>(), now in any::<i64>(), life in any::<u64>()) {
            let decay = Decay { half_life: Duration::from_micros(life) };
            let (older, newer) = (Timestamp(a.min(b)), Timestamp(a.max(b)));
            let (old, new) = (decay.between(older, Timestamp(now)), decay.between(newer, Timestamp(now)));
            prop_assert!(old <= new, "{} {}", old, new);
            prop_assert!((0.0..=1.0).contains(&old) && (0.0..=1.0).contains(&new));
        }

        #[test]
        fn s0_11_recency_by_rank_never_rises_with_age(index in 0usize..1_000, length in 1usize..1_000) {
            prop_assert!(recency_by_rank(index, length) <= recency_by_rank(index + 1, length));
            prop_assert!((0.0..=1.0).contains(&recency_by_rank(index, length)));
        }
    }

    #[test]
    fn s0_11_half_is_left_after_a_half_life_and_the_newest_by_rank_has_one() {
        let hour = Duration::from_secs(3_600);
        assert_eq!([0, 1, 2].map(|hours| Decay::SESSION.at(hour * hours)), [1.0, 0.5, 0.25]);
        assert_eq!([0, 49, 99].map(|index| recency_by_rank(index, 100)), [0.01, 0.5, 1.0]);
        assert_eq!(Decay::NONE.at(Duration::from_secs(u64::MAX)), 1.0);
        assert_eq!(Decay { half_life: Duration::ZERO }.at(Duration::from_secs(1)), 0.0);
    }

    #[test]
    fn s3_1_seven_tenths_are_left_after_a_week_and_a_fifth_after_a_month() {
        let days = |days: u64| Decay::kari().at(Duration::from_secs(days * DAY));
        assert!((days(7) - (-0.35f32).exp()).abs() < 1e-6, "{}", days(7));
        assert!((days(30) - (-1.5f32).exp()).abs() < 1e-6, "{}", days(30));
        assert_eq!((Decay::kari().half_life.as_secs_f64() / DAY as f64 * 100.0).round(), 1_386.0);
        assert_eq!(Decay::kari().half_life.as_millis(), Decay::LONG_TERM.half_life.as_millis());
        assert_eq!(Decay::KARI_RECALL.half_life.as_secs(), 2_495);
        assert!((Decay::KARI_RECALL.at(Duration::from_secs(3_600)) - (-1f32).exp()).abs() < 1e-6);
        for rate in [0.0, -0.0, -0.05, f64::NEG_INFINITY, f64::NAN] {
            assert_eq!(Decay::per_day(rate), Decay::NONE, "{rate}");
        }
    }
}
