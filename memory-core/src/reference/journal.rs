//! The in-process journal of write-behind.

#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use async_trait::async_trait;

use crate::error::{Error, Result};
use crate::id::{MessageId, SessionId};
use crate::scope::Scope;
use crate::store::Durability;
use crate::store::chat::{Append, Fence};
use crate::store::journal::{Journal, Queued, Rejection};
use crate::sync::Lock;

/// A journal in this process.
#[derive(Debug)]
pub struct MemJournal {
    capacity: usize,
    state: Lock<Queue>,
}

#[derive(Default)]
struct Queue {
    last: u64,
    queued: BTreeMap<u64, Queued>,
    /// The queued numbers of each owner, so that reading one owner does not read others.
    owners: HashMap<Scope, BTreeSet<u64>>,
    rejected: BTreeMap<u64, Rejection>,
}

impl MemJournal {
    /// Returns an empty journal whose bound is `capacity` messages.
    pub fn new(capacity: usize) -> Self {
        Self { capacity, state: Lock::default() }
    }
}

impl Queue {
    fn push(&mut self, queued: Queued) {
        self.last += 1;
        self.owners.entry(queued.scope.clone()).or_default().insert(self.last);
        self.queued.insert(self.last, Queued { number: self.last, ..queued });
    }

    fn remove(&mut self, number: u64) -> Option<Queued> {
        let queued = self.queued.remove(&number)?;
        if let Some(numbers) = self.owners.get_mut(&queued.scope) {
            numbers.remove(&number);
            if numbers.is_empty() {
                self.owners.remove(&queued.scope);
            }
        }
        Some(queued)
    }

    /// Returns the queued messages of one owner, or of all, in order.
    fn queued<'a>(&'a self, scope: Option<&Scope>) -> Box<dyn Iterator<Item = &'a Queued> + 'a> {
        let Some(scope) = scope else { return Box::new(self.queued.values()) };
        let numbers = self.owners.get(scope).into_iter().flatten();
        Box::new(numbers.filter_map(|number| self.queued.get(number)))
    }

    /// Returns how many messages count to the bound where this owner pushes some: of each other owner's rejected ones at most `most`.
    fn counted(&self, scope: &Scope, most: usize) -> usize {
        let mut others: HashMap<&Scope, usize> = HashMap::new();
        for Rejection { queued, .. } in self.rejected.values().filter(|rejection| rejection.queued.scope != *scope) {
            *others.entry(&queued.scope).or_default() += 1;
        }
        let beyond: usize = others.values().map(|count| count.saturating_sub(most)).sum();
        self.queued.len() + self.rejected.len() - beyond
    }

    /// Removes what is meant of an owner, queued or rejected, and returns how many messages it was.
    fn remove_all(&mut self, scope: &Scope, is_meant: impl Fn(&Queued) -> bool) -> u64 {
        let queued = self.queued(Some(scope)).filter(|queued| is_meant(queued));
        let numbers: Vec<u64> = queued.map(|queued| queued.number).collect();
        for number in &numbers {
            self.remove(*number);
        }
        let before = self.rejected.len();
        self.rejected.retain(|_, Rejection { queued, .. }| queued.scope != *scope || !is_meant(queued));
        (numbers.len() + before - self.rejected.len()) as u64
    }
}

#[async_trait]
impl Journal for MemJournal {
    fn durability(&self) -> Durability {
        Durability::Volatile
    }

    async fn push(&self, scope: &Scope, session: &SessionId, batch: &Append) -> Result<u64> {
        let Append { fence, asked, messages } = batch;
        let mut state = self.state.lock();
        let has_room = |held: usize| held.saturating_add(messages.len()) <= self.capacity;
        let held = state.queued.len() + state.rejected.len();
        if !has_room(held) && !has_room(state.counted(scope, self.capacity.div_ceil(8))) {
            return Err(Error::QueueFull);
        }
        for new in messages {
            let (scope, session, new) = (scope.clone(), session.clone(), new.clone());
            state.push(Queued { number: 0, scope, session, fence: *fence, asked: *asked, new });
        }
        Ok(state.last)
    }

    async fn queued(&self, scope: Option<&Scope>, session: Option<&SessionId>, limit: usize) -> Result<Vec<Queued>> {
        let state = self.state.lock();
        let of_session = |queued: &&Queued| session.is_none_or(|session| *session == queued.session);
        Ok(state.queued(scope).filter(of_session).take(limit).cloned().collect())
    }

    async fn acknowledge(&self, numbers: &[u64]) -> Result<()> {
        let mut state = self.state.lock();
        for number in numbers {
            state.remove(*number);
        }
        Ok(())
    }

    async fn reject(&self, number: u64, why: &str) -> Result<()> {
        let mut state = self.state.lock();
        if let Some(queued) = state.remove(number) {
            state.rejected.insert(number, Rejection { queued, why: why.to_owned() });
        }
        Ok(())
    }

    async fn rejected(&self, scope: Option<&Scope>, limit: usize) -> Result<Vec<Rejection>> {
        let state = self.state.lock();
        let of_owner = |rejection: &&Rejection| scope.is_none_or(|scope| *scope == rejection.queued.scope);
        Ok(state.rejected.values().filter(of_owner).take(limit).cloned().collect())
    }

    async fn count_rejected(&self, scope: Option<&Scope>) -> Result<usize> {
        let state = self.state.lock();
        let of_owner = |rejection: &&Rejection| scope.is_none_or(|scope| *scope == rejection.queued.scope);
        Ok(state.rejected.values().filter(of_owner).count())
    }

    async fn revive(&self, revived: &[(u64, Option<Fence>)]) -> Result<()> {
        let mut state = self.state.lock();
        // In their original order, whatever the order of the call.
        let revived: BTreeMap<u64, Option<Fence>> = revived.iter().copied().collect();
        for (number, fence) in revived {
            if let Some(Rejection { queued, why: _ }) = state.rejected.remove(&number) {
                state.push(Queued { fence, ..queued });
            }
        }
        Ok(())
    }

    async fn discard(&self, numbers: &[u64]) -> Result<u64> {
        let mut state = self.state.lock();
        Ok(numbers.iter().filter(|number| state.rejected.remove(number).is_some()).count() as u64)
    }

    async fn forget(&self, scope: &Scope, ids: &[MessageId]) -> Result<u64> {
        let ids: HashSet<&MessageId> = ids.iter().collect();
        Ok(self.state.lock().remove_all(scope, |queued| ids.contains(&queued.new.message.id)))
    }

    async fn erase(&self, scope: &Scope, session: Option<&SessionId>, below: Fence) -> Result<u64> {
        let of_session = |queued: &Queued| session.is_none_or(|session| *session == queued.session);
        Ok(self.state.lock().remove_all(scope, |queued| of_session(queued) && queued.is_before(below)))
    }

    async fn close(&self) -> Result<()> {
        Ok(())
    }
}
