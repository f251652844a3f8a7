//! Broken search stores, caches, boards and journals.

mod board_breaks;
mod boards;
mod cache_breaks;
pub(crate) mod caches;
mod clears;
mod erasers;
mod filter_breaks;
mod isolation;
mod journal_breaks;
mod journals;
mod scans;
mod set_aside;
mod text_answers;
mod text_breaks;
pub(crate) mod texts;
mod vector_breaks;
pub(crate) mod vectors;

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use memory_core::Scope;
use memory_core::store::text::Deletion;
use memory_testkit::generate::{LAST, deletion};

/// What a broken store remembers.
type Shared<T> = Arc<Mutex<T>>;

/// The owners that a broken store has met.
#[derive(Clone, Debug, Default)]
struct Owners(Shared<BTreeSet<Scope>>);

impl Owners {
    fn meet(&self, scope: &Scope) {
        lock(&self.0).insert(scope.clone());
    }

    fn all(&self) -> Vec<Scope> {
        lock(&self.0).iter().cloned().collect()
    }

    /// Returns the owners whose subject begins as that of `scope` does.
    fn like(&self, scope: &Scope) -> Vec<Scope> {
        let begins = |other: &Scope| other.tenant() == scope.tenant() && other.subject().starts_with(&scope.subject());
        self.all().into_iter().filter(begins).collect()
    }
}

fn lock<T>(held: &Mutex<T>) -> MutexGuard<'_, T> {
    held.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Returns the deletion of the same whatever its version.
pub(crate) fn unbounded(what: &Deletion) -> Deletion {
    match what {
        Deletion::Items(items) => deletion(items.iter().map(|(item, _)| item.clone())),
        Deletion::Session(session, _) => Deletion::Session(session.clone(), LAST),
    }
}

/// Returns the owner whom a key joined with a colon takes `scope` for: `a:b` and `c` are `a` and `b:c`.
pub(crate) fn joined(scope: &Scope) -> Scope {
    let name = format!("{}:{}", scope.tenant(), scope.subject());
    Scope::new("all", &name).unwrap_or_else(|_| scope.clone())
}
