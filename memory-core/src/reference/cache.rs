//! The in-process cache.

#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;

use super::in_process;
use crate::error::{Error, Result};
use crate::scope::{Epoch, Scope};
use crate::store::cache::Cache;
use crate::sync::Lock;
use crate::time::{Clock, Timestamp};

/// How many entries are put before the first sweep for expired ones.
const FIRST_SWEEP: usize = 1_024;

/// A cache in this process. Expired entries are dropped whenever the number of entries has doubled.
#[derive(Debug)]
pub struct MemCache {
    clock: Arc<dyn Clock>,
    state: Lock<Partitions>,
}

#[derive(Default)]
struct Partitions {
    owners: HashMap<Scope, Partition>,
    /// Entries put since the last sweep, and how many may be put before the next.
    puts: usize,
    room: usize,
}

#[derive(Default)]
struct Partition {
    /// The present epoch; what was written in an earlier one is erased.
    below: Epoch,
    epochs: BTreeMap<Epoch, HashMap<String, Entry>>,
}

struct Entry {
    content: Content,
    expires_at: Timestamp,
}

enum Content {
    Value(Vec<u8>),
    List(VecDeque<Vec<u8>>),
}

impl MemCache {
    /// Returns an empty cache whose entries expire by `clock`.
    pub fn new(clock: Arc<dyn Clock>) -> Self {
        Self { clock, state: Lock::default() }
    }

    /// Reads the live content under a key.
    fn read<T>(&self, scope: &Scope, epoch: Epoch, key: &str, read: impl FnOnce(&Content) -> Option<T>) -> Option<T> {
        let now = self.clock.now();
        let state = self.state.lock();
        let entry = state.owners.get(scope)?.epochs.get(&epoch)?.get(key)?;
        if entry.expires_at > now { read(&entry.content) } else { None }
    }

    /// Puts what `next` makes of the live content under a key.
    fn write(
        &self,
        scope: &Scope,
        epoch: Epoch,
        key: &str,
        ttl: Duration,
        next: impl FnOnce(Option<Content>) -> Content,
    ) -> Result<()> {
        if ttl.is_zero() {
            return Err(Error::invalid("a time to live is longer than zero"));
        }
        let now = self.clock.now();
        let expires_at = now.checked_add(ttl)?;
        let mut state = self.state.lock();
        let partition = state.owners.entry(scope.clone()).or_default();
        if epoch < partition.below {
            return Ok(());
        }
        let entries = partition.epochs.entry(epoch).or_default();
        let old = entries.remove(key).filter(|old| old.expires_at > now);
        entries.insert(key.to_owned(), Entry { content: next(old.map(|old| old.content)), expires_at });
        state.make_room(now);
        Ok(())
    }

    fn drop_below(&self, scope: &Scope, below: Epoch) -> Result<usize> {
        let mut state = self.state.lock();
        let partition = state.owners.entry(scope.clone()).or_default();
        partition.below = partition.below.max(below);
        let kept = partition.epochs.split_off(&below);
        let removed = std::mem::replace(&mut partition.epochs, kept);
        Ok(removed.values().map(HashMap::len).sum())
    }
}

in_process!(MemCache);

impl Partitions {
    fn make_room(&mut self, now: Timestamp) {
        self.puts += 1;
        if self.puts < self.room.max(FIRST_SWEEP) {
            return;
        }
        (self.puts, self.room) = (0, 0);
        self.owners.retain(|_, partition| {
            partition.epochs.retain(|_, entries| {
                entries.retain(|_, entry| entry.expires_at > now);
                self.room += entries.len();
                !entries.is_empty()
            });
            !partition.epochs.is_empty() || partition.below > Epoch(0)
        });
    }
}

#[async_trait]
impl Cache for MemCache {
    async fn get(&self, scope: &Scope, epoch: Epoch, key: &str) -> Result<Option<Vec<u8>>> {
        Ok(self.read(scope, epoch, key, |content| match content {
            Content::Value(value) => Some(value.clone()),
            Content::List(_) => None,
        }))
    }

    async fn put(&self, scope: &Scope, epoch: Epoch, key: &str, value: &[u8], ttl: Duration) -> Result<()> {
        self.write(scope, epoch, key, ttl, |_| Content::Value(value.to_vec()))
    }

    async fn delete(&self, scope: &Scope, epoch: Epoch, keys: &[&str]) -> Result<()> {
        let mut state = self.state.lock();
        let entries = state.owners.get_mut(scope).and_then(|partition| partition.epochs.get_mut(&epoch));
        if let Some(entries) = entries {
            for key in keys {
                entries.remove(*key);
            }
        }
        Ok(())
    }

    async fn push(
        &self,
        scope: &Scope,
        epoch: Epoch,
        key: &str,
        value: &[u8],
        cap: usize,
        ttl: Duration,
    ) -> Result<()> {
        if cap == 0 {
            return Err(Error::invalid("a list keeps at least one value"));
        }
        self.write(scope, epoch, key, ttl, |content| {
            let mut values = match content {
                Some(Content::List(values)) => values,
                _ => VecDeque::new(),
            };
            values.push_back(value.to_vec());
            values.drain(..values.len().saturating_sub(cap));
            Content::List(values)
        })
    }

    async fn tail(&self, scope: &Scope, epoch: Epoch, key: &str, count: usize) -> Result<Vec<Vec<u8>>> {
        let values = self.read(scope, epoch, key, |content| match content {
            Content::List(values) => Some(values.iter().skip(values.len().saturating_sub(count)).cloned().collect()),
            Content::Value(_) => None,
        });
        Ok(values.unwrap_or_default())
    }
}
