//! One kind of item in the cache, and the protocol that keeps it true: see the layer's documentation.

use std::collections::{HashMap, HashSet};
use std::future::Future;
use std::marker::PhantomData;
use std::sync::Arc;
use std::time::Duration;

use futures_util::future::{join, join_all, try_join, try_join_all};
use uuid::Uuid;

use crate::error::{Error, Result};
use crate::scope::{Epoch, Scope};
use crate::store::upkeep::Upkeep;

use super::doubts::Ticket;
use super::item::Item;
use super::layer::CacheLayer;
use super::notes::note;

/// A random mark; what was cached under another one is never taken.
type Stamp = [u8; 16];
/// Stands in the place of a stamp while a write is under way.
const BUSY: Stamp = [0; 16];
/// How long a stamp lives. One that expires early makes misses, nothing else.
const STAMP_TTL: Duration = Duration::from_secs(600);
/// How long a write that gave up may take to come after all: longer than any server lets one be under way.
const LATE_TTL: Duration = Duration::from_secs(900);
/// The most items that are looked up one by one; longer lists go to truth at once.
const LOOKUPS: usize = 128;

#[derive(Debug)]
pub(super) struct Shelf<I> {
    layer: Arc<CacheLayer>,
    truth: Arc<dyn Upkeep>,
    kind: PhantomData<fn() -> I>,
}

/// What the cache knew.
pub(super) struct Looked<I: Item> {
    found: HashMap<I::Id, I>,
    /// What has to be read from truth.
    pub(super) missing: Vec<I::Id>,
    /// Where that may be put: the epoch that truth told, and the stamp that stood before truth is read.
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

    /// Asks the cache for items, and truth for the owner's epoch beside it.
    pub(super) async fn look(&self, scope: &Scope, ids: &[I::Id]) -> Looked<I> {
        let distinct: HashSet<&I::Id> = ids.iter().collect();
        if ids.len() > LOOKUPS || distinct.len() < ids.len() || ids.is_empty() {
            return Looked::nothing(ids);
        }
        let doubt = self.layer.doubts().of(scope, I::STAMP);
        if let Some(ticket) = doubt {
            return self.begin_anew(scope, ids, ticket).await;
        }
        let (cache, guess) = (&self.layer.cache, self.layer.guess(scope));
        let keys: Vec<String> = ids.iter().map(|id| I::key(*id)).collect();
        let stamp = join(cache.get(scope, guess, I::STAMP), cache.get(scope, guess, I::LATE));
        let values = join_all(keys.iter().map(|key| cache.get(scope, guess, key)));
        // Where the cache is away, truth is not asked before that is known. The guard may let one call alone through, to
        // see whether the cache is back: it has to come to its end, although the others were refused.
        let cached = async {
            let ((stamp, late), values) = join(stamp, values).await;
            let values: Result<Vec<_>> = values.into_iter().collect();
            Ok::<_, ()>((stamp.map_err(note)?, late.map_err(note)?, values.map_err(note)?))
        };
        // Where truth does not answer, the read that follows tells.
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

    /// Puts the owner's first stamp: from now on what is read from truth may be cached.
    async fn begin(&self, scope: &Scope, ids: &[I::Id], epoch: Epoch) -> Looked<I> {
        let stamp = fresh();
        let put = self.layer.cache.put(scope, epoch, I::STAMP, &stamp, STAMP_TTL).await;
        let fill = put.map_err(note).ok().map(|()| (epoch, stamp));
        Looked { fill, ..Looked::nothing(ids) }
    }

    /// Replaces the stamp that a write could not replace: what is cached under it may be what that write took back.
    async fn begin_anew(&self, scope: &Scope, ids: &[I::Id], ticket: Ticket) -> Looked<I> {
        match self.mark(scope, I::STAMP, &fresh(), STAMP_TTL).await {
            Ok(()) => self.layer.doubts().settle(scope, I::STAMP, ticket),
            Err(error) => note(error),
        }
        Looked::nothing(ids)
    }

    /// Caches what was read from truth, and returns all items in the order of `ids`.
    pub(super) async fn keep(&self, scope: &Scope, ids: &[I::Id], looked: Looked<I>, read: Vec<I>) -> Vec<I> {
        if let Some((epoch, stamp)) = looked.fill {
            let puts = read.iter().filter_map(|item| Some((I::key(item.id()), self.value(item, stamp)?)));
            let (cache, ttl) = (&self.layer.cache, self.layer.policy.ttl);
            let puts = puts.map(|(key, value)| async move { cache.put(scope, epoch, &key, &value, ttl).await });
            // What could not be cached is read from truth again.
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

    /// Makes a change of truth after which nothing cached before or meanwhile is taken.
    pub(super) async fn change<T>(&self, scope: &Scope, write: impl Future<Output = Result<T>> + Send) -> Result<T> {
        let busy = self.mark(scope, I::STAMP, &BUSY, STAMP_TTL).await;
        // At once: whoever waits for the write may go away before its end.
        busy.unwrap_or_else(|error| self.doubt(scope, error));
        let answer = write.await;
        // Also where it failed: it may have been applied. It may even be applied later: then nobody takes anything before that
        // has an end, whoever puts stamps meanwhile. Without that mark the owner stays busy.
        let doubt = self.layer.doubts().of(scope, I::STAMP);
        let marked = async {
            if answer.as_ref().is_err_and(may_come_later) {
                self.mark(scope, I::LATE, &[1], LATE_TTL).await?;
            }
            self.mark(scope, I::STAMP, &fresh(), STAMP_TTL).await
        };
        match (marked.await, doubt) {
            (Ok(()), Some(ticket)) => self.layer.doubts().settle(scope, I::STAMP, ticket),
            (Ok(()), None) => {}
            (Err(error), _) => self.doubt(scope, error),
        }
        answer
    }

    fn doubt(&self, scope: &Scope, error: Error) {
        self.layer.doubts().add(scope, I::STAMP);
        note(error);
    }

    /// Puts a mark under the epoch that truth tells.
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

/// Returns whether a write that failed so may be under way still: its answer did not come.
fn may_come_later(error: &Error) -> bool {
    error.is_retryable() && !matches!(error, Error::Overloaded | Error::QueueFull)
}

fn fresh() -> Stamp {
    *Uuid::now_v7().as_bytes()
}

/// Takes the items that carry the owner's stamp.
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
