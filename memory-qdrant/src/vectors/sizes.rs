//! Owners that are known to be small: their searches look at every item without counting first.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

/// How many searches a count is good for. A small owner grows slowly; a large one is counted before every search, which
/// costs little beside that search.
const SEARCHES: u32 = 64;

/// How many owners are remembered.
const OWNERS: usize = 10_000;

/// Owners that were small when they were counted last, each with the searches that this is still good for.
#[derive(Debug, Default)]
pub(super) struct Sizes(Mutex<HashMap<String, u32>>);

impl Sizes {
    /// Returns whether the owner is known to be small.
    pub(super) fn is_small(&self, owner: &str) -> bool {
        let mut small = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        match small.get_mut(owner) {
            Some(0) | None => false,
            Some(left) => {
                *left -= 1;
                true
            }
        }
    }

    /// Remembers that the owner was found to be small.
    pub(super) fn note_small(&self, owner: &str) {
        let mut small = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if small.len() >= OWNERS {
            small.clear();
        }
        small.insert(owner.to_owned(), SEARCHES);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_count_is_good_for_some_searches_of_that_owner() {
        let sizes = Sizes::default();
        assert!(!sizes.is_small("ada"));
        sizes.note_small("ada");
        assert!((0..SEARCHES).all(|_| sizes.is_small("ada")));
        assert!(!sizes.is_small("ada") && !sizes.is_small("bob"));
    }

    #[test]
    fn no_more_owners_are_remembered_than_there_is_room_for() {
        let sizes = Sizes::default();
        (0..=OWNERS).for_each(|number| sizes.note_small(&number.to_string()));
        assert_eq!(sizes.0.lock().unwrap().len(), 1);
    }
}
