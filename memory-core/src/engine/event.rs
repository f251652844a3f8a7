//! What happens in a memory, and whoever watches it.

use std::fmt::Debug;

use crate::extract::FactCounts;
use crate::figures;
use crate::id::{MessageId, SessionId};
use crate::scope::Scope;

/// Something that happened in a memory. It holds numbers and ids, and nothing of what was said.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Event {
    /// A conversation was begun: its first message is stored.
    Begun {
        /// The conversation.
        session: SessionId,
    },
    /// An append took a window to its limit. Upkeep folds its oldest part.
    Full {
        /// The conversation.
        session: SessionId,
        /// How many tokens the window holds.
        tokens: u64,
    },
    /// Something was forgotten, at a call or because it is not kept any longer; or an entry of a board was deleted.
    Forgotten {
        /// How many messages and records, or entries.
        removed: u64,
        /// How many of them were derived from what was to be forgotten.
        derived: u64,
        /// Whether nothing is left anywhere: [`ForgetReceipt::complete`](super::ForgetReceipt::complete).
        complete: bool,
    },
    /// The oldest part of a window, or the middle of its newest turn, was folded behind a summary.
    Folded {
        /// The conversation.
        session: SessionId,
        /// How many messages left the window.
        messages: usize,
        /// Their tokens, and those of summaries merged with them.
        tokens: u64,
    },
    /// A message left its window: behind a summary, without one, or because others took its place. It stays in the log.
    Archived {
        /// The conversation.
        session: SessionId,
        /// The message.
        message: MessageId,
    },
    /// A fold was undone.
    Unfolded {
        /// The conversation.
        session: SessionId,
        /// The summary, which is gone.
        summary: MessageId,
    },
    /// A branch of a conversation was begun.
    Forked {
        /// The branch.
        session: SessionId,
        /// The conversation that it leaves.
        from: SessionId,
    },
    /// The last turn was larger than a context allowed: it was cut, or kept whole, or the call failed.
    Oversize {
        /// The conversation.
        session: SessionId,
        /// How many messages lost their middle.
        truncated: u64,
        /// By how many tokens the context exceeds its budget; where the call failed, by how many at least it would.
        over: u64,
    },
    /// A message that had been queued was refused for good. It is set aside: [`Scoped::refused`](super::Scoped::refused).
    Refused {
        /// The conversation.
        session: SessionId,
        /// The message.
        message: MessageId,
        /// Why, in one clause.
        why: String,
    },
    /// Messages that had been queued were dropped, because their conversation or its owner was erased since.
    Dropped {
        /// The conversation.
        session: SessionId,
        /// How many.
        messages: usize,
    },
    /// What had expired was deleted: records or notes of whichever owners, or entries of one owner's board.
    Expired {
        /// How many records, notes or entries.
        records: u64,
    },
    /// Messages of a conversation, or records, were forgotten because they are not kept any longer.
    Lapsed {
        /// The conversation; none for records.
        session: Option<SessionId>,
        /// How many, with what was derived from them.
        removed: u64,
        /// How many of them were derived.
        derived: u64,
    },
    /// A gate compared what was to be remembered.
    Gated {
        /// Whether it became a new record; else it repeats one.
        is_new: bool,
        /// How new it was, if there was something to compare it with.
        novelty: Option<f32>,
    },
    /// Facts were found in what was said, and carried out; or the answer of the extractor was refused.
    Extracted {
        /// How many.
        facts: usize,
        /// What came of them.
        counts: FactCounts,
    },
    /// A board or the working tier evicted what its owner had there, to make room.
    Evicted {
        /// How many.
        entries: usize,
    },
    /// A board had an entry under the key asked for.
    Hit,
    /// A board had none.
    Miss,
    /// Texts were embedded for an index.
    Embedded {
        /// How many.
        texts: usize,
        /// How long it took, in microseconds.
        took_micros: u64,
    },
    /// A search, a context or a board answered.
    Recalled {
        /// How many items it found.
        hits: usize,
        /// How many parts of the memory did not answer.
        degraded: usize,
        /// How long it took, in microseconds.
        took_micros: u64,
    },
}

/// Watches what happens in a memory, for counters, audits and tests.
///
/// ```
/// use std::sync::atomic::{AtomicU64, Ordering};
///
/// use memory_core::Scope;
/// use memory_core::engine::{Event, Observer};
///
/// #[derive(Debug, Default)]
/// struct Evictions(AtomicU64);
///
/// impl Observer for Evictions {
///     fn observe(&self, _: Option<&Scope>, event: &Event) {
///         if let Event::Archived { .. } = event {
///             self.0.fetch_add(1, Ordering::Relaxed);
///         }
///     }
/// }
/// ```
pub trait Observer: Debug + Send + Sync + 'static {
    /// Receives an event, and the owner that it concerns, if any. The memory waits for it, so it must return at once. A panic is
    /// ignored.
    fn observe(&self, owner: Option<&Scope>, event: &Event);
}

