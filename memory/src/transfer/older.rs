//! An older copy of a session in the target, and how it follows the source. It is changed in its place and never removed: a move
//! that ends in between leaves an older copy again, and a session that is empty there was emptied by somebody else.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use memory_core::store::chat::{ChatStore, Compaction, NewMessage, SessionState};
use memory_core::{Error, MessageId, Scope, Seq, SessionId, StoredMessage};

use super::rows::{Interrupted, each_row};

/// Messages that are forgotten in one call.
const FORGOTTEN: usize = 500;

/// Where a row stands in its session, and what became of it.
#[derive(Clone, Copy)]
struct Place {
    id: MessageId,
    seq: Seq,
    has_content: bool,
    archived_by: Option<MessageId>,
}

impl Place {
    fn of(row: &StoredMessage) -> Self {
        Self { id: row.id, seq: row.seq, has_content: row.message.is_some(), archived_by: row.archived_by }
    }

    /// Returns whether it is in the window when these summaries have fallen.
    fn is_open(&self, falling: &HashSet<MessageId>) -> bool {
        self.archived_by.is_none_or(|summary| falling.contains(&summary))
    }
}

/// A session of the source, beside what the target holds of it.
pub(super) struct Pair {
    /// In order: what a summary covers stands before it.
    here: Vec<Place>,
    there: HashMap<MessageId, Place>,
    /// The summaries that the source alone holds, in order.
    summaries: Vec<StoredMessage>,
}

impl Pair {
    pub(super) async fn read(
        here: &dyn ChatStore,
        there: &dyn ChatStore,
        scope: &Scope,
        session: &SessionId,
    ) -> Result<Self, Interrupted> {
        let mut pair = Self { here: Vec::new(), there: HashMap::new(), summaries: Vec::new() };
        let Self { here: places, there: copies, summaries } = &mut pair;
        each_row(there, scope, session, |row| {
            copies.insert(row.id, Place::of(row));
        })
        .await?;
        each_row(here, scope, session, |row| {
            places.push(Place::of(row));
            if row.covers.is_some() && !copies.contains_key(&row.id) {
                summaries.push(row.clone());
            }
        })
        .await?;
        Ok(pair)
    }

    /// Returns whether every row of the target stands in the source at the same place, or is a summary of something that the
    /// source forgot: then the target's session can only be a copy from before the source was summarised further or forgot
    /// something.
    pub(super) fn is_older_copy(&self) -> bool {
        let is_known = |place: &&Place| {
            // What the target forgot stays forgotten.
            let is_same = |copy: &Place| copy.seq == place.seq && (copy.has_content || !place.has_content);
            self.there.get(&place.id).is_some_and(is_same)
        };
        let known: HashSet<MessageId> = self.here.iter().filter(is_known).map(|place| place.id).collect();
        let falling = self.falling();
        self.there.keys().all(|id| known.contains(id) || falling.contains(id))
    }

    /// Returns the summaries of the target that fall when it forgets what the source forgot: those that cover any of it. What they
    /// cover is in the target's window then.
    fn falling(&self) -> HashSet<MessageId> {
        let mut falling = HashSet::new();
        for place in self.here.iter().filter(|place| !place.has_content) {
            let forgotten = self.there.get(&place.id).filter(|copy| copy.has_content);
            let mut next = forgotten.and_then(|copy| copy.archived_by);
            while let Some(summary) = next.filter(|summary| falling.insert(*summary)) {
                next = self.there.get(&summary).and_then(|copy| copy.archived_by);
            }
        }
        falling
    }

    /// Returns the summaries that cover rows which are in the target's window, or come back there. A restore marks no row that is
    /// there, so these are folded there when all that they cover has come.
    pub(super) fn late(&self) -> HashSet<MessageId> {
        let (falling, mut late) = (self.falling(), HashSet::new());
        for place in &self.here {
            let is_open = self.there.get(&place.id).is_some_and(|copy| copy.is_open(&falling));
            if let Some(summary) = place.archived_by
                && (is_open || late.contains(&place.id))
            {
                late.insert(summary);
            }
        }
        late
    }

    /// Forgets in the target, where it is an older copy in the state `there`, what the source forgot, and folds what it folded.
    ///
    /// # Errors
    /// What the store fails with; `Fenced` if the session was deleted meanwhile, `Conflict` if its window was changed.
    pub(super) async fn follow(&self, store: &dyn ChatStore, scope: &Scope, there: &SessionState) -> Result<(), Error> {
        let (falling, mut forgotten) = (self.falling(), Vec::<MessageId>::new());
        let mut originals: HashMap<MessageId, Vec<MessageId>> = HashMap::new();
        for place in &self.here {
            let copy = self.there.get(&place.id);
            match place.archived_by {
                _ if !place.has_content => forgotten.extend(copy.filter(|copy| copy.has_content).map(|copy| copy.id)),
                Some(summary) if copy.is_none_or(|copy| copy.is_open(&falling)) => {
                    originals.entry(summary).or_default().push(place.id);
                }
                _ => {}
            }
        }
        for ids in forgotten.chunks(FORGOTTEN) {
            store.redact(scope, ids).await?;
        }
        for row in &self.summaries {
            let (Some(span), Some(message)) = (row.covers, &row.message) else { continue };
            let summary = NewMessage { message: Arc::clone(message), tokens: row.tokens, counter: row.counter };
            let ids = originals.remove(&row.id).unwrap_or_default();
            let fold = Compaction::Fold { fence: there.fence, span, ids, summary };
            store.compact(scope, &there.session, &fold).await?;
        }
        Ok(())
    }
}
