//! The cache of one owner's vectors, at one state of the file.

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

/// A partition of more bytes than this is searched in a blocking thread.
const LARGE: usize = 4 << 20;

/// An owner in one vector index.
pub(crate) type Key = (Scope, Arc<str>);

/// The cache of owners whose vectors were recently searched.
pub(crate) type Cache = cache::Cache<Key, Held>;

/// The cached vectors of one owner. A search sees one state of the file; during a change it finds nothing here.
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

/// A cached block.
struct Block {
    /// The random number of the change that wrote it.
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

    /// Returns the hits of a checked query; none if this is another state than `wanted`.
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

    /// Begins a change to the state `next`, whose blocks are `present`: drops blocks that are not part of it, and returns
    /// those to be added. Until the change ends, nothing is found here.
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

    /// Adds a block that is not cached.
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

    /// Ends a change: the cache is at the state `stamp`.
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
