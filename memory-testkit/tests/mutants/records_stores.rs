//! Record stores that are whole but for what a [`Break`] changes.

use std::sync::Arc;

use memory_core::Truth;
use memory_core::methods::*;
use memory_core::reference::MemRecords;
use memory_testkit::{Records, broken_store, records};

use super::frame;

memory_core::store_methods!(Store, RecordStore, Upkeep => broken_store { MemRecords {} });

/// Checks that each of the scenarios `by` catches the break.
pub(crate) async fn caught<B: Break + Clone>(broken: B, by: &[&str]) {
    frame::caught(&records::table(), by, move |_| store(broken.clone())).await;
}

/// Returns a store with the break.
pub(crate) fn store<B: Break>(broken: B) -> Records {
    Truth::records(Arc::new(Mutant { inner: MemRecords::default(), broken }))
}
