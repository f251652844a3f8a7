//! The vectors of one owner in memory, as of one state of the file.

use std::collections::HashMap;
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use memory_core::store::vectors::{VectorHit, VectorQuery};
use memory_core::vector::Partition;
use memory_core::{Epoch, ItemId, Result, Scope, Version};
use tokio::sync::{Mutex, OwnedMutexGuard};

use super::block::visit;
use crate::error::lost;
use crate::index::cache;
use crate::index::stamp::Stamp;

/// A partition of more bytes than this is searched in a thread that may take its time.
const LARGE: usize = 4 << 20;

/// An owner in one index of vectors.
pub(crate) type Key = (Scope, Arc<str>);

/// The vectors of owners that were searched of late.
pub(crate) type Cache = cache::Cache<Key, Held>;

/// The vectors of one owner. What is read is always of one state of the file: it is out of reach while it changes.
pub(crate) struct Held {
    state: RwLock<HeldVectors>,
    turn: Arc<Mutex<()>>,
}

struct HeldVectors {
    /// None while blocks are being read, or if that has failed.
    stamp: Option<Stamp>,
    partition: Partition,
    blocks: HashMap<i64, Block>,
}

/// A block that is held.
struct Block {
    /// What was drawn with the change that wrote it.
    changed: i64,
    items: Vec<ItemId>,
}

impl HeldVectors {
    fn new(dimension: usize) -> Self {
        Self { stamp: None, partition: Partition::new(dimension).with_quantised(), blocks: HashMap::new() }
    }

    fn remove(&mut self, block: i64) {
        for item in self.blocks.remove(&block).map(|block| block.items).unwrap_or_default() {
            self.partition.delete(&item);
        }
    }
}

impl cache::Held for Held {
    fn bytes(&self) -> usize {
        self.read().partition.bytes()
    }
}

impl Held {
    pub(super) fn new(dimension: usize) -> Self {
        Self { state: RwLock::new(HeldVectors::new(dimension)), turn: Arc::default() }
    }

    /// Waits until no other task reads blocks.
    pub(super) async fn turn(&self) -> OwnedMutexGuard<()> {
        Arc::clone(&self.turn).lock_owned().await
    }

    /// Returns the hits of a query that was checked; none if this is of another state than `wanted`.
    pub(super) async fn search(self: &Arc<Self>, wanted: Stamp, query: &VectorQuery) -> Result<Option<Vec<VectorHit>>> {
        if self.read().partition.bytes() <= LARGE {
            return Ok(self.find(wanted, query));
        }
        let (held, query) = (Arc::clone(self), query.clone());
        let search = tokio::task::spawn_blocking(move || held.find(wanted, &query));
        search.await.map_err(|_| lost("search vectors"))
    }

    fn find(&self, wanted: Stamp, query: &VectorQuery) -> Option<Vec<VectorHit>> {
        let state = self.read();
        (state.stamp == Some(wanted)).then(|| state.partition.search(query))
    }

    /// Begins a change of what is held to the state `next`, whose blocks are `present`, and returns those to be added: what is
    /// not of that state is gone from here. Until the end of the change nothing is found here.
    pub(super) fn begin(&self, next: Stamp, dimension: usize, present: &[(i64, i64)]) -> Vec<(i64, i64)> {
        let mut state = self.write();
        if state.stamp.take().is_none_or(|stamp| stamp.owner != next.owner) {
            *state = HeldVectors::new(dimension);
        }
        let changes: HashMap<i64, i64> = present.iter().copied().collect();
        let is_gone = |(number, block): &(&i64, &Block)| changes.get(number) != Some(&block.changed);
        let gone: Vec<i64> = state.blocks.iter().filter(is_gone).map(|(number, _)| *number).collect();
        gone.into_iter().for_each(|block| state.remove(block));
        present.iter().filter(|(block, _)| !state.blocks.contains_key(block)).copied().collect()
    }

    #[cfg(test)]
    pub(super) fn items(&self) -> usize {
        self.read().partition.len()
    }

    /// Adds a block that is not held.
    pub(super) fn add(&self, (block, changed): (i64, i64), bytes: &[u8], dimension: usize) -> Result<()> {
        let mut state = self.write();
        let mut items = Vec::new();
        visit(bytes, dimension, |stored| {
            let (item, fields) = stored.decode()?;
            state.partition.put(item.clone(), Version { epoch: Epoch(0), revision: 0 }, fields, &stored.numbers());
            items.push(item);
            Ok(())
        })?;
        state.blocks.insert(block, Block { changed, items });
        Ok(())
    }

    /// Ends a change: what is held is of the state `stamp`.
    pub(super) fn end(&self, stamp: Stamp) {
        self.write().stamp = Some(stamp);
    }

    fn read(&self) -> RwLockReadGuard<'_, HeldVectors> {
        self.state.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn write(&self) -> RwLockWriteGuard<'_, HeldVectors> {
        self.state.write().unwrap_or_else(PoisonError::into_inner)
    }
}
