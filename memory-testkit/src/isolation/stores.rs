//! All stores of one backend, as one subject of scenarios.

use memory_core::store::Health;
use memory_core::{Error, Result};

use crate::bed::{Boards, Caches, Chat, Journals, Records, Subject, Texts, Vectors};
use crate::boxed::Boxed;

/// The stores of one backend, opened over one setting.
#[derive(Clone, Default)]
pub struct Stores {
    /// The conversations.
    pub chat: Option<Chat>,
    /// The records.
    pub records: Option<Records>,
    /// The text index.
    pub text: Option<Texts>,
    /// The vector index.
    pub vectors: Option<Vectors>,
    /// The cache.
    pub cache: Option<Caches>,
    /// The blackboard.
    pub blackboard: Option<Boards>,
    /// The journal.
    pub journal: Option<Journals>,
    /// Whether a memory over the conversations puts a journal before them.
    pub is_behind: bool,
}

impl Stores {
    /// Returns how many there are.
    pub(super) fn count(&self) -> usize {
        let Self { chat, records, text, vectors, cache, blackboard, journal, is_behind: _ } = self;
        let indexes = usize::from(text.is_some()) + usize::from(vectors.is_some());
        let truth = usize::from(chat.is_some()) + usize::from(records.is_some());
        let rest = [cache.is_some(), blackboard.is_some(), journal.is_some()];
        truth + indexes + rest.into_iter().filter(|is_given| *is_given).count()
    }
}

impl Subject for Stores {
    fn health(&self) -> Boxed<'_, Result<Health>> {
        let Self { chat, records, text, vectors, cache, blackboard, journal, is_behind: _ } = self;
        let asked = chat.as_ref().map(Subject::health);
        let asked = asked.or_else(|| records.as_ref().map(Subject::health));
        let asked = asked.or_else(|| text.as_ref().map(Subject::health));
        let asked = asked.or_else(|| vectors.as_ref().map(Subject::health));
        let asked = asked.or_else(|| cache.as_ref().map(Subject::health));
        let asked = asked.or_else(|| blackboard.as_ref().map(Subject::health));
        let asked = asked.or_else(|| journal.as_ref().map(Subject::health));
        asked.unwrap_or_else(|| Box::pin(async { Err(Error::invalid("no store is given")) }))
    }

    fn close(&self) -> Boxed<'_, Result<()>> {
        let Self { chat, records, text, vectors, cache, blackboard, journal, is_behind: _ } = self;
        let truth = [chat.as_ref().map(Subject::close), records.as_ref().map(Subject::close)];
        let indexes = [text.as_ref().map(Subject::close), vectors.as_ref().map(Subject::close)];
        let rest = [cache.as_ref().map(Subject::close), blackboard.as_ref().map(Subject::close)];
        let all = [truth, indexes, rest, [journal.as_ref().map(Subject::close), None]];
        Box::pin(async move {
            for closing in all.into_iter().flatten().flatten() {
                closing.await?;
            }
            Ok(())
        })
    }
}