impl Event {
    /// Writes the event to the log, without owners.
    pub(super) fn log(&self) {
        match self {
            Self::Begun { .. } => tracing::info!("a conversation was begun"),
            Self::Full { tokens, .. } => tracing::warn!(tokens, "a window is full"),
            Self::Forgotten { removed, derived, complete } => {
                tracing::info!(removed, derived, complete, "something was forgotten");
            }
            Self::Folded { messages, tokens, .. } => tracing::info!(messages, tokens, "folded a part of a window"),
            Self::Archived { .. } => tracing::debug!("a message left its window"),
            Self::Unfolded { .. } => tracing::info!("a fold was undone"),
            Self::Forked { .. } => tracing::info!("a branch of a conversation was begun"),
            Self::Oversize { truncated, over, .. } => {
                tracing::info!(truncated, over, "a turn was too large for a context");
            }
            Self::Refused { why, .. } => tracing::warn!(why, "a queued message was refused"),
            Self::Dropped { messages, .. } => {
                tracing::info!(messages, "queued messages were dropped with their session");
            }
            Self::Expired { records } => tracing::info!(records, "records, notes or entries expired"),
            Self::Lapsed { removed, derived, .. } => {
                tracing::info!(removed, derived, "forgot what is not kept any longer");
            }
            Self::Gated { is_new, novelty } => tracing::debug!(is_new, novelty, "a gate compared a record"),
            Self::Extracted { facts, counts } => {
                let FactCounts { added, confirmed, changed, retracted, refused } = *counts;
                tracing::info!(facts, added, confirmed, changed, retracted, refused, "looked for facts");
            }
            Self::Evicted { entries } => tracing::debug!(entries, "entries or notes made room for others"),
            Self::Hit => tracing::debug!("a board had an entry"),
            Self::Miss => tracing::debug!("a board had no entry"),
            Self::Embedded { texts, took_micros } => tracing::debug!(texts, took_micros, "embedded texts"),
            Self::Recalled { hits, degraded, took_micros } => {
                tracing::debug!(hits, degraded, took_micros, "answered a question");
            }
        }
    }

    /// Counts the event, without owners and ids.
    pub(super) fn count(&self) {
        let count = |number: &usize| *number as u64;
        let (name, items, took) = match self {
            Self::Begun { .. } => ("begun", 1, None),
            Self::Full { .. } => ("full", 1, None),
            Self::Forgotten { removed, .. } => ("forgotten", *removed, None),
            Self::Folded { messages, .. } => ("folded", count(messages), None),
            Self::Archived { .. } => ("archived", 1, None),
            Self::Unfolded { .. } => ("unfolded", 1, None),
            Self::Forked { .. } => ("forked", 1, None),
            Self::Oversize { truncated, .. } => ("oversize", *truncated, None),
            Self::Refused { .. } => ("refused", 1, None),
            Self::Dropped { messages, .. } => ("dropped", count(messages), None),
            Self::Expired { records } => ("expired", *records, None),
            Self::Lapsed { removed, .. } => ("lapsed", *removed, None),
            Self::Gated { is_new, .. } => ("gated", u64::from(*is_new), None),
            Self::Extracted { facts, .. } => ("extracted", count(facts), None),
            Self::Evicted { entries } => ("evicted", count(entries), None),
            Self::Hit => ("hit", 1, None),
            Self::Miss => ("miss", 1, None),
            Self::Embedded { texts, took_micros } => ("embedded", count(texts), Some(*took_micros)),
            Self::Recalled { hits, degraded: 0, took_micros } => ("recalled", count(hits), Some(*took_micros)),
            Self::Recalled { hits, took_micros, .. } => ("recalled_in_part", count(hits), Some(*took_micros)),
        };
        figures::event(name, items, took);
    }
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, Mutex};

    use tracing::span::{Attributes, Id, Record};
    use tracing::{Level, Metadata, Subscriber};

    use super::*;

    /// Keeps the levels of what is logged.
    struct Levels(Arc<Mutex<Vec<Level>>>);

    impl Subscriber for Levels {
        fn enabled(&self, _: &Metadata<'_>) -> bool {
            true
        }

        fn new_span(&self, _: &Attributes<'_>) -> Id {
            Id::from_u64(1)
        }

        fn record(&self, _: &Id, _: &Record<'_>) {}

        fn record_follows_from(&self, _: &Id, _: &Id) {}

        fn event(&self, event: &tracing::Event<'_>) {
            self.0.lock().unwrap().push(*event.metadata().level());
        }

        fn enter(&self, _: &Id) {}

        fn exit(&self, _: &Id) {}
    }

    #[test]
    fn s4_14_creation_and_removal_are_info_evictions_and_answers_debug_and_what_is_full_a_warning() {
        let (session, message) = (SessionId::new("talk").unwrap(), MessageId::fresh());
        let told = [
            (Event::Begun { session: session.clone() }, Level::INFO),
            (Event::Forgotten { removed: 1, derived: 0, complete: true }, Level::INFO),
            (Event::Folded { session: session.clone(), messages: 2, tokens: 9 }, Level::INFO),
            (Event::Archived { session: session.clone(), message }, Level::DEBUG),
            (Event::Evicted { entries: 1 }, Level::DEBUG),
            (Event::Hit, Level::DEBUG),
            (Event::Miss, Level::DEBUG),
            (Event::Embedded { texts: 1, took_micros: 1 }, Level::DEBUG),
            (Event::Recalled { hits: 1, degraded: 0, took_micros: 1 }, Level::DEBUG),
            (Event::Full { session, tokens: 9 }, Level::WARN),
        ];
        let levels = Arc::default();
        tracing::subscriber::with_default(Levels(Arc::clone(&levels)), || {
            told.iter().for_each(|(event, _)| event.log());
        });
        let wanted: Vec<Level> = told.iter().map(|(_, level)| *level).collect();
        assert_eq!(*levels.lock().unwrap(), wanted);
    }
}
