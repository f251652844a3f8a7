//! The own indexes that this process has asked for lately, so that not every call asks again.

use std::collections::HashMap;
use std::time::Duration;

use memory_core::Error;
use memory_core::time::Stopwatch;

/// How long an answer is valid.
const LATELY: Duration = Duration::from_secs(60);

/// How many owners are remembered.
const OWNERS: usize = 10_000;

/// How an attempt to build an index ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Built {
    Stands,
    /// All indexes are taken; an owner with this many vectors would replace another one.
    Full(i64),
    /// The owner was erased meanwhile, or nothing can be indexed.
    Unneeded,
}

/// The owners whose indexes were asked for, and the vectors needed for one.
#[derive(Debug, Default)]
pub(super) struct Asked {
    /// When each was answered; none while a build is running or waits.
    owners: HashMap<i64, Option<Stopwatch>>,
    /// Whether the role may not build, so that nobody is asked for any more.
    is_refused: bool,
    /// How many vectors an owner lately needed to get an index, and when that was found.
    bar: Option<(i64, Stopwatch)>,
}

impl Asked {
    /// Returns whether to ask now for an index for an owner with this many vectors, and remembers that.
    pub(super) fn begin(&mut self, owner: i64, rows: i64) -> bool {
        let is_asked = match self.owners.get(&owner) {
            Some(Some(since)) => since.elapsed() < LATELY,
            Some(None) => true,
            None => false,
        };
        if is_asked || !self.is_worth(rows) {
            return false;
        }
        if self.owners.len() >= OWNERS {
            // Those that were answered are asked for again, if they need it.
            self.owners.retain(|_, since| since.is_none());
        }
        if self.owners.len() >= OWNERS {
            return false;
        }
        self.owners.insert(owner, None);
        true
    }

    /// Returns whether an owner with this many vectors would probably get an index.
    pub(super) fn is_worth(&self, rows: i64) -> bool {
        !self.is_refused && self.bar.as_ref().is_none_or(|(bar, since)| rows >= *bar || since.elapsed() >= LATELY)
    }

    /// Remembers how an attempt ended.
    pub(super) fn end(&mut self, owner: i64, built: Built) {
        self.owners.insert(owner, Some(Stopwatch::start()));
        if let Built::Full(bar) = built {
            self.bar = Some((bar, Stopwatch::start()));
        }
    }

    /// Remembers that an attempt failed. It is made again later, unless the role may not build.
    pub(super) fn fail(&mut self, owner: i64, error: &Error) {
        self.is_refused |= matches!(error, Error::Unsupported { .. });
        self.owners.insert(owner, Some(Stopwatch::start()));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn asks_once_and_not_below_the_bar() {
        let mut asked = Asked::default();
        assert!(asked.begin(1, 50) && !asked.begin(1, 50));
        asked.end(1, Built::Stands);
        assert!(!asked.begin(1, 50), "it stands");
        assert!(asked.begin(2, 50));
        asked.end(2, Built::Full(100));
        assert!(!asked.begin(3, 99) && asked.begin(4, 100));
    }

    #[test]
    fn what_failed_is_asked_for_again_later_unless_it_may_not_be_built() {
        let mut asked = Asked::default();
        let passing = [Error::Overloaded, Error::corrupt("postgres", "a page")];
        for (owner, error) in (1..).zip(passing) {
            assert!(asked.begin(owner, 50));
            asked.fail(owner, &error);
            assert!(!asked.begin(owner, 50), "not at once");
            assert!(asked.owners[&owner].is_some(), "for ever after {error}");
        }
        assert!(asked.begin(9, 50));
        asked.fail(9, &Error::Unsupported { backend: "postgres", what: "build".to_owned() });
        assert!(!asked.begin(9, 50) && !asked.begin(10, 50), "it may build for nobody");
        assert!(!asked.is_worth(50), "not for those that wait either");
    }

    #[test]
    fn no_more_owners_are_remembered_than_there_is_room_for() {
        let (mut asked, most) = (Asked::default(), i64::try_from(OWNERS).unwrap());
        for owner in 0..most {
            assert!(asked.begin(owner, 50));
            asked.end(owner, Built::Stands);
        }
        assert!(asked.begin(most, 50));
        assert_eq!(asked.owners.len(), 1);
        assert!((0..most - 1).all(|owner| asked.begin(owner, 50)));
        assert!(!asked.begin(most - 1, 50), "all are being built");
        assert_eq!(asked.owners.len(), OWNERS);
    }
}
