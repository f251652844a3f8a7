//! Vector stores that are whole but for what a [`Break`] changes.

use std::sync::Arc;

use memory_core::methods::*;
use memory_core::reference::MemVectors;
use memory_testkit::{Vectors, broken_store, vectors};

use crate::frame;

memory_core::store_methods!(Store, VectorStore => broken_store { MemVectors {} });

/// Returns a store with the break.
pub(crate) fn store<B: Break>(space: EmbeddingSpace, broken: B) -> Vectors {
    Arc::new(Mutant { inner: MemVectors::new(space), broken })
}

/// Checks that each of the scenarios `by` catches the break.
pub(crate) async fn caught<B: Break + Clone>(broken: B, by: &[&str]) {
    frame::caught(&vectors::table(), by, move |setting| store(setting.space, broken.clone())).await;
}
