//! What receipts say to whoever watches the memory.

use crate::engine::event::Event;
use crate::id::SessionId;

use super::{ContextReceipt, PartKind, SearchReceipt};

impl SearchReceipt {
    pub(in crate::engine) fn recalled(&self, hits: usize) -> Event {
        Event::Recalled { hits, degraded: self.degraded.len(), took_micros: self.took_micros }
    }
}

impl ContextReceipt {
    /// Returns how many items were recalled.
    pub(in crate::engine) fn recalled(&self) -> usize {
        self.included.iter().filter(|included| included.part == PartKind::Recalled).count()
    }

    /// Returns the event of a last turn that was too large, if it was.
    pub(in crate::engine) fn oversize(&self, session: &SessionId) -> Option<Event> {
        let (truncated, over) = (self.history.truncated, self.tokens.total.saturating_sub(self.tokens.limit));
        (truncated > 0 || over > 0).then(|| Event::Oversize { session: session.clone(), truncated, over })
    }
}
