//! What a retry holds up: calls of its owner alone.

use std::collections::HashMap;
use std::sync::{Arc, Weak};

use tokio::sync::RwLock;

use crate::scope::Scope;
use crate::sync::Lock;

/// What the calls of one owner hold against a retry.
#[derive(Debug, Default)]
pub(super) struct Gate {
    /// Held by each append until its messages are in the queue; alone by a retry, so that it can tell what in the journal nobody is
    /// about to queue.
    pub(super) pushes: RwLock<()>,
    /// Held by whoever forgets messages or deletes a session; alone by a retry, so that it brings nothing back of that.
    pub(super) retries: RwLock<()>,
}

/// The gates of owners of whom a call is under way.
#[derive(Debug, Default)]
pub(super) struct Gates(Lock<HashMap<Scope, Weak<Gate>>>);

impl Gates {
    /// Returns the gate of an owner, which is the same for all calls under way.
    pub(super) fn of(&self, scope: &Scope) -> Arc<Gate> {
        let mut gates = self.0.lock();
        if let Some(gate) = gates.get(scope).and_then(Weak::upgrade) {
            return gate;
        }
        // Those that no call holds any more make room before the map grows.
        if gates.len() == gates.capacity() {
            gates.retain(|_, gate| gate.strong_count() > 0);
        }
        let gate = Arc::new(Gate::default());
        gates.insert(scope.clone(), Arc::downgrade(&gate));
        gate
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn owner(number: usize) -> Scope {
        Scope::new("acme", &number.to_string()).unwrap()
    }

    #[test]
    fn calls_of_one_owner_meet_at_one_gate_and_those_of_others_do_not() {
        let gates = Gates::default();
        let first = gates.of(&owner(1));
        (2..1_000).for_each(|number| assert!(!Arc::ptr_eq(&first, &gates.of(&owner(number)))));
        assert!(Arc::ptr_eq(&first, &gates.of(&owner(1))));
    }

    #[test]
    fn gates_that_no_call_holds_leave_no_trace() {
        let gates = Gates::default();
        (0..10_000).for_each(|number| drop(gates.of(&owner(number))));
        assert!(gates.0.lock().len() < 100);
    }
}
