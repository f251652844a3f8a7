//! A cache before truth: content that was asked for by id lately, and vectors of queries.
//!
//! Only what truth confirms is served. Every read by id asks truth for the owner's epoch beside the cache, so nothing
//! of an erased owner comes back; and every cached item carries the *stamp* of its owner, a random mark in the cache
//! itself:
//!
//! - A read takes an item only if its stamp is the owner's present one.
//! - What is read from truth is cached with the stamp seen *before* truth was read.
//! - A write marks the owner busy before it commits, and puts a new stamp after: whatever was cached before or
//!   meanwhile is never taken again. While an owner is busy nothing is cached, so a writer that dies in between leaves
//!   an owner without a cache, not a stale one.
//! - A write whose answer did not come may be carried out later. It leaves a mark, for longer than any server takes: as long
//!   as that stands nothing is taken or cached, whoever puts a new stamp.
//!
//! So a put, a forget or an erasure that has returned is seen by every later read, whoever filled the cache and when.
//! Evicted entries and an emptied cache are misses: a missing stamp is replaced by a new one. Where the cache did not take
//! the new stamp after a write, this process takes nothing of that owner until it has put one, however late the cache
//! carries out what it was sent before. Another process that still reaches the cache may see the old content until it
//! has expired there ([`CachePolicy::ttl`], one minute), and so may all if the cache itself falls back to an older copy.
//!
//! What a cache does not answer comes from truth. The receipts name it.

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
pub(crate) use query::embed;
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
