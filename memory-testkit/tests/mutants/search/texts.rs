//! Text stores that are whole but for what a [`Break`] changes.

use std::sync::Arc;

use memory_core::methods::*;
use memory_core::reference::MemText;
use memory_testkit::{Texts, broken_store, text};

use crate::frame;

memory_core::store_methods!(Store, TextStore => broken_store { MemText {} });

/// Returns a store with the break.
pub(crate) fn store<B: Break>(broken: B) -> Texts {
    store_of("test-1", broken)
}

/// Returns a store of the terms of `analysis` with the break.
pub(crate) fn store_of<B: Break>(analysis: &str, broken: B) -> Texts {
    Arc::new(Mutant { inner: MemText::new(analysis), broken })
}

/// Checks that each of the scenarios `by` catches the break.
pub(crate) async fn caught<B: Break + Clone>(broken: B, by: &[&str]) {
    frame::caught(&text::table(), by, move |_| store(broken.clone())).await;
}
