//! Events for observers, made from receipts.

use crate::engine::event::Event;
use crate::id::SessionId;

use super::{ContextReceipt, PartKind, SearchReceipt};

impl SearchReceipt {
    /// Returns the event of a search that found so many items.
    pub(in crate::engine) fn event(&self, hits: usize) -> Event {
        Event::Recalled { hits, degraded: self.degraded.len(), took_micros: self.took_micros }
    }
}

impl ContextReceipt {
    /// Returns the event of what was recalled.
    pub(in crate::engine) fn recalled(&self) -> Event {
        let hits = self.included.iter().filter(|included| included.part == PartKind::Recalled).count();
        Event::Recalled { hits, degraded: self.search.degraded.len(), took_micros: self.took_micros }
    }

    /// Returns the events of a context: what was recalled and, if the last turn was too large, that it was.
    pub(in crate::engine) fn events(&self, session: &SessionId) -> impl Iterator<Item = Event> {
        let (truncated, over) = (self.history.truncated, self.tokens.total.saturating_sub(self.tokens.limit));
        let oversize = Event::Oversize { session: session.clone(), truncated, over };
        [self.recalled()].into_iter().chain((truncated > 0 || over > 0).then_some(oversize))
    }
}
