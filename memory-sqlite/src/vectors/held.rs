//! The cache of one owner's vectors, at one state of the file.

use std::collections::BTreeMap;
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use memory_core::store::vectors::VectorQuery;
use memory_core::{Result, Scope};
use tokio::sync::{Mutex, OwnedMutexGuard};

use super::block::{Block, Sought};
use super::nearest::{Near, Nearest};
use crate::error::lost;
use crate::index::stamp::Stamp;
use crate::index::{Shelf, cache};

/// More bytes than this are searched in a blocking thread.
const LARGE: usize = 2 << 20;

/// More bytes than this are searched by several threads, each with as many.
const SHARE: usize = 8 << 20;

/// An owner in one vector index.
pub(crate) type Key = (Scope, Arc<str>);

/// The cache of owners whose vectors were recently searched.
pub(crate) type Cache = cache::Cache<Key, Held>;

/// The cached vectors of one owner. A search sees one state of the file; during a change it finds nothing here.
#[derive(Default)]
pub(crate) struct Held {
    state: RwLock<HeldVectors>,
    /// The items found in the same state.
    pub(super) shelf: Shelf,
    turn: Arc<Mutex<()>>,
}

#[derive(Default)]
struct HeldVectors {
    /// None while blocks are being read, or if that has failed.
    stamp: Option<Stamp>,
    /// The number of the owner to whom the blocks belong.
    owner: i64,
    blocks: BTreeMap<i64, HeldBlock>,
    /// Bytes of the blocks.
    bytes: usize,
}

struct HeldBlock {
    /// The random number of the change that wrote it.
    changed: i64,
    block: Block,
}

impl HeldVectors {
    fn remove(&mut self, block: i64) {
        self.bytes -= self.blocks.remove(&block).map_or(0, |held| held.block.bytes());
    }
}

impl cache::Held for Held {
    fn bytes(&self) -> usize {
        self.read().bytes + self.shelf.bytes()
    }
}

impl Held {
    /// Waits until no other task reads blocks.
    pub(super) async fn turn(&self) -> OwnedMutexGuard<()> {
        Arc::clone(&self.turn).lock_owned().await
    }

    /// Returns whether the cache is at this state.
    pub(super) fn is_at(&self, stamp: Stamp) -> bool {
        self.read().stamp == Some(stamp)
    }

    /// Returns about `most` of the nearest items to a checked query, whatever its filter says; none if this is another state
    /// than `wanted`.
    pub(super) async fn nearest(
        self: &Arc<Self>,
        wanted: Stamp,
        query: &VectorQuery,
        most: usize,
    ) -> Result<Option<Near>> {
        if self.read().bytes <= LARGE {
            return Ok(self.find(wanted, query, most));
        }
        let (held, query) = (Arc::clone(self), query.clone());
        let search = tokio::task::spawn_blocking(move || held.find(wanted, &query, most));
        search.await.map_err(|_| lost("search vectors"))
    }

    fn find(&self, wanted: Stamp, query: &VectorQuery, most: usize) -> Option<Near> {
        let state = self.read();
        if state.stamp != Some(wanted) {
            return None;
        }
        let Some(sought) = Sought::of(&query.vector) else { return Some(Near::default()) };
        let blocks: Vec<&Block> = state.blocks.values().map(|held| &held.block).collect();
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        let share = blocks.len().div_ceil((state.bytes / SHARE).clamp(1, cores)).max(1);
        let scan = |blocks: &[&Block]| {
            let mut nearest = Nearest::new(query, most);
            blocks.iter().for_each(|block| nearest.offer(block, &sought));
            nearest
        };
        let mut shares = blocks.chunks(share);
        let mine = shares.next().unwrap_or_default();
        std::thread::scope(|threads| {
            let others: Vec<_> = shares.map(|blocks| threads.spawn(move || scan(blocks))).collect();
            let mut nearest = scan(mine);
            for other in others {
                nearest.join(other.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)));
            }
            Some(nearest.finish())
        })
    }

    /// Begins a change to the state `next`, whose blocks are `present`: drops blocks that are not part of it, and returns
    /// those to be added. Until the change ends, nothing is found here.
    pub(super) fn begin(&self, next: Stamp, present: &[(i64, i64)]) -> Vec<(i64, i64)> {
        let mut state = self.write();
        self.shelf.clear();
        state.stamp = None;
        if state.owner != next.owner {
            *state = HeldVectors { owner: next.owner, ..HeldVectors::default() };
        }
        let changes: BTreeMap<i64, i64> = present.iter().copied().collect();
        let is_gone = |(number, held): &(&i64, &HeldBlock)| changes.get(number) != Some(&held.changed);
        let gone: Vec<i64> = state.blocks.iter().filter(is_gone).map(|(number, _)| *number).collect();
        gone.into_iter().for_each(|block| state.remove(block));
        present.iter().filter(|(block, _)| !state.blocks.contains_key(block)).copied().collect()
    }

    #[cfg(test)]
    pub(super) fn items(&self) -> usize {
        self.read().blocks.values().map(|held| held.block.heads.len()).sum()
    }

    /// Adds a block of the owner's number, as the change `changed` wrote it.
    pub(super) fn add(&self, (number, changed): (i64, i64), block: Block) {
        let mut state = self.write();
        state.remove(number);
        state.bytes += block.bytes();
        state.blocks.insert(number, HeldBlock { changed, block });
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
