use proptest::prelude::*;

use super::*;

const SECOND: i64 = 1_000_000;
const IN_A_ROW: u32 = 5;

fn at(micros: i64) -> Timestamp {
    Timestamp(micros)
}

/// Makes a call at `now` that ends as `outcome`; false if it was refused.
fn call(breaker: &mut Breaker, now: Timestamp, outcome: Outcome) -> bool {
    let Ok(admission) = breaker.admit(now, None) else { return false };
    breaker.record(now, admission, outcome, None);
    true
}

fn open_at(now: Timestamp) -> Breaker {
    let mut breaker = Breaker::new(IN_A_ROW);
    (0..IN_A_ROW).for_each(|_| assert!(call(&mut breaker, now, Outcome::Failure)));
    assert!(breaker.refuses(now, None).is_some());
    breaker
}

#[test]
fn opens_after_five_failures_in_a_row_and_not_after_four() {
    let mut breaker = Breaker::new(IN_A_ROW);
    for _ in 0..3 {
        (0..4).for_each(|_| assert!(call(&mut breaker, at(0), Outcome::Failure)));
        assert!(call(&mut breaker, at(0), Outcome::Success), "four failures and a success keep it closed");
        (0..8).for_each(|_| assert!(call(&mut breaker, at(0), Outcome::Success)));
    }
    (0..5).for_each(|_| assert!(call(&mut breaker, at(0), Outcome::Failure)));
    assert_eq!(breaker.refuses(at(0), None), Some(FIRST_WAIT));
}

#[test]
fn opens_when_half_of_the_last_twenty_failed() {
    let mut breaker = Breaker::new(IN_A_ROW);
    for n in 0..19 {
        assert!(call(&mut breaker, at(0), if n % 2 == 0 { Outcome::Failure } else { Outcome::Success }));
    }
    assert_eq!(breaker.refuses(at(0), None), None, "nineteen answers are too few to tell a share");
    assert!(call(&mut breaker, at(0), Outcome::Success));
    assert!(call(&mut breaker, at(0), Outcome::Failure));
    assert!(breaker.refuses(at(0), None).is_some());
}

#[test]
fn probes_after_a_second_then_two_up_to_thirty_and_closes_on_success() {
    let (mut breaker, mut now) = (open_at(at(0)), 0);
    for wait in [1, 2, 4, 8, 16, 30, 30, 30] {
        assert!(!call(&mut breaker, at(now + wait * SECOND - 1), Outcome::Success), "too early after {wait} s");
        now += wait * SECOND;
        assert!(call(&mut breaker, at(now), Outcome::Failure));
    }
    now += 30 * SECOND;
    assert!(call(&mut breaker, at(now), Outcome::Success));
    assert_eq!(breaker.refuses(at(now), None), None);
    (0..5).for_each(|_| assert!(call(&mut breaker, at(now), Outcome::Failure)));
    assert_eq!(breaker.refuses(at(now), None), Some(FIRST_WAIT), "the waits begin anew");
}

#[test]
fn lets_one_probe_through_at_a_time_and_another_after_one_that_told_nothing() {
    let mut breaker = open_at(at(0));
    let probe = breaker.admit(at(SECOND), None).unwrap();
    assert!(breaker.admit(at(SECOND), None).is_err());
    assert!(breaker.admit(at(90 * SECOND), None).is_err());
    breaker.record(at(90 * SECOND), probe, Outcome::Neither, None);
    let next = breaker.admit(at(90 * SECOND), None).unwrap();
    breaker.record(at(90 * SECOND), probe, Outcome::Success, None);
    assert!(breaker.admit(at(90 * SECOND), None).is_err(), "an answer to an older state counts no more");
    breaker.record(at(90 * SECOND), next, Outcome::Success, None);
    assert_eq!(breaker.refuses(at(90 * SECOND), None), None);
}

#[test]
fn who_is_refused_while_a_probe_is_under_way_may_come_back_soon() {
    let (mut breaker, mut now) = (open_at(at(0)), 0);
    for wait in [1, 2, 4, 8] {
        now += wait * SECOND;
        assert!(call(&mut breaker, at(now), Outcome::Failure));
    }
    assert_eq!(breaker.refuses(at(now), None), Some(16 * FIRST_WAIT));
    now += 16 * SECOND;
    let probe = breaker.admit(at(now), None).unwrap();
    assert_eq!(breaker.refuses(at(now), None), Some(FIRST_WAIT), "the probe may end at any moment");
    breaker.record(at(now), probe, Outcome::Failure, None);
    assert_eq!(breaker.refuses(at(now), None), Some(LONGEST_WAIT));
}

#[test]
fn a_clock_set_back_does_not_keep_it_open() {
    let mut breaker = open_at(at(3_600 * SECOND));
    assert!(call(&mut breaker, at(0), Outcome::Success));
}

fn outcome() -> impl Strategy<Value = Outcome> {
    prop_oneof![Just(Outcome::Success), Just(Outcome::Failure), Just(Outcome::Neither)]
}

proptest! {
    #[test]
    fn never_stays_open_for_ever_and_never_opens_without_five_failures(
        steps in prop::collection::vec((0_i64..40 * SECOND, outcome()), 1..200),
    ) {
        let mut breaker = Breaker::new(IN_A_ROW);
        let (mut now, mut failures, mut was_open) = (0, 0, false);
        for (passed, outcome) in steps {
            now += passed;
            let refused = !call(&mut breaker, at(now), outcome);
            if outcome == Outcome::Failure && !refused {
                failures += 1;
            }
            was_open |= breaker.refuses(at(now), None).is_some();
            prop_assert!(!was_open || failures >= IN_A_ROW);
            prop_assert!(breaker.refuses(at(now), None).is_none_or(|wait| wait <= LONGEST_WAIT));
            prop_assert!(breaker.refuses(at(now + 30 * SECOND), None).is_none());
        }
    }

    #[test]
    fn successes_alone_keep_it_closed(count in 0_usize..100, at_micros in any::<i64>()) {
        let mut breaker = Breaker::new(IN_A_ROW);
        for _ in 0..count {
            prop_assert!(call(&mut breaker, at(at_micros), Outcome::Success));
        }
    }
}
