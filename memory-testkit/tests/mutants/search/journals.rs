//! Journals that are whole but for what a [`Break`] changes.

use std::sync::Arc;

use memory_core::methods::*;
use memory_core::reference::MemJournal;
use memory_testkit::{Journals, broken_store, journal};

use crate::frame;

memory_core::store_methods!(Journal => broken_store { MemJournal {} });

/// Returns a journal with the break.
pub(crate) fn store<B: Break>(capacity: usize, broken: B) -> Journals {
    Arc::new(Mutant { inner: MemJournal::new(capacity), broken })
}

/// Checks that each of the scenarios `by` catches the break.
pub(crate) async fn caught<B: Break + Clone>(broken: B, by: &[&str]) {
    frame::caught(&journal::table(), by, move |setting| store(setting.capacity, broken.clone())).await;
}
