//! Stores in this process, gone when it ends.

use std::sync::Arc;

use memory_core::reference::{MemCache, MemChat, MemRecords, MemText, MemVectors};
use memory_core::{SystemClock, Truth};

use super::{Opened, Wanted};

pub(super) fn open(wanted: &Wanted<'_>) -> Opened {
    let mut opened = Opened::default();
    if wanted.truth {
        opened.chat = Some(Truth::chat(Arc::new(MemChat::default())));
        opened.records = Some(Truth::records(Arc::new(MemRecords::default())));
    }
    if let Some(analysis) = wanted.analysis {
        opened.text = Some(Arc::new(MemText::new(analysis.name())));
    }
    if let Some(space) = wanted.space {
        opened.vectors = Some(Arc::new(MemVectors::new(space.clone())));
    }
    if wanted.cache {
        opened.cache = Some(Arc::new(MemCache::new(Arc::new(SystemClock))));
    }
    opened
}
