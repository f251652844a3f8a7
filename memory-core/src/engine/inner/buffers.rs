//! The settings of conversations that have their own, and which windows are too full.

use std::collections::{BTreeMap, HashMap};
use std::ops::Bound;

use crate::id::SessionId;
use crate::scope::Scope;
use crate::sync::Lock;
use crate::window::BufferConfig;

/// How many conversations with settings of their own are known at most, and how many full windows. The next append to a conversation
/// notes it again.
const SESSIONS: usize = 10_000;

/// A conversation of an owner.
type Place = (Scope, SessionId);

/// The settings of buffers, and the windows that wait for upkeep. Hints: if they are lost, the next append renews them.
#[derive(Debug)]
pub(crate) struct Buffers {
    /// The settings of every conversation that has no others.
    pub(crate) common: BufferConfig,
    own: Lock<Own>,
    full: Lock<Full>,
}

/// The windows that are too full, and the last one that was taken out: the next is the one behind it, so that all have their turn.
#[derive(Debug, Default)]
struct Full {
    /// Each with the tokens that contexts leave to its newest turn, if that turn has more.
    places: BTreeMap<Place, Option<u64>>,
    last: Option<Place>,
}

/// The settings of conversations that have their own, each with the turn of its last append.
#[derive(Debug, Default)]
struct Own {
    settings: HashMap<Place, (u64, BufferConfig)>,
    turn: u64,
}

impl Buffers {
    pub(crate) fn new(common: BufferConfig) -> Self {
        Self { common, own: Lock::default(), full: Lock::default() }
    }

    /// Notes the settings that an append to a conversation had.
    pub(crate) fn note(&self, scope: &Scope, session: &SessionId, config: &BufferConfig) {
        let mut own = self.own.lock();
        if own.settings.is_empty() && *config == self.common {
            return;
        }
        let place = (scope.clone(), session.clone());
        if *config == self.common {
            own.settings.remove(&place);
            return;
        }
        own.turn += 1;
        let turn = own.turn;
        own.settings.insert(place, (turn, *config));
        if own.settings.len() > SESSIONS {
            // The older half goes, so that this is rare.
            let oldest = turn.saturating_sub(SESSIONS as u64 / 2);
            own.settings.retain(|_, (noted, _)| *noted > oldest);
        }
    }

    /// Drops all that is known of an owner.
    pub(crate) fn forget(&self, scope: &Scope) {
        self.own.lock().settings.retain(|(owner, _), _| owner != scope);
        self.full.lock().places.retain(|(owner, _), _| owner != scope);
    }

    /// Returns the settings of a conversation.
    pub(crate) fn of(&self, scope: &Scope, session: &SessionId) -> BufferConfig {
        let own = self.own.lock();
        if own.settings.is_empty() {
            return self.common;
        }
        own.settings.get(&(scope.clone(), session.clone())).map_or(self.common, |(_, config)| *config)
    }

    /// Notes that the window of a conversation is too full.
    pub(crate) fn note_full(&self, scope: &Scope, session: &SessionId) {
        let mut full = self.full.lock();
        if full.places.len() < SESSIONS {
            full.places.entry((scope.clone(), session.clone())).or_default();
        }
    }

    /// Notes that the newest turn of a conversation has more than the `room` tokens that a context leaves to it.
    pub(crate) fn note_turn(&self, scope: &Scope, session: &SessionId, room: u64) {
        let mut full = self.full.lock();
        if full.places.len() < SESSIONS {
            let least = full.places.entry((scope.clone(), session.clone())).or_default();
            *least = Some(least.map_or(room, |least| least.min(room)));
        }
    }

    /// Returns whether no further full window can be noted.
    pub(crate) fn is_crowded(&self) -> bool {
        self.full.lock().places.len() >= SESSIONS
    }

    /// Takes out a conversation whose window is too full, with the tokens that contexts leave to its newest turn, if that turn has
    /// more.
    pub(crate) fn next_full(&self) -> Option<(Place, Option<u64>)> {
        let mut full = self.full.lock();
        let last = full.last.take();
        let behind = last.and_then(|last| full.places.range((Bound::Excluded(last), Bound::Unbounded)).next());
        let found = behind.or_else(|| full.places.first_key_value());
        let (next, room) = found.map(|(place, room)| (place.clone(), *room))?;
        full.places.remove(&next);
        full.last = Some(next.clone());
        Some((next, room))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_conversation_keeps_its_own_settings_until_an_append_has_the_common_ones() {
        let common = BufferConfig::default();
        let (buffers, ada) = (Buffers::new(common), Scope::new("acme", "ada").unwrap());
        let [s, t] = ["s", "t"].map(|name| SessionId::new(name).unwrap());
        buffers.note(&ada, &s, &BufferConfig::balanced());
        assert_eq!([buffers.of(&ada, &s), buffers.of(&ada, &t)], [BufferConfig::balanced(), common]);
        buffers.note(&ada, &s, &common);
        assert_eq!(buffers.of(&ada, &s), common);
    }

    #[test]
    fn each_full_window_has_its_turn_although_others_are_noted_again() {
        let (buffers, ada) = (Buffers::new(BufferConfig::default()), Scope::new("acme", "ada").unwrap());
        let names = ["a", "b", "c"].map(|name| SessionId::new(name).unwrap());
        names.iter().for_each(|name| buffers.note_full(&ada, name));
        for name in names.iter().chain(&names) {
            assert_eq!(buffers.next_full(), Some(((ada.clone(), name.clone()), None)));
            buffers.note_full(&ada, name);
        }
    }

    #[test]
    fn a_turn_is_noted_with_the_least_that_any_context_leaves_to_it() {
        let (buffers, ada) = (Buffers::new(BufferConfig::default()), Scope::new("acme", "ada").unwrap());
        let session = SessionId::new("s").unwrap();
        [4_000, 1_500, 8_000].into_iter().for_each(|room| buffers.note_turn(&ada, &session, room));
        buffers.note_full(&ada, &session);
        assert_eq!(buffers.next_full(), Some(((ada.clone(), session.clone()), Some(1_500))));
        buffers.note_full(&ada, &session);
        assert_eq!(buffers.next_full(), Some(((ada, session), None)), "it was taken out with its window");
    }

    #[test]
    fn they_do_not_grow() {
        let (buffers, ada) = (Buffers::new(BufferConfig::default()), Scope::new("acme", "ada").unwrap());
        for number in 0..SESSIONS + 10 {
            let session = SessionId::new(&number.to_string()).unwrap();
            buffers.note(&ada, &session, &BufferConfig::balanced());
            buffers.note_full(&ada, &session);
        }
        assert!(buffers.is_crowded());
        assert_eq!(buffers.full.lock().places.len(), SESSIONS);
        assert!(buffers.own.lock().settings.len() <= SESSIONS);
        let newest = SessionId::new(&(SESSIONS + 9).to_string()).unwrap();
        assert_eq!(buffers.of(&ada, &newest), BufferConfig::balanced());
        buffers.forget(&ada);
        assert_eq!((buffers.of(&ada, &newest), buffers.next_full()), (BufferConfig::default(), None));
    }
}
