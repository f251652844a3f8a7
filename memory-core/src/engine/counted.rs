//! Which stored counts of tokens are known to be right, so that a read counts nothing again.

use std::hash::{BuildHasher, RandomState};
use std::sync::atomic::{AtomicU64, Ordering};

use crate::id::MessageId;

/// How many messages are known at the most. Each has one place, and another one that falls upon it takes it.
const PLACES: usize = 1 << 12;

/// Messages that this memory has counted itself, with what it found.
#[derive(Debug)]
pub(super) struct Counted {
    /// A hash of the message and its tokens each; 0 where there is none.
    places: Box<[AtomicU64]>,
    state: RandomState,
}

impl Default for Counted {
    fn default() -> Self {
        let places = std::iter::repeat_with(AtomicU64::default).take(PLACES).collect();
        Self { places, state: RandomState::new() }
    }
}

impl Counted {
    pub(super) fn note(&self, id: MessageId, tokens: u64) {
        let (place, hash) = self.place(id, tokens);
        if let Some(place) = place {
            place.store(hash, Ordering::Relaxed);
        }
    }

    /// Returns whether the message has so many tokens, by `count` where that is not known. What is found so is known then.
    pub(super) fn confirms(&self, id: MessageId, tokens: u64, count: impl FnOnce() -> u64) -> bool {
        let (place, hash) = self.place(id, tokens);
        if place.is_some_and(|place| place.load(Ordering::Relaxed) == hash) {
            return true;
        }
        let is_right = count() == tokens;
        if let Some(place) = place.filter(|_| is_right) {
            place.store(hash, Ordering::Relaxed);
        }
        is_right
    }

    fn place(&self, id: MessageId, tokens: u64) -> (Option<&AtomicU64>, u64) {
        let hash = self.state.hash_one((id, tokens)).max(1);
        (self.places.get(hash as usize % PLACES), hash)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn holds(counted: &Counted, id: MessageId, tokens: u64) -> bool {
        counted.confirms(id, tokens, || tokens + 1)
    }

    #[test]
    fn what_was_noted_is_known_by_message_and_count() {
        let (counted, [a, b]) = (Counted::default(), [MessageId::fresh(), MessageId::fresh()]);
        assert!(!holds(&counted, a, 7));
        counted.note(a, 7);
        assert_eq!([(a, 7), (a, 8), (b, 7)].map(|(id, tokens)| holds(&counted, id, tokens)), [true, false, false]);
    }

    #[test]
    fn what_was_counted_once_is_not_counted_again() {
        let (counted, a) = (Counted::default(), MessageId::fresh());
        assert!(!counted.confirms(a, 7, || 8));
        assert!(counted.confirms(a, 7, || 7));
        assert!(holds(&counted, a, 7));
    }

    #[test]
    fn it_does_not_grow() {
        let (counted, last) = (Counted::default(), MessageId::fresh());
        (0..2 * PLACES as u64).for_each(|tokens| counted.note(last, tokens));
        let known = (0..2 * PLACES as u64).filter(|tokens| holds(&counted, last, *tokens)).count();
        assert!(0 < known && known <= PLACES);
    }
}
