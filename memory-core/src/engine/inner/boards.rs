//! What this process knows of boards: when entries expire, and how long searches took.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::time::Duration;

use crate::scope::Scope;
use crate::sync::Lock;
use crate::time::Timestamp;

/// How many owners are known at most. Boards of others are not measured, and swept only when an entry of this process expires.
const OWNERS: usize = 10_000;
/// How many times are kept at which a board is due. The latest are dropped: a full board sweeps itself.
const TIMES: usize = 10_000;

/// The boards that this process used.
#[derive(Debug, Default)]
pub(crate) struct Boards(Lock<State>);

#[derive(Debug, Default)]
struct State {
    /// How many searches an owner made, and how long they took together.
    searches: BTreeMap<Scope, (u64, Duration)>,
    /// When upkeep is to visit which board.
    due: BTreeSet<(Timestamp, Scope)>,
}

impl State {
    fn due(&mut self, scope: &Scope, at: Timestamp) {
        self.due.insert((at, scope.clone()));
        if self.due.len() > TIMES {
            self.due.pop_last();
        }
    }
}

impl Boards {
    /// Notes that a board is used. One that is used for the first time is visited soon, because another process may have left
    /// expired entries there.
    pub(crate) fn used(&self, scope: &Scope, now: Timestamp) {
        let mut state = self.0.lock();
        if state.searches.len() < OWNERS && !state.searches.contains_key(scope) {
            state.searches.insert(scope.clone(), (0, Duration::ZERO));
            state.due(scope, now);
        }
    }

    /// Notes that upkeep is to visit a board at a time.
    pub(crate) fn due(&self, scope: &Scope, at: Timestamp) {
        self.0.lock().due(scope, at);
    }

    /// Takes out the owners whose boards are due, each once. Those that have been due the longest come first.
    pub(crate) fn take_due(&self, now: Timestamp) -> Vec<Scope> {
        let mut state = self.0.lock();
        let (mut taken, mut seen) = (Vec::new(), HashSet::new());
        while state.due.first().is_some_and(|(at, _)| *at <= now) {
            let next = state.due.pop_first().map(|(_, scope)| scope);
            taken.extend(next.filter(|scope| seen.insert(scope.clone())));
        }
        taken
    }

    /// Counts a search of a board that is known.
    pub(crate) fn searched(&self, scope: &Scope, took: Duration) {
        if let Some((count, spent)) = self.0.lock().searches.get_mut(scope) {
            *count += 1;
            *spent = spent.saturating_add(took);
        }
    }

    /// Returns how many searches an owner made, and how long one took on average.
    pub(crate) fn latency(&self, scope: &Scope) -> (u64, Option<Duration>) {
        let (count, spent) = self.0.lock().searches.get(scope).copied().unwrap_or_default();
        let mean = spent.as_nanos().checked_div(u128::from(count));
        (count, mean.map(|nanos| Duration::from_nanos(u64::try_from(nanos).unwrap_or(u64::MAX))))
    }

    /// Forgets an owner, and notes the board for a visit, which finishes an erasure that the board did not answer.
    pub(crate) fn forget(&self, scope: &Scope, now: Timestamp) {
        let mut state = self.0.lock();
        state.searches.remove(scope);
        state.due(scope, now);
    }
}

#[cfg(test)]
impl Boards {
    /// Holds the lock, as no caller may.
    pub(crate) fn held(&self) -> impl Sized + '_ {
        self.0.lock()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn owner(name: &str) -> Scope {
        Scope::new("acme", name).unwrap()
    }

    #[test]
    fn a_board_is_due_once_however_often_it_was_noted() {
        let boards = Boards::default();
        boards.used(&owner("ada"), Timestamp(5));
        for at in [7, 6, 9] {
            boards.due(&owner("ada"), Timestamp(at));
        }
        boards.due(&owner("bob"), Timestamp(8));
        assert_eq!(boards.take_due(Timestamp(4)), []);
        assert_eq!(boards.take_due(Timestamp(8)), [owner("ada"), owner("bob")]);
        assert_eq!(boards.take_due(Timestamp(8)), []);
        assert_eq!(boards.take_due(Timestamp(9)), [owner("ada")]);
    }

    #[test]
    fn s4_13_the_latency_is_the_mean_of_the_owner_and_ends_with_it() {
        let boards = Boards::default();
        let [ada, bob] = ["ada", "bob"].map(owner);
        boards.used(&ada, Timestamp(0));
        boards.used(&bob, Timestamp(0));
        assert_eq!(boards.latency(&ada), (0, None));
        for millis in [10, 20, 60] {
            boards.searched(&ada, Duration::from_millis(millis));
            boards.searched(&bob, Duration::from_secs(9));
        }
        assert_eq!(boards.latency(&ada), (3, Some(Duration::from_millis(30))));
        boards.forget(&ada, Timestamp(1));
        assert_eq!(boards.latency(&ada), (0, None));
    }

    #[test]
    fn it_does_not_grow_and_keeps_what_is_due_first() {
        let boards = Boards::default();
        for number in (0..2 * TIMES).rev() {
            boards.used(&owner(&number.to_string()), Timestamp(i64::MAX));
            boards.due(&owner("ada"), Timestamp(number as i64));
        }
        let state = boards.0.lock();
        assert_eq!((state.searches.len(), state.due.len()), (OWNERS, TIMES));
        assert!(state.due.iter().all(|(at, _)| at.0 < TIMES as i64));
    }
}
