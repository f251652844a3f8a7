//! Which state of an owner's index something is of.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use memory_core::{Result, Scope};
use tokio::sync::OnceCell;
use tokio::task;

use super::Owner;
use crate::client::Sqlite;

/// Who asks, an owner, and the name of an index.
type Key = (Option<task::Id>, Scope, Arc<str>);
type Answer = OnceCell<Option<Stamp>>;

/// Which state of an owner's index something is of: the owner's number, and its count of changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Stamp {
    pub(crate) owner: i64,
    pub(crate) changed: i64,
}

impl Stamp {
    /// Returns the present state of what `owner` has.
    pub(crate) fn of(owner: &Owner) -> Self {
        Self { owner: owner.id, changed: owner.changed }
    }

    /// Returns the present state of what the owner has in the index called `name`; none if it has nothing.
    pub(crate) async fn now(
        file: &Sqlite,
        doing: &'static str,
        scope: &Scope,
        name: &Arc<str>,
    ) -> Result<Option<Self>> {
        let question = file.questions().join((task::try_id(), scope.clone(), Arc::clone(name)));
        // The parts of one search ask at the same time: here is where the others join.
        task::yield_now().await;
        let ask = || async {
            // Whoever comes from here on may know of writes that the answer does not.
            question.close();
            let (_, scope, name) = question.key.clone();
            // A single statement is a transaction of its own, so no more is asked than one.
            let work = file
                .read(doing, move |connection| Box::pin(async move { Owner::find(connection, &scope, &name).await }));
            Ok(work.await?.map(|owner| Self::of(&owner)))
        };
        question.answer.get_or_try_init(ask).await.copied()
    }

    /// Returns whether this state can have followed upon `earlier`. A count that has fallen is that of an older copy, put
    /// in place of the file.
    pub(crate) fn follows(self, earlier: Self) -> bool {
        earlier.owner == self.owner && earlier.changed <= self.changed
    }
}

/// Questions for the present state that are about to be asked: one answer serves all the parts of a search that ask the
/// same. They are of one task, so none waits for somebody who does not poll.
#[derive(Debug, Default)]
pub(crate) struct Questions {
    open: Mutex<HashMap<Key, Arc<Answer>>>,
}

/// A question that others may have joined.
struct Question<'a> {
    questions: &'a Questions,
    key: Key,
    answer: Arc<Answer>,
}

impl Questions {
    fn join(&self, key: Key) -> Question<'_> {
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        let answer = Arc::clone(open.entry(key.clone()).or_default());
        Question { questions: self, key, answer }
    }
}

impl Question<'_> {
    /// Lets nobody join any more.
    fn close(&self) {
        let mut open = self.questions.open.lock().unwrap_or_else(PoisonError::into_inner);
        if open.get(&self.key).is_some_and(|answer| Arc::ptr_eq(answer, &self.answer)) {
            open.remove(&self.key);
        }
    }
}

/// Also where it was given up before it was asked.
impl Drop for Question<'_> {
    fn drop(&mut self) {
        self.close();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(subject: &str) -> Key {
        (None, Scope::new("tenant", subject).unwrap(), "text/english-1".into())
    }

    #[test]
    fn the_same_question_is_joined_until_it_is_asked() {
        let questions = Questions::default();
        let (first, second) = (questions.join(key("ada")), questions.join(key("ada")));
        assert!(Arc::ptr_eq(&first.answer, &second.answer));
        assert!(!Arc::ptr_eq(&first.answer, &questions.join(key("bob")).answer));
        second.close();
        let late = questions.join(key("ada"));
        assert!(!Arc::ptr_eq(&first.answer, &late.answer));
        first.close();
        assert!(Arc::ptr_eq(&late.answer, &questions.join(key("ada")).answer));
    }

    #[test]
    fn nothing_stays_of_a_question_that_was_given_up() {
        let questions = Questions::default();
        drop((questions.join(key("ada")), questions.join(key("ada"))));
        assert!(questions.open.lock().unwrap().is_empty());
    }
}
