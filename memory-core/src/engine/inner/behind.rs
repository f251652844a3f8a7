//! What a memory does with a journal before its conversations.

use std::sync::{Arc, Weak};

use crate::engine::event::Event;
use crate::error::Result;
use crate::id::{ItemId, MessageId, SessionId};
use crate::layer::write_behind::Flushed;
use crate::scope::Scope;
use crate::store::chat::Placement;

use super::unindexed::shortest;
use super::{Inner, Written};

/// How many messages that wait a search looks at, the newest.
const WAITING: usize = 1_000;

impl Inner {
    /// Follows what becomes of queued messages.
    pub(in crate::engine) fn follow_journal(self: &Arc<Self>) {
        let Some(behind) = &self.behind else { return };
        let weak: Weak<Self> = Arc::downgrade(self);
        behind.listen(move |flushed| {
            if let Some(inner) = weak.upgrade() {
                inner.heard(flushed);
            }
        });
    }

    fn heard(&self, flushed: &Flushed) {
        match flushed {
            Flushed::Taken { scope, state, placed } => {
                let session = &state.session;
                let added = placed.iter().filter(|placed| matches!(placed.placement, Placement::Added(_)));
                let written = added.map(|placed| Written {
                    item: ItemId::Message(placed.id),
                    session: Some(session.clone()),
                    version: 0,
                    bytes: placed.bytes,
                });
                self.note_written(scope, &written.collect::<Vec<_>>());
                let settings = self.buffers.of(scope, session);
                self.note_if_full(scope, session, &settings, state);
                let sizes = placed.iter().map(|placed| (placed.placement, placed.tokens));
                self.tell_growth(scope, &settings, state, sizes);
                self.changed.notify_one();
            }
            Flushed::Refused { scope, session, message, why } => {
                let (session, message, why) = (session.clone(), *message, why.clone());
                self.tell(Some(scope), &Event::Refused { session, message, why });
            }
            Flushed::Dropped { scope, session, count } => {
                let (session, messages) = (session.clone(), *count);
                self.tell(Some(scope), &Event::Dropped { session, messages });
            }
        }
    }

    /// Returns the messages of an owner that wait, the newest and of these the shortest; not those of the session `but`.
    pub(in crate::engine) fn waiting_of(&self, scope: &Scope, but: Option<&SessionId>) -> Vec<ItemId> {
        let sized = self.behind.as_ref().map(|behind| behind.waiting_of(scope, but, WAITING)).unwrap_or_default();
        shortest(sized).into_iter().map(ItemId::Message).collect()
    }

    /// Sends messages to truth that wait before it, so that they are there.
    pub(in crate::engine) async fn settle(&self, scope: &Scope, ids: &[MessageId]) -> Result<()> {
        match &self.behind {
            Some(behind) => behind.settle(scope, ids).await,
            None => Ok(()),
        }
    }
}
