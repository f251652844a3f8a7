//! The budgets that contexts asked for. The next append carries them to the store, because reads write nothing.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::id::SessionId;
use crate::scope::Scope;
use crate::sync::Lock;

/// How many sessions are held at most. A later context notes one that found no place.
const SESSIONS: usize = 10_000;

/// The largest budget of each session that the store does not know yet.
#[derive(Debug, Default)]
pub(crate) struct Asked {
    budgets: Lock<HashMap<(Scope, SessionId), u64>>,
    /// Whether there are any budgets, so that an append usually needs no lock.
    any: AtomicBool,
}

impl Asked {
    pub(crate) fn note(&self, scope: &Scope, session: &SessionId, tokens: u64) {
        let mut budgets = self.budgets.lock();
        let place = (scope.clone(), session.clone());
        if budgets.len() < SESSIONS || budgets.contains_key(&place) {
            let most = budgets.entry(place).or_default();
            // Databases count in signed numbers.
            *most = tokens.min(i64::MAX as u64).max(*most);
            self.any.store(true, Ordering::Release);
        }
    }

    /// Takes out the budget of a session, for an append to carry; 0 if there is none.
    pub(crate) fn take(&self, scope: &Scope, session: &SessionId) -> u64 {
        if !self.any.load(Ordering::Acquire) {
            return 0;
        }
        let mut budgets = self.budgets.lock();
        let asked = budgets.remove(&(scope.clone(), session.clone())).unwrap_or_default();
        self.any.store(!budgets.is_empty(), Ordering::Release);
        asked
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_largest_budget_of_a_session_is_taken_once() {
        let (asked, ada) = (Asked::default(), Scope::new("acme", "ada").unwrap());
        let [s, t] = ["s", "t"].map(|name| SessionId::new(name).unwrap());
        assert_eq!(asked.take(&ada, &s), 0);
        [40_000, 100_000, 50_000].into_iter().for_each(|tokens| asked.note(&ada, &s, tokens));
        asked.note(&ada, &t, u64::MAX);
        assert_eq!([asked.take(&ada, &s), asked.take(&ada, &s)], [100_000, 0]);
        assert_eq!(asked.take(&ada, &t), i64::MAX as u64);
    }

    #[test]
    fn it_does_not_grow() {
        let (asked, ada) = (Asked::default(), Scope::new("acme", "ada").unwrap());
        for number in 0..2 * SESSIONS {
            asked.note(&ada, &SessionId::new(&number.to_string()).unwrap(), 40_000);
        }
        assert_eq!(asked.budgets.lock().len(), SESSIONS);
    }
}
