//! The cache of one kind of item, and the protocol that keeps it from being stale; `cached.rs` explains it.

use std::collections::{HashMap, HashSet};
use std::future::Future;
use std::marker::PhantomData;
use std::sync::Arc;
use std::time::Duration;

use futures_util::future::{join, join_all, try_join, try_join_all};
use tokio::runtime::Handle;
use uuid::Uuid;

use crate::error::{Error, Result};
use crate::scope::{Epoch, Scope};
use crate::store::upkeep::Upkeep;

use super::item::Item;
use super::layer::CacheLayer;
use super::notes::note;

/// A random mark. Items cached under another stamp are never used.
type Stamp = [u8; 16];
/// The value in place of a stamp while a write is under way.
const BUSY: Stamp = [0; 16];
/// How long a stamp lives. One that expires early only causes misses.
const STAMP_TTL: Duration = Duration::from_secs(600);
/// How long a write may still be applied whose answer was lost, or for which nobody waited: longer than any server lets a write
/// run.
const LATE_TTL: Duration = Duration::from_secs(900);
/// The most items that are looked up in the cache; longer lists go straight to truth.
const LOOKUPS: usize = 128;

#[derive(Debug)]
pub(super) struct Shelf<I> {
    layer: Arc<CacheLayer>,
    truth: Arc<dyn Upkeep>,
    kind: PhantomData<fn() -> I>,
}

/// The answer of the cache.
pub(super) struct Looked<I: Item> {
    found: HashMap<I::Id, I>,
    /// The ids to be read from truth.
    pub(super) missing: Vec<I::Id>,
    /// How these may be cached: under the epoch that truth told, and the stamp seen before truth is read. None if not at all.
    fill: Option<(Epoch, Stamp)>,
}

impl<I: Item> Looked<I> {
    fn nothing(ids: &[I::Id]) -> Self {
        Self { found: HashMap::new(), missing: ids.to_vec(), fill: None }
    }
}

impl<I: Item> Shelf<I> {
    pub(super) fn new(layer: Arc<CacheLayer>, truth: Arc<dyn Upkeep>) -> Self {
        Self { layer, truth, kind: PhantomData }
    }

    /// Asks the cache for items and, at once, truth for the owner's epoch.
    pub(super) async fn look(&self, scope: &Scope, ids: &[I::Id]) -> Looked<I> {
        let distinct: HashSet<&I::Id> = ids.iter().collect();
        if ids.len() > LOOKUPS || distinct.len() < ids.len() || ids.is_empty() {
            return Looked::nothing(ids);
        }
        if self.is_doubtful(scope) {
            if let Err(error) = self.renew(scope).await {
                note(error);
            }
            return Looked::nothing(ids);
        }
        let (cache, guess) = (&self.layer.cache, self.layer.guess(scope));
        let keys: Vec<String> = ids.iter().map(|id| I::key(*id)).collect();
        let stamp = join(cache.get(scope, guess, I::STAMP), cache.get(scope, guess, I::LATE));
        let values = join_all(keys.iter().map(|key| cache.get(scope, guess, key)));
        // If the cache is down, truth is not asked before that is known. The guard may admit a single call, as a probe. That
        // call must run to its end, although the others were refused.
        let cached = async {
            let ((stamp, late), values) = join(stamp, values).await;
            let values: Result<Vec<_>> = values.into_iter().collect();
            Ok::<_, ()>((stamp.map_err(note)?, late.map_err(note)?, values.map_err(note)?))
        };
        // If truth does not answer, the read that follows reports it.
        let epoch = async { self.truth.epoch(scope).await.map_err(drop) };
        let Ok(((stamp, late, values), epoch)) = try_join(cached, epoch).await else { return Looked::nothing(ids) };
        if epoch != guess {
            self.layer.learn(scope, epoch);
            return Looked::nothing(ids);
        }
        if late.is_some() {
            return Looked::nothing(ids);
        }
        match stamp.and_then(|stamp| Stamp::try_from(stamp).ok()) {
            Some(BUSY) => Looked::nothing(ids),
            Some(stamp) => of_stamp(ids, values, epoch, stamp),
            None => self.begin(scope, ids, epoch).await,
        }
    }

    /// Puts the owner's first stamp. From then on what is read from truth may be cached.
    async fn begin(&self, scope: &Scope, ids: &[I::Id], epoch: Epoch) -> Looked<I> {
        let stamp = fresh();
        let put = self.layer.cache.put(scope, epoch, I::STAMP, &stamp, STAMP_TTL).await;
        let fill = put.map_err(note).ok().map(|()| (epoch, stamp));
        Looked { fill, ..Looked::nothing(ids) }
    }

    /// Returns whether the cache may hold stale items of the owner, or hold some before a write of this process is over.
    fn is_doubtful(&self, scope: &Scope) -> bool {
        let is_stale = self.layer.doubts.lock().of(scope, I::STAMP).is_some();
        is_stale || self.layer.late.lock().of(scope, I::STAMP).is_some()
    }

