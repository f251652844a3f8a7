//! The in-process blackboard.

mod board;
#[cfg(test)]
mod tests;

use std::collections::HashMap;
use std::sync::Arc;

use async_trait::async_trait;

use super::in_process;
use crate::error::{Error, Result};
use crate::scope::{Epoch, Scope};
use crate::store::blackboard::{
    Blackboard, BlackboardEntry, BlackboardStats, BoardHit, BoardQuery, Keep, Posted, direction_of,
};
use crate::sync::Lock;
use crate::time::Clock;

use board::Board;

/// The longest key, in bytes.
const MAX_KEY_BYTES: usize = 255;

/// Boards in this process, one per owner.
#[derive(Debug)]
pub struct MemBlackboard {
    clock: Arc<dyn Clock>,
    capacity: usize,
    keep: Keep,
    owners: Lock<HashMap<Scope, Board>>,
}

impl MemBlackboard {
    /// The default capacity of a board.
    pub const DEFAULT_CAPACITY: usize = 100;

    /// Returns boards of up to `capacity` live entries that expire by `clock`.
    ///
    /// # Errors
    /// `Invalid` for boards of no entries.
    pub fn new(clock: Arc<dyn Clock>, capacity: usize) -> Result<Self> {
        if capacity == 0 {
            return Err(Error::invalid("a board has room for at least one entry"));
        }
        Ok(Self { clock, capacity, keep: Keep::default(), owners: Lock::default() })
    }

    /// Sets what keeps an entry on a full board. Default every use.
    ///
    /// ```
    /// use std::sync::Arc;
    ///
    /// use memory_core::SystemClock;
    /// use memory_core::reference::MemBlackboard;
    /// use memory_core::store::blackboard::Keep;
    ///
    /// // A queue of fifty: what was put first goes first, however often it is read.
    /// let board = MemBlackboard::new(Arc::new(SystemClock), 50)?.with_keep(Keep::Put);
    /// # Ok::<(), memory_core::Error>(())
    /// ```
    #[must_use]
    pub fn with_keep(mut self, keep: Keep) -> Self {
        self.keep = keep;
        self
    }

    /// Does something with the owner's board, once it is known to be of this epoch.
    fn at<T>(&self, scope: &Scope, epoch: Epoch, act: impl FnOnce(&mut Board) -> T) -> Result<T> {
        let mut owners = self.owners.lock();
        let board = owners.entry(scope.clone()).or_insert_with(|| Board::new(self.keep));
        board.advance(epoch)?;
        Ok(act(board))
    }

    fn drop_below(&self, scope: &Scope, below: Epoch) -> Result<usize> {
        let mut owners = self.owners.lock();
        Ok(owners.entry(scope.clone()).or_insert_with(|| Board::new(self.keep)).erase(below))
    }
}

in_process!(MemBlackboard);

#[async_trait]
impl Blackboard for MemBlackboard {
    async fn put(&self, scope: &Scope, epoch: Epoch, entry: &BlackboardEntry) -> Result<Vec<String>> {
        let BlackboardEntry { key, value: _, terms: _, vector, ttl } = entry;
        if key.is_empty() || key.len() > MAX_KEY_BYTES {
            return Err(Error::invalid(format!("a key holds 1 to {MAX_KEY_BYTES} bytes, not {}", key.len())));
        }
        if ttl.is_some_and(|ttl| ttl.is_zero()) {
            return Err(Error::invalid("a time to live is longer than zero"));
        }
        let direction = vector.as_deref().map(direction_of).transpose()?;
        let now = self.clock.now();
        let expires_at = ttl.map(|ttl| now.checked_add(ttl)).transpose()?;
        self.at(scope, epoch, |board| board.put(entry, direction, now, expires_at, self.capacity))
    }

    async fn get(&self, scope: &Scope, epoch: Epoch, key: &str) -> Result<Option<Posted>> {
        let now = self.clock.now();
        self.at(scope, epoch, |board| board.get(key, now))
    }

    async fn search(&self, scope: &Scope, epoch: Epoch, query: &BoardQuery, limit: usize) -> Result<Vec<BoardHit>> {
        let now = self.clock.now();
        let sought = query.sought()?;
        self.at(scope, epoch, |board| board.search(&sought, limit, now))
    }

    async fn delete(&self, scope: &Scope, epoch: Epoch, key: &str) -> Result<bool> {
        let now = self.clock.now();
        self.at(scope, epoch, |board| board.delete(key, now))
    }

    async fn sweep(&self, scope: &Scope, epoch: Epoch) -> Result<u64> {
        let now = self.clock.now();
        self.at(scope, epoch, |board| board.sweep(now))
    }

    async fn stats(&self, scope: &Scope, epoch: Epoch) -> Result<BlackboardStats> {
        let (now, capacity) = (self.clock.now(), self.capacity as u64);
        self.at(scope, epoch, |board| board.stats(capacity, now))
    }
}
