//! Stores in this process, gone when it ends.

use std::sync::Arc;

use memory_core::reference::{MemBlackboard, MemCache, MemChat, MemRecords, MemText, MemVectors};
use memory_core::{Result, Stores, SystemClock, Truth};

use super::kind::{Holds, Kind, Wanted};

pub(super) const KIND: Kind = Kind {
    name: "memory",
    schemes: &["memory"],
    holds: Holds { cache: true, board: true, ..Holds::TRUTH_AND_INDEXES },
    parameters: &[],
    names: &[],
    is_server: false,
    open: Some(|_, wanted| Box::pin(async { open(wanted) })),
};

fn open(wanted: &Wanted<'_>) -> Result<Stores> {
    let mut stores = Stores::default();
    if wanted.truth {
        stores.chat = Some(Truth::chat(Arc::new(MemChat::default())));
        stores.records = Some(Truth::records(Arc::new(MemRecords::default())));
    }
    if let Some(analysis) = wanted.analysis {
        stores.text = Some(Arc::new(MemText::new(analysis.name())));
    }
    for embedder in wanted.embedders {
        stores.vectors.push((Arc::new(MemVectors::new(embedder.space().clone())), Arc::clone(embedder)));
    }
    if wanted.cache {
        stores.cache = Some(Arc::new(MemCache::new(Arc::new(SystemClock))));
    }
    if let Some((capacity, keep)) = wanted.board {
        stores.blackboard = Some(Arc::new(MemBlackboard::new(Arc::new(SystemClock), capacity)?.with_keep(keep)));
    }
    Ok(stores)
}
