//! Blackboards that are whole but for what a [`Break`] changes.

use std::sync::Arc;

use memory_core::methods::*;
use memory_core::reference::MemBlackboard;
use memory_testkit::{Boards, Setting, blackboard, broken_store};

use crate::frame;

memory_core::store_methods!(Store, Blackboard => broken_store {
    MemBlackboard {
        /// Returns the epoch that a call is taken for.
        fn epoch(&self, epoch: Epoch) -> Epoch {
            epoch
        }
    }
});

/// Returns a board with the break.
pub(crate) fn store<B: Break>(setting: Setting, broken: B) -> Boards {
    let inner = MemBlackboard::new(setting.clock, setting.capacity).unwrap_or_else(|_| unreachable!());
    Arc::new(Mutant { inner: inner.with_keep(setting.keep), broken })
}

/// Checks that each of the scenarios `by` catches the break.
pub(crate) async fn caught<B: Break + Clone>(broken: B, by: &[&str]) {
    frame::caught(&blackboard::table(), by, move |setting| store(setting, broken.clone())).await;
}
