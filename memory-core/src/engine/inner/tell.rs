//! The one place where what happens is logged, counted and told to whoever watches.

use std::panic::{AssertUnwindSafe, catch_unwind};

use crate::engine::event::Event;
use crate::id::Seq;
use crate::scope::Scope;
use crate::store::chat::{Placement, SessionState};
use crate::window::BufferConfig;

use super::Inner;

impl Inner {
    /// Logs and counts an event, and tells whoever watches.
    pub(in crate::engine) fn tell(&self, owner: Option<&Scope>, event: &Event) {
        event.log();
        event.count();
        if let Some(observer) = &self.observer {
            // Who watches must not stop what is watched.
            let _ = catch_unwind(AssertUnwindSafe(|| observer.observe(owner, event)));
        }
    }

    /// Tells how many records, notes or entries of a board had expired and were deleted, if there were any.
    pub(in crate::engine) fn tell_expired(&self, owner: Option<&Scope>, records: u64) {
        if records > 0 {
            self.tell(owner, &Event::Expired { records });
        }
    }

    /// Tells whether messages with so many tokens, placed now, began their conversation, and whether they took its window to its limit.
    pub(in crate::engine) fn tell_growth(
        &self,
        scope: &Scope,
        config: &BufferConfig,
        state: &SessionState,
        placed: impl Iterator<Item = (Placement, u64)> + Clone,
    ) {
        if placed.clone().any(|(placement, _)| placement == Placement::Added(Seq(1))) {
            self.tell(Some(scope), &Event::Begun { session: state.session.clone() });
        }
        if Self::pressure(config, state) < 1.0 {
            return;
        }
        let mut before = state.clone();
        for (_, tokens) in placed.filter(|(placement, _)| matches!(placement, Placement::Added(_))) {
            before.active_messages = before.active_messages.saturating_sub(1);
            before.active_tokens = before.active_tokens.saturating_sub(tokens);
        }
        if Self::pressure(config, &before) < 1.0 {
            let (session, tokens) = (state.session.clone(), state.active_tokens);
            self.tell(Some(scope), &Event::Full { session, tokens });
        }
    }
}
