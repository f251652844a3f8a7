//! The one place where what happens is logged and told to whoever watches.

use std::panic::{AssertUnwindSafe, catch_unwind};

use crate::engine::event::Event;
use crate::scope::Scope;

use super::Inner;

impl Inner {
    /// Logs an event, and tells whoever watches.
    pub(in crate::engine) fn tell(&self, owner: Option<&Scope>, event: &Event) {
        event.log();
        if let Some(observer) = &self.observer {
            // Who watches must not stop what is watched.
            let _ = catch_unwind(AssertUnwindSafe(|| observer.observe(owner, event)));
        }
    }
}
