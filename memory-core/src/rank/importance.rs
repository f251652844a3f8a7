//! The importance of a record, computed on demand because it changes with time.

use std::time::Duration;

use crate::rank::recency::Decay;
use crate::record::StoredRecord;
use crate::time::Timestamp;

/// The values that a record's importance is computed from.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Importance {
    /// The age of the record.
    pub age: Duration,
    /// How often it was returned.
    pub accesses: u64,
    /// The importance that the caller set, 0 to 1.
    pub explicit: Option<f32>,
}

impl Importance {
    /// Returns the values that the importance of `stored` at `now` is computed from.
    pub fn of(stored: &StoredRecord, now: Timestamp) -> Self {
        let StoredRecord { record, access_count, .. } = stored;
        Self { age: now.since(record.created_at()), accesses: *access_count, explicit: record.importance() }
    }

    /// Returns the importance, 0 to 1: 30 % recency, 30 % use, 40 % the caller's importance.
    ///
    /// `0.3 decay(age) + 0.3 min(1, ln(1 + n) / ln(101)) + 0.4 explicit`, where `explicit` is 0.5 if the caller set none.
    pub fn score(&self, decay: Decay) -> f32 {
        let Self { age, accesses, explicit } = *self;
        let used = ((accesses as f64).ln_1p() / 101f64.ln()).min(1.0) as f32;
        let explicit = explicit.filter(|said| !said.is_nan()).unwrap_or(0.5);
        (0.3 * decay.at(age) + 0.3 * used + 0.4 * explicit).clamp(0.0, 1.0)
    }
}

/// Returns the importance of `stored` at `now`, 0 to 1; higher is kept longer and shown earlier.
pub fn importance(stored: &StoredRecord, now: Timestamp, decay: Decay) -> f32 {
    Importance::of(stored, now).score(decay)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::message::Trust;
    use crate::record::{Record, Telling};

    fn score(days: u64, accesses: u64, explicit: Option<f32>) -> f32 {
        Importance { age: Duration::from_secs(days * 86_400), accesses, explicit }.score(Decay::LONG_TERM)
    }

    proptest! {
        #[test]
        fn s1_11_importance_stays_between_zero_and_one(
            days in 0u64..100_000, accesses in any::<u64>(), explicit in prop::option::of(any::<f32>())
        ) {
            prop_assert!((0.0..=1.0).contains(&score(days, accesses, explicit)));
        }

        #[test]
        fn s1_11_use_and_newness_and_the_callers_word_never_lower_it(
            days in 0u64..1_000, accesses in 0u64..1_000, explicit in 0.0f32..=1.0
        ) {
            let base = score(days, accesses, Some(explicit));
            prop_assert!(score(days + 1, accesses, Some(explicit)) <= base);
            prop_assert!(score(days, accesses + 1, Some(explicit)) >= base);
            prop_assert!(score(days, accesses, Some(1.0)) >= base);
        }
    }

    #[test]
    fn s1_11_importance_is_the_formula() {
        let is = |got: f32, want: f32| assert!((got - want).abs() < 1e-6, "{got} is not {want}");
        is(score(0, 0, None), 0.5);
        is(score(0, 0, Some(0.0)), 0.3);
        is(score(0, 100, Some(1.0)), 1.0);
        is(score(0, 1_000, Some(1.0)), 1.0);
        is(score(0, 9, Some(0.0)), 0.3 + 0.3 * 10f32.ln() / 101f32.ln());
    }

    #[test]
    fn s1_11_a_record_counts_by_its_age_its_use_and_its_importance() {
        let day = 86_400_000_000;
        let telling = Telling { importance: Some(0.25), ..Telling::new(Timestamp(5 * day), Trust::User) };
        let record = Record { first: telling, ..Record::new("fact", "Ada has two cats", Timestamp(0)) };
        let stored = StoredRecord { record: record.into(), version: 1, accessed_at: None, access_count: 7 };
        assert_eq!(importance(&stored, Timestamp(25 * day), Decay::LONG_TERM), score(20, 7, Some(0.25)));
    }
}
