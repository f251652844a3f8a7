//! Conversation stores that are whole but for what a [`Break`] changes.

use std::sync::Arc;

use memory_core::Truth;
use memory_core::methods::*;
use memory_core::reference::MemChat;
use memory_testkit::{Chat, broken_store, chat};

use super::frame;

memory_core::store_methods!(Store, ChatStore, Upkeep => broken_store { MemChat {} });

/// Checks that each of the scenarios `by` catches the break.
pub(crate) async fn caught<B: Break + Clone>(broken: B, by: &[&str]) {
    frame::caught(&chat::table(), by, move |_| store(broken.clone())).await;
}

/// Returns a store with the break.
pub(crate) fn store<B: Break>(broken: B) -> Chat {
    Truth::chat(Arc::new(Mutant { inner: MemChat::default(), broken }))
}
