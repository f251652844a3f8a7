//! The in-process blackboard.

mod board;
#[cfg(test)]
mod tests;

use std::collections::HashMap;
use std::sync::Arc;

use async_trait::async_trait;

use super::{BACKEND, Shared, erased, health};
use crate::error::{Error, Result};
use crate::scope::{Epoch, Scope};
use crate::store::blackboard::{Blackboard, BlackboardEntry, BlackboardStats, BoardHit, BoardQuery, Posted};
use crate::store::{Erased, Health, Store};
use crate::time::Clock;
use crate::vector::normalise;

use board::Board;

/// The longest key, in bytes.
const MAX_KEY_BYTES: usize = 255;

/// Boards in this process, one per owner.
#[derive(Debug)]
pub struct MemBlackboard {
    clock: Arc<dyn Clock>,
    capacity: usize,
    owners: Shared<HashMap<Scope, Board>>,
}

impl MemBlackboard {
    /// The default capacity of a board.
    pub const DEFAULT_CAPACITY: usize = 100;

    /// Returns boards of up to `capacity` live entries, at least 1, that expire by `clock`.
    pub fn new(clock: Arc<dyn Clock>, capacity: usize) -> Self {
        Self { clock, capacity: capacity.max(1), owners: Shared::default() }
    }
}

#[async_trait]
impl Store for MemBlackboard {
    fn backend(&self) -> &'static str {
        BACKEND
    }

    async fn ping(&self) -> Result<Health> {
        Ok(health())
    }

    async fn close(&self) -> Result<()> {
        Ok(())
    }

    async fn erase(&self, scope: &Scope, below: Epoch) -> Result<Erased> {
        let mut owners = self.owners.lock();
        Ok(erased(owners.entry(scope.clone()).or_default().erase(below)))
    }
}

#[async_trait]
impl Blackboard for MemBlackboard {
    async fn put(&self, scope: &Scope, entry: &BlackboardEntry) -> Result<Vec<String>> {
        let BlackboardEntry { key, value: _, terms: _, vector, ttl } = entry;
        if key.is_empty() || key.len() > MAX_KEY_BYTES {
            return Err(Error::invalid(format!("a key holds 1 to {MAX_KEY_BYTES} bytes, not {}", key.len())));
        }
        if ttl.is_some_and(|ttl| ttl.is_zero()) {
            return Err(Error::invalid("a time to live is longer than zero"));
        }
        let direction = match vector {
            Some(vector) => Some(direction_of(vector)?),
            None => None,
        };
        let now = self.clock.now();
        let expires_at = match ttl {
            Some(ttl) => Some(now.checked_add(*ttl)?),
            None => None,
        };
        let mut owners = self.owners.lock();
        Ok(owners.entry(scope.clone()).or_default().put(entry, direction, now, expires_at, self.capacity))
    }

    async fn get(&self, scope: &Scope, key: &str) -> Result<Option<Posted>> {
        let now = self.clock.now();
        Ok(self.owners.lock().entry(scope.clone()).or_default().get(key, now))
    }

    async fn search(&self, scope: &Scope, query: &BoardQuery, limit: usize) -> Result<Vec<BoardHit>> {
        let now = self.clock.now();
        let sought = match query {
            BoardQuery::Terms(_) => Vec::new(),
            BoardQuery::Vector(vector) => direction_of(vector)?,
        };
        let mut owners = self.owners.lock();
        let Some(board) = owners.get_mut(scope) else { return Ok(Vec::new()) };
        Ok(match query {
            BoardQuery::Terms(terms) => board.search_terms(terms, limit, now),
            BoardQuery::Vector(_) => board.search_vector(&sought, limit, now),
        })
    }

    async fn delete(&self, scope: &Scope, key: &str) -> Result<bool> {
        let now = self.clock.now();
        Ok(self.owners.lock().get_mut(scope).is_some_and(|board| board.delete(key, now)))
    }

    async fn sweep(&self, scope: &Scope) -> Result<u64> {
        let now = self.clock.now();
        Ok(self.owners.lock().get_mut(scope).map_or(0, |board| board.sweep(now)))
    }

    async fn stats(&self, scope: &Scope) -> Result<BlackboardStats> {
        let now = self.clock.now();
        let owners = self.owners.lock();
        let capacity = self.capacity as u64;
        Ok(match owners.get(scope) {
            Some(board) => board.stats(capacity, now),
            None => BlackboardStats { capacity, ..BlackboardStats::default() },
        })
    }
}

fn direction_of(vector: &[f32]) -> Result<Vec<f32>> {
    normalise(vector).ok_or_else(|| Error::invalid("a vector without length has no direction"))
}
