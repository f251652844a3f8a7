//! The owners whose stamp could not be replaced after a write, so that the cache may hold stale items of theirs; and likewise
//! those of whom a mark could not be put.

use std::collections::HashSet;

use crate::scope::Scope;

/// How many owners are listed at most.
pub(super) const OWNERS: usize = 10_000;

/// An owner's items of one kind.
type Place = (Scope, &'static str);

/// The doubtful places, in bounded memory. If they are too many to list, the trusted ones are listed instead.
#[derive(Debug, Default)]
pub(super) struct Doubts {
    /// How often a stamp could not be replaced.
    failures: u64,
    listed: HashSet<Place>,
    /// Whether all places are doubtful except the listed ones.
    is_inverted: bool,
}

/// The number of failures when a place was found doubtful.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Ticket(u64);

impl Doubts {
    /// Returns the ticket to [`settle`](Self::settle) a doubtful place; none if the place may be trusted.
    pub(super) fn of(&self, scope: &Scope, kind: &'static str) -> Option<Ticket> {
        let is_listed = !self.listed.is_empty() && self.listed.contains(&(scope.clone(), kind));
        (is_listed != self.is_inverted).then_some(Ticket(self.failures))
    }

    /// Makes a place doubtful: its stamp could not be replaced.
    pub(super) fn add(&mut self, scope: &Scope, kind: &'static str) {
        self.failures += 1;
        let place = (scope.clone(), kind);
        if self.is_inverted {
            self.listed.remove(&place);
            return;
        }
        self.listed.insert(place);
        if self.listed.len() > OWNERS {
            self.listed.clear();
            self.is_inverted = true;
        }
    }

    /// Makes a place trusted: its stamp was replaced after it was found doubtful.
    ///
    /// Does nothing if another stamp could not be replaced since, because that write may have come after the new stamp.
    pub(super) fn settle(&mut self, scope: &Scope, kind: &'static str, ticket: Ticket) {
        if ticket != Ticket(self.failures) {
            return;
        }
        let place = (scope.clone(), kind);
        if !self.is_inverted {
            self.listed.remove(&place);
            return;
        }
        if self.listed.len() >= OWNERS {
            self.listed.clear();
        }
        self.listed.insert(place);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn owner(number: usize) -> Scope {
        Scope::new("acme", &number.to_string()).unwrap()
    }

    #[test]
    fn an_owner_is_doubtful_until_settled() {
        let mut doubts = Doubts::default();
        assert_eq!(doubts.of(&owner(1), "a"), None);
        doubts.add(&owner(1), "a");
        assert_eq!((doubts.of(&owner(2), "a"), doubts.of(&owner(1), "b")), (None, None));
        let ticket = doubts.of(&owner(1), "a").unwrap();
        doubts.settle(&owner(1), "a", ticket);
        assert_eq!(doubts.of(&owner(1), "a"), None);
    }

    #[test]
    fn a_stamp_that_a_failure_overtook_settles_nothing() {
        let mut doubts = Doubts::default();
        doubts.add(&owner(1), "a");
        let ticket = doubts.of(&owner(1), "a").unwrap();
        doubts.add(&owner(1), "a");
        doubts.settle(&owner(1), "a", ticket);
        assert!(doubts.of(&owner(1), "a").is_some());
    }

    #[test]
    fn too_many_owners_make_all_doubtful_but_those_settled_since() {
        let mut doubts = Doubts::default();
        (0..=OWNERS).for_each(|number| doubts.add(&owner(number), "a"));
        let ticket = doubts.of(&owner(OWNERS + 7), "a").unwrap();
        doubts.settle(&owner(OWNERS + 7), "a", ticket);
        assert_eq!(doubts.of(&owner(OWNERS + 7), "a"), None);
        assert!((0..=OWNERS).all(|number| doubts.of(&owner(number), "a").is_some()));
        doubts.add(&owner(OWNERS + 7), "a");
        assert!(doubts.of(&owner(OWNERS + 7), "a").is_some());
        (0..=2 * OWNERS).for_each(|number| doubts.settle(&owner(number), "a", Ticket(doubts.failures)));
        assert!(doubts.listed.len() <= OWNERS);
    }
}
