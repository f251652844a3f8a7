//! The circuit breakers of a backend: one for all calls, and one for each owner whose calls were late.
//!
//! A refused connection is a failure of the whole backend. A late call may be due to what one owner asked. So it counts
//! against this owner, and against all only together with late calls of other owners.

use std::collections::VecDeque;
use std::time::Duration;

use crate::scope::Scope;
use crate::time::Timestamp;

use super::breaker::{Admission, Breaker, Outcome};

/// How many owners with late calls are remembered. A further one replaces the owner whose last late call is the oldest.
const OWNERS: usize = 64;

/// The permission to make one call, from the breaker for all and from that of the owner.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pass {
    all: Admission,
    own: Admission,
}

/// The circuit breakers of one backend.
#[derive(Debug)]
pub(super) struct Circuit {
    /// Failures in a row that open a circuit.
    most: u32,
    all: Breaker,
    /// The owners with late calls, the latest last.
    late: VecDeque<(Scope, Breaker)>,
}

impl Circuit {
    /// Returns closed circuits that `most` failures in a row open.
    pub(super) fn new(most: u32) -> Self {
        Self { most, all: Breaker::new(most), late: VecDeque::new() }
    }

    /// Returns how long a call for `owner` would be refused from now; none if it would be let through.
    pub(super) fn refuses(&self, now: Timestamp, owner: Option<&Scope>) -> Option<Duration> {
        self.all.refuses(now, owner).max(self.own(owner).and_then(|own| own.refuses(now, owner)))
    }

    /// Lets a call for `owner` through, or returns how long to wait. The outcome of an admitted call must be recorded.
    pub(super) fn admit(&mut self, now: Timestamp, owner: Option<&Scope>) -> Result<Pass, Duration> {
        if let Some(wait) = self.refuses(now, owner) {
            return Err(wait);
        }
        let own = self.own_mut(owner).map_or(Ok(Admission::default()), |own| own.admit(now, owner))?;
        Ok(Pass { all: self.all.admit(now, owner)?, own })
    }

    /// Records the outcome of an admitted call for `owner`.
    pub(super) fn record(&mut self, now: Timestamp, owner: Option<&Scope>, pass: Pass, outcome: Outcome) {
        self.all.record(now, pass.all, outcome, owner);
        if outcome == Outcome::Late {
            self.remember(owner);
        }
        // A failure of the backend tells nothing about the owner.
        let own = if outcome == Outcome::Failure { Outcome::Neither } else { outcome };
        if let Some(breaker) = self.own_mut(owner) {
            breaker.record(now, pass.own, own, None);
        }
    }

    /// Makes `owner` the latest of those with late calls.
    fn remember(&mut self, owner: Option<&Scope>) {
        let Some(owner) = owner else { return };
        let known = self.late.iter().position(|(late, _)| late == owner).and_then(|place| self.late.remove(place));
        self.late.push_back(known.unwrap_or_else(|| (owner.clone(), Breaker::new(self.most))));
        if self.late.len() > OWNERS {
            self.late.pop_front();
        }
    }

    fn own(&self, owner: Option<&Scope>) -> Option<&Breaker> {
        let owner = owner?;
        self.late.iter().find(|(late, _)| late == owner).map(|(_, breaker)| breaker)
    }

    fn own_mut(&mut self, owner: Option<&Scope>) -> Option<&mut Breaker> {
        let owner = owner?;
        self.late.iter_mut().find(|(late, _)| late == owner).map(|(_, breaker)| breaker)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Timestamp = Timestamp(0);

    fn owner(number: usize) -> Scope {
        Scope::new("acme", &number.to_string()).unwrap()
    }

    /// Makes a call for an owner that ends as `outcome`; false if it was refused.
    fn call(circuit: &mut Circuit, now: Timestamp, number: usize, outcome: Outcome) -> bool {
        let owner = owner(number);
        let Ok(pass) = circuit.admit(now, Some(&owner)) else { return false };
        circuit.record(now, Some(&owner), pass, outcome);
        true
    }

    #[test]
    fn late_calls_of_one_owner_close_the_door_for_that_owner_alone() {
        let mut circuit = Circuit::new(5);
        (0..5).for_each(|_| assert!(call(&mut circuit, NOW, 1, Outcome::Late)));
        assert!(!call(&mut circuit, NOW, 1, Outcome::Success));
        assert!(call(&mut circuit, NOW, 2, Outcome::Success));
        assert!(circuit.admit(NOW, None).is_ok());
    }

    #[test]
    fn late_calls_between_good_ones_of_the_same_owner_leave_others_in() {
        let mut circuit = Circuit::new(5);
        for _ in 0..100 {
            call(&mut circuit, NOW, 1, Outcome::Late);
            call(&mut circuit, NOW, 1, Outcome::Success);
            assert_eq!(circuit.refuses(NOW, Some(&owner(2))), None);
        }
        assert!(!call(&mut circuit, NOW, 1, Outcome::Success), "half of what the owner asked was late");
    }

    #[test]
    fn late_calls_of_several_owners_close_it_for_all_however_often_one_of_them_asks() {
        let mut circuit = Circuit::new(5);
        for number in 0..4 {
            assert!(call(&mut circuit, NOW, number, Outcome::Late));
            (0..4).for_each(|_| assert!(call(&mut circuit, NOW, 0, Outcome::Neither)));
        }
        assert_eq!(circuit.refuses(NOW, Some(&owner(9))), None, "four owners");
        assert!(call(&mut circuit, NOW, 4, Outcome::Late));
        assert!(circuit.refuses(NOW, Some(&owner(9))).is_some() && circuit.refuses(NOW, None).is_some());
    }

    #[test]
    fn late_calls_without_an_owner_and_failures_close_it_for_all() {
        let mut circuit = Circuit::new(2);
        let pass = circuit.admit(NOW, None).unwrap();
        circuit.record(NOW, None, pass, Outcome::Late);
        assert!(call(&mut circuit, NOW, 1, Outcome::Failure));
        assert!(!call(&mut circuit, NOW, 2, Outcome::Success));
    }

    #[test]
    fn an_owner_whose_probe_was_late_leaves_the_next_one_to_others() {
        let mut circuit = Circuit::new(5);
        (0..5).for_each(|_| assert!(call(&mut circuit, NOW, 1, Outcome::Failure)));
        let second = |seconds: i64| Timestamp(seconds * 1_000_000);
        assert!(call(&mut circuit, second(1), 1, Outcome::Late));
        assert!(!call(&mut circuit, second(3), 1, Outcome::Success), "the owner would be the probe again");
        assert!(call(&mut circuit, second(3), 2, Outcome::Success));
        assert!(call(&mut circuit, second(3), 1, Outcome::Success));
    }

    #[test]
    fn remembers_as_many_owners_as_it_may_and_those_who_were_late_last() {
        let mut circuit = Circuit::new(5);
        for number in 0..1_000 {
            assert!(call(&mut circuit, NOW, number, Outcome::Late));
            (0..2).for_each(|_| assert!(call(&mut circuit, NOW, number, Outcome::Success)));
            assert!(circuit.late.len() <= OWNERS);
        }
        assert!(circuit.late.iter().any(|(late, _)| *late == owner(999)));
        assert!(circuit.late.iter().all(|(late, _)| *late != owner(0)));
    }
}