    /// Puts a new stamp, so that nothing is used that was cached before. If a write may still be applied, a mark comes first, which
    /// keeps everyone from using the cache until that is over, whatever stamps are put.
    async fn renew(&self, scope: &Scope) -> Result<()> {
        let doubt = self.layer.doubts.lock().of(scope, I::STAMP);
        let late = self.layer.late.lock().of(scope, I::STAMP);
        if let Some(ticket) = late {
            self.mark(scope, I::LATE, &[1], LATE_TTL).await?;
            self.layer.late.lock().settle(scope, I::STAMP, ticket);
        }
        self.mark(scope, I::STAMP, &fresh(), STAMP_TTL).await?;
        if let Some(ticket) = doubt {
            self.layer.doubts.lock().settle(scope, I::STAMP, ticket);
        }
        Ok(())
    }

    /// Caches what was read from truth, and returns all items in the order of `ids`.
    pub(super) async fn keep(&self, scope: &Scope, ids: &[I::Id], looked: Looked<I>, read: Vec<I>) -> Vec<I> {
        if let Some((epoch, stamp)) = looked.fill {
            let puts = read.iter().filter_map(|item| Some((I::key(item.id()), self.value(item, stamp)?)));
            let (cache, ttl) = (&self.layer.cache, self.layer.policy.ttl);
            let puts = puts.map(|(key, value)| async move { cache.put(scope, epoch, &key, &value, ttl).await });
            // What could not be cached is simply read from truth again.
            let _ = try_join_all(puts).await.map_err(note);
        }
        if looked.found.is_empty() {
            return read;
        }
        let mut items = looked.found;
        items.extend(read.into_iter().map(|item| (item.id(), item)));
        ids.iter().filter_map(|id| items.remove(id)).collect()
    }

    fn value(&self, item: &I, stamp: Stamp) -> Option<Vec<u8>> {
        let encoded = item.encode()?;
        (encoded.len() <= self.layer.policy.largest).then(|| [&stamp, encoded.as_slice()].concat())
    }

    /// Makes a change of truth, after which nothing cached before or meanwhile is used.
    pub(super) async fn change<T>(&self, scope: &Scope, write: impl Future<Output = Result<T>> + Send) -> Result<T> {
        let busy = self.mark(scope, I::STAMP, &BUSY, STAMP_TTL).await;
        // Before the write, because the process may end during it.
        busy.unwrap_or_else(|error| self.doubt(scope, error));
        let unfinished = Unfinished { shelf: self, scope, is_over: false };
        let answer = write.await;
        if answer.as_ref().is_err_and(may_come_later) {
            self.layer.late.lock().add(scope, I::STAMP);
        }
        // Also after a failure, because the write may have been applied. If the mark fails, the owner stays busy.
        let renewed = self.renew(scope).await;
        unfinished.end();
        renewed.unwrap_or_else(|error| self.doubt(scope, error));
        answer
    }

    fn doubt(&self, scope: &Scope, error: Error) {
        self.layer.doubts.lock().add(scope, I::STAMP);
        note(error);
    }

    /// Puts a mark under the owner's present epoch, which truth tells.
    async fn mark(&self, scope: &Scope, key: &str, mark: &[u8], ttl: Duration) -> Result<()> {
        let put = |epoch| self.layer.cache.put(scope, epoch, key, mark, ttl);
        let guess = self.layer.guess(scope);
        let ((), epoch) = try_join(put(guess), self.truth.epoch(scope)).await?;
        if epoch == guess {
            return Ok(());
        }
        self.layer.learn(scope, epoch);
        put(epoch).await
    }
}

/// A change that is under way. Dropped before its end, it notes that the write may still be applied: another writer's stamp is no
/// sign that it is over.
struct Unfinished<'s, I: Item> {
    shelf: &'s Shelf<I>,
    scope: &'s Scope,
    is_over: bool,
}

impl<I: Item> Unfinished<'_, I> {
    fn end(mut self) {
        self.is_over = true;
    }
}

impl<I: Item> Drop for Unfinished<'_, I> {
    fn drop(&mut self) {
        if self.is_over {
            return;
        }
        self.shelf.layer.late.lock().add(self.scope, I::STAMP);
        // Other processes learn of it by the mark. Without a runtime this process puts it when it next asks the cache.
        if let Ok(runtime) = Handle::try_current() {
            let (layer, truth) = (Arc::clone(&self.shelf.layer), Arc::clone(&self.shelf.truth));
            let (shelf, scope) = (Shelf::<I>::new(layer, truth), self.scope.clone());
            runtime.spawn(async move {
                if let Err(error) = shelf.renew(&scope).await {
                    note(error);
                }
            });
        }
    }
}

/// Returns whether a write with this error may still be applied, because its answer was lost.
fn may_come_later(error: &Error) -> bool {
    error.is_retryable() && !matches!(error, Error::Overloaded | Error::QueueFull)
}

fn fresh() -> Stamp {
    *Uuid::now_v7().as_bytes()
}

/// Returns the items that carry the owner's stamp, and the ids of the others.
fn of_stamp<I: Item>(ids: &[I::Id], values: Vec<Option<Vec<u8>>>, epoch: Epoch, stamp: Stamp) -> Looked<I> {
    let mut looked = Looked { found: HashMap::new(), missing: Vec::new(), fill: Some((epoch, stamp)) };
    for (id, value) in ids.iter().zip(values) {
        let encoded = value.as_deref().and_then(|value| value.strip_prefix(&stamp));
        match encoded.and_then(I::decode).filter(|item| item.id() == *id) {
            Some(item) => drop(looked.found.insert(*id, item)),
            None => looked.missing.push(*id),
        }
    }
    looked
}
