//! How calls ended, counted by what a caller can do about it.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Mutex, MutexGuard, PoisonError};

use memory_core::error::Transience;
use memory_core::{Error, Result};

/// How calls ended, by kind. Shown as `late 3, ok 12`.
#[derive(Debug, Default)]
pub struct Endings(Mutex<BTreeMap<&'static str, u64>>);

impl Endings {
    /// Counts the end of a call.
    pub fn note<T>(&self, answer: &Result<T>) {
        *self.counts().entry(kind(answer)).or_default() += 1;
    }

    /// Returns how many calls ended as one of `kinds`.
    pub fn of(&self, kinds: &[&str]) -> u64 {
        self.counts().iter().filter(|(kind, _)| kinds.contains(kind)).map(|(_, count)| count).sum()
    }

    /// Returns how many calls ended.
    pub fn all(&self) -> u64 {
        self.counts().values().sum()
    }

    fn counts(&self) -> MutexGuard<'_, BTreeMap<&'static str, u64>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Display for Endings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let counts: Vec<String> = self.counts().iter().map(|(kind, count)| format!("{kind} {count}")).collect();
        f.write_str(if counts.is_empty() { "none" } else { "" })?;
        f.write_str(&counts.join(", "))
    }
}

/// Returns the kind of an answer. `refused` is a call that was not made, or that the server asked to repeat later.
fn kind<T>(answer: &Result<T>) -> &'static str {
    match answer {
        Ok(_) => "ok",
        Err(Error::QueueFull) => "full",
        Err(Error::Overloaded) => "overloaded",
        Err(Error::Backend { transience: Transience::Late, .. }) => "late",
        Err(Error::Backend { transience: Transience::Transient { after: Some(_) }, .. }) => "refused",
        Err(Error::Backend { transience: Transience::Transient { after: None }, .. }) => "away",
        Err(Error::Backend { transience: Transience::Permanent, .. }) => "failed for good",
        Err(Error::Conflict | Error::IdConflict { .. } | Error::Fenced) => "conflict",
        Err(_) => "other",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn endings_are_counted_by_kind() {
        let endings = Endings::default();
        assert_eq!(endings.to_string(), "none");
        for answer in [Ok(()), Err(Error::QueueFull), Ok(()), Err(Error::Overloaded)] {
            endings.note(&answer);
        }
        assert_eq!(endings.to_string(), "full 1, ok 2, overloaded 1");
        assert_eq!((endings.of(&["full", "ok"]), endings.all()), (3, 4));
    }
}
