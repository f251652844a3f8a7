//! What the newest context of each conversation began with, which a provider's prompt cache may hold.

use std::collections::HashMap;
use std::sync::Arc;

use crate::id::SessionId;
use crate::scope::Scope;
use crate::sync::Lock;

/// How many conversations are known at most.
const SESSIONS: usize = 1_000;

/// An item at the beginning of a context, as it was shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Begun {
    /// The hash of the item and of its text: a synopsis that was rewritten is the same item.
    pub(crate) shown: u64,
    pub(crate) tokens: u64,
}

/// What the newest contexts began with, up to what was recalled and asked. If it is lost, the next receipt tells nothing of it.
#[derive(Debug, Default)]
pub(crate) struct Beginnings(Lock<Known>);

/// The turn of a conversation's last context, and what that began with.
type Last = (u64, Arc<[Begun]>);

#[derive(Debug, Default)]
struct Known {
    begun: HashMap<(Scope, SessionId), Last>,
    turn: u64,
}

impl Beginnings {
    /// Takes what a context of a conversation begins with, and returns what the one before began with.
    pub(crate) fn replace(&self, scope: &Scope, session: &SessionId, now: Arc<[Begun]>) -> Option<Arc<[Begun]>> {
        let mut known = self.0.lock();
        known.turn += 1;
        let turn = known.turn;
        let before = known.begun.insert((scope.clone(), session.clone()), (turn, now));
        if known.begun.len() > SESSIONS {
            // The older half goes, so that this is rare.
            let oldest = turn.saturating_sub(SESSIONS as u64 / 2);
            known.begun.retain(|_, (last, _)| *last > oldest);
        }
        before.map(|(_, before)| before)
    }

    /// Drops all that is known of an owner.
    pub(crate) fn forget(&self, scope: &Scope) {
        self.0.lock().begun.retain(|(owner, _), _| owner != scope);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn begun(shown: u64) -> Arc<[Begun]> {
        [Begun { shown, tokens: 1 }].into()
    }

    #[test]
    fn each_conversation_has_its_own_until_its_owner_is_forgotten() {
        let (beginnings, s) = (Beginnings::default(), SessionId::new("s").unwrap());
        let [ada, bob] = ["ada", "bob"].map(|subject| Scope::new("acme", subject).unwrap());
        assert_eq!(beginnings.replace(&ada, &s, begun(1)), None);
        assert_eq!(beginnings.replace(&bob, &s, begun(2)), None);
        assert_eq!(beginnings.replace(&ada, &s, begun(3)), Some(begun(1)));
        beginnings.forget(&ada);
        assert_eq!(beginnings.replace(&ada, &s, begun(4)), None);
        assert_eq!(beginnings.replace(&bob, &s, begun(5)), Some(begun(2)));
    }

    #[test]
    fn they_do_not_grow() {
        let (beginnings, ada) = (Beginnings::default(), Scope::new("acme", "ada").unwrap());
        for number in 0..2 * SESSIONS {
            beginnings.replace(&ada, &SessionId::new(&number.to_string()).unwrap(), begun(0));
        }
        assert!(beginnings.0.lock().begun.len() <= SESSIONS);
    }
}
