//! A cache before truth: content that was recently read by id, and vectors of queries.
//!
//! Every read by id asks the cache for the items and truth for the owner's epoch, at once, so nothing of an erased owner is
//! served. And every cached item carries the *stamp* of its owner, a random mark that the cache holds too:
//!
//! - A read uses a cached item only if its stamp is the owner's present one.
//! - What is read from truth is cached with the stamp seen *before* truth was read.
//! - A write marks the owner busy before it commits, and puts a new stamp after it. So nothing that was cached before or
//!   meanwhile is ever used again. While an owner is busy nothing is cached, so a writer that dies in between leaves
//!   an owner without a cache, not with a stale one, unless another writer puts its stamp.
//! - A write whose answer was lost, or whose caller went away, may still be applied later. It leaves a mark, which lives longer
//!   than any server's write. While the mark is there nothing of the owner is used or cached, whatever stamps are put. Until it is
//!   put, this process uses nothing of the owner.
//! - A forget puts a new stamp of the records before its last look at them, although that changes none: what an earlier call
//!   deleted is not served after it.
//!
//! So every read sees a put, a forget or an erasure that returned before, whoever filled the cache and when. Evicted entries
//! and an emptied cache are misses; a missing stamp is replaced by a new one. If the cache did not take the new stamp after a
//! write, this process uses nothing of that owner until it has put one, even if the cache applies earlier requests late.
//! Three cases remain, each until the old content has expired ([`CachePolicy::ttl`], one minute): another process that still
//! reaches the cache then may see it, and all may if the cache itself falls back to an older copy, or if a process ends during a
//! write of an owner of whom another writes at the same time.
//!
//! If the cache does not answer, truth does, and receipts name the failure.

mod doubts;
mod item;
mod layer;
mod notes;
mod query;
mod shelf;
mod stores;

use std::sync::Arc;

use crate::message::StoredMessage;
use crate::record::StoredRecord;
use crate::store::chat::ChatStore;
use crate::store::records::RecordStore;
use crate::store::truth::Truth;

pub use layer::{CacheLayer, CachePolicy};
pub(crate) use notes::noting;
use shelf::Shelf;
use stores::Cached;

impl CacheLayer {
    /// Puts the cache before a conversation store.
    pub fn chat(self: &Arc<Self>, truth: Truth<dyn ChatStore>) -> Truth<dyn ChatStore> {
        let shelf = Shelf::<StoredMessage>::new(Arc::clone(self), Arc::clone(truth.upkeep()));
        truth.layered(|inner| Arc::new(Cached::new(inner, shelf)))
    }

    /// Puts the cache before a record store.
    pub fn records(self: &Arc<Self>, truth: Truth<dyn RecordStore>) -> Truth<dyn RecordStore> {
        let shelf = Shelf::<StoredRecord>::new(Arc::clone(self), Arc::clone(truth.upkeep()));
        truth.layered(|inner| Arc::new(Cached::new(inner, shelf)))
    }
}
