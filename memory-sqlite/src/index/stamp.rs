//! Stamps: the state of an owner's index that something was read from.

use std::collections::HashMap;
use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};

use futures_util::future::Shared;
use memory_core::{Result, Scope};
use tokio::task;

use super::Owner;

/// The task that asks, the owner, and the name of an index.
pub(super) type Key = (Option<task::Id>, Scope, Arc<str>);
pub(super) type Answer = Shared<Pin<Box<dyn Future<Output = Result<Option<Stamp>>> + Send>>>;

/// The state of an owner's index: the owner's number, and the random number of its last change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Stamp {
    pub(crate) owner: i64,
    pub(crate) changed: i64,
}

impl Stamp {
    /// Returns the present state of `owner`.
    pub(crate) fn of(owner: &Owner) -> Self {
        Self { owner: owner.id, changed: owner.changed }
    }
}

/// Pending queries for the present state. One answer serves all parts of a search that ask the same. Whichever part is polled
/// drives the query, so none depends on another.
#[derive(Debug, Default)]
pub(crate) struct Questions {
    open: Mutex<HashMap<Key, Answer>>,
}

/// A query that others may have joined.
pub(super) struct Question<'a> {
    questions: &'a Questions,
    key: Key,
    pub(super) answer: Answer,
}

impl Questions {
    /// Joins the query of this key, or begins it.
    pub(super) fn join(&self, key: Key, ask: impl FnOnce() -> Answer) -> Question<'_> {
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        let answer = open.entry(key.clone()).or_insert_with(ask).clone();
        Question { questions: self, key, answer }
    }
}

impl Question<'_> {
    /// Lets no others join.
    pub(super) fn close(&self) {
        let mut open = self.questions.open.lock().unwrap_or_else(PoisonError::into_inner);
        if open.get(&self.key).is_some_and(|answer| answer.ptr_eq(&self.answer)) {
            open.remove(&self.key);
        }
    }
}

/// Closes the query, even if it is dropped before it was made.
impl Drop for Question<'_> {
    fn drop(&mut self) {
        self.close();
    }
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt as _;

    use super::*;

    fn key(subject: &str) -> Key {
        (None, Scope::new("tenant", subject).unwrap(), "text/english-1".into())
    }

    fn join<'q>(questions: &'q Questions, subject: &str) -> Question<'q> {
        questions.join(key(subject), || std::future::ready(Ok(None)).boxed().shared())
    }

    #[test]
    fn the_same_question_is_joined_until_it_is_asked() {
        let questions = Questions::default();
        let (first, second) = (join(&questions, "ada"), join(&questions, "ada"));
        assert!(first.answer.ptr_eq(&second.answer));
        assert!(!first.answer.ptr_eq(&join(&questions, "bob").answer));
        second.close();
        let late = join(&questions, "ada");
        assert!(!first.answer.ptr_eq(&late.answer));
        first.close();
        assert!(late.answer.ptr_eq(&join(&questions, "ada").answer));
    }

    #[test]
    fn nothing_stays_of_a_question_that_was_given_up() {
        let questions = Questions::default();
        drop((join(&questions, "ada"), join(&questions, "ada")));
        assert!(questions.open.lock().unwrap().is_empty());
    }
}
