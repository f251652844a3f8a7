//! The open stores that a memory is made of. Whoever adds a part adds it here.

use std::sync::Arc;
use std::time::Duration;

use futures_util::future::join_all;
use tokio::time::timeout;

use crate::error::{Error, Result};
use crate::layer::{Guard, GuardPolicy, Guarded, Metered, WriteBehindPolicy};
use crate::model::Embedder;
use crate::store::blackboard::Blackboard;
use crate::store::cache::Cache;
use crate::store::chat::ChatStore;
use crate::store::journal::Journal;
use crate::store::records::RecordStore;
use crate::store::text::TextStore;
use crate::store::truth::Truth;
use crate::store::vectors::VectorStore;
use crate::store::{Health, Store};
use crate::time::Clock;
use crate::working::WorkingTier;

/// How long a store may take to close.
const CLOSING: Duration = Duration::from_secs(20);

/// Open stores, each under the part that it plays. A memory needs conversations; the other parts may be missing.
///
/// ```
/// # async fn example() -> memory_core::Result<()> {
/// use std::sync::Arc;
/// use memory_core::reference::MemChat;
/// use memory_core::{Stores, Truth};
///
/// let chat = Truth::chat(Arc::new(MemChat::default()));
/// let stores = Stores { chat: Some(chat), ..Stores::default() };
/// assert_eq!(stores.parts().len(), 1);
/// stores.close().await
/// # }
/// ```
#[derive(Clone, Debug, Default)]
pub struct Stores {
    /// Conversations.
    pub chat: Option<Truth<dyn ChatStore>>,
    /// Records; none where the truth holds conversations alone.
    pub records: Option<Truth<dyn RecordStore>>,
    /// The index of words.
    pub text: Option<Arc<dyn TextStore>>,
    /// The indexes of meaning, each of another space, and who makes their vectors. The first one answers.
    pub vectors: Vec<(Arc<dyn VectorStore>, Arc<dyn Embedder>)>,
    /// The cache.
    pub cache: Option<Arc<dyn Cache>>,
    /// The boards that agents share. A memory without a store for them has boards in this process.
    pub blackboard: Option<Arc<dyn Blackboard>>,
    /// The notes of the working tier, in this process. A memory makes one if none is given.
    pub working: Option<Arc<WorkingTier>>,
    /// The journal before conversations. The memory that is built of these stores sends what waits in it.
    pub journal: Option<Arc<dyn Journal>>,
    /// When what waits in the journal is sent.
    pub behind: WriteBehindPolicy,
    /// What could not be opened, and is done without.
    pub away: Vec<Away>,
    /// What is switched off by its settings, and is done without.
    pub disabled: Vec<Disabled>,
}

/// A server of an index or a cache that did not answer: its stores are there, and connect when they are needed. Or a place that
/// cannot hold the vectors of the default embedder: there is no store for them then, and the error is [`Error::Unsupported`].
#[derive(Clone, Debug)]
pub struct Away {
    /// The backend's name.
    pub backend: &'static str,
    /// Why it could not be opened.
    pub why: Error,
}

/// A part whose place is switched off by its settings, such as `elastic:` where no host is named: there is no store for it. The
/// memory's status names it, and so does the receipt of every search that does without it.
#[derive(Clone, Debug)]
pub struct Disabled {
    /// What it would be used for: `text` or `vectors`.
    pub part: &'static str,
    /// The backend's name.
    pub backend: &'static str,
    /// What switches it off.
    pub why: Error,
}

/// How a store is.
#[derive(Clone, Debug)]
pub struct StoreStatus {
    /// What it is used for: `chat`, `records`, `text`, `vectors`, `cache`, `board` or `working`.
    pub part: &'static str,
    /// The backend's name.
    pub backend: &'static str,
    /// Its health, or why it has none.
    pub health: Result<Health>,
}

impl Stores {
    /// Returns the conversations.
    ///
    /// # Errors
    /// `Invalid` if no store holds them.
    pub fn chat(&self) -> Result<&Truth<dyn ChatStore>> {
        self.chat.as_ref().ok_or_else(|| Error::invalid("there is no store for conversations"))
    }

    /// Returns each store with its part's name, truth first.
    pub fn parts(&self) -> Vec<(&'static str, Arc<dyn Store>)> {
        let Self { chat, records, text, vectors, cache, blackboard, working, journal: _, behind: _, .. } = self;
        let mut parts: Vec<(&'static str, Arc<dyn Store>)> = Vec::new();
        parts.extend(chat.iter().map(|chat| ("chat", chat.store().clone() as _)));
        parts.extend(records.iter().map(|records| ("records", records.store().clone() as _)));
        parts.extend(text.iter().map(|text| ("text", text.clone() as _)));
        parts.extend(vectors.iter().map(|(vectors, _)| ("vectors", vectors.clone() as _)));
        parts.extend(cache.iter().map(|cache| ("cache", cache.clone() as _)));
        parts.extend(blackboard.iter().map(|board| ("board", board.clone() as _)));
        parts.extend(working.iter().map(|working| ("working", working.clone() as _)));
        parts
    }

    /// Returns these stores and, for parts that are missing here, those of `other`; all indexes of meaning, and all servers that
    /// are away and parts that are switched off, of both.
    #[must_use]
    pub fn or(mut self, other: Self) -> Self {
        self.vectors.extend(other.vectors);
        self.away.extend(other.away);
        self.disabled.extend(other.disabled);
        Self {
            chat: self.chat.or(other.chat),
            records: self.records.or(other.records),
            text: self.text.or(other.text),
            vectors: self.vectors,
            cache: self.cache.or(other.cache),
            blackboard: self.blackboard.or(other.blackboard),
            working: self.working.or(other.working),
            behind: if self.journal.is_some() { self.behind } else { other.behind },
            journal: self.journal.or(other.journal),
            away: self.away,
            disabled: self.disabled,
        }
    }

    /// Puts a guard before each store except the cache, which the memory guards itself. A truth store and its upkeep share a
    /// guard. Stores in this process need none, and the working tier gets none.
    #[must_use]
    pub fn guarded(self, policy: &GuardPolicy, clock: &Arc<dyn Clock>) -> Self {
        let guard = |backend| Guard::new(backend, policy.clone(), Arc::clone(clock));
        let Self { chat, records, text, vectors, cache, blackboard, working, journal, behind, away, disabled } = self;
        let vectors = vectors.into_iter().map(|(store, embedder)| {
            let guard = guard(store.backend());
            (Arc::new(Guarded::new(store, guard)) as Arc<dyn VectorStore>, embedder)
        });
        Self {
            chat: chat.map(|chat| guard(chat.store().backend()).chat(chat)),
            records: records.map(|records| guard(records.store().backend()).records(records)),
            text: text.map(|store| {
                let guard = guard(store.backend());
                Arc::new(Guarded::new(store, guard)) as Arc<dyn TextStore>
            }),
            vectors: vectors.collect(),
            cache,
            blackboard: blackboard.map(|store| {
                let guard = guard(store.backend());
                Arc::new(Guarded::new(store, guard)) as Arc<dyn Blackboard>
            }),
            working,
            // A file at hand.
            journal,
            behind,
            away,
            disabled,
        }
    }

    /// Counts the calls of each store except the cache and the board, which the memory counts itself, and the working tier, which is
    /// no more than a table of this process.
    #[must_use]
    pub(crate) fn metered(self) -> Self {
        let vectors = self.vectors.into_iter();
        Self {
            chat: self.chat.map(Metered::chat),
            records: self.records.map(Metered::records),
            text: self.text.map(|store| Metered::of("text", store) as _),
            vectors: vectors.map(|(store, embedder)| (Metered::of("vectors", store) as _, embedder)).collect(),
            cache: self.cache,
            blackboard: self.blackboard,
            working: self.working,
            journal: self.journal.map(|journal| Metered::new("journal", "journal", journal) as _),
            behind: self.behind,
            away: self.away,
            disabled: self.disabled,
        }
    }

    /// Returns how the stores are, asked together.
    pub async fn status(&self) -> Vec<StoreStatus> {
        let asked = self.parts().into_iter().map(|(part, store)| async move {
            StoreStatus { part, backend: store.backend(), health: store.ping().await }
        });
        join_all(asked).await
    }

    /// Closes the stores. Each has twenty seconds.
    ///
    /// # Errors
    /// The first failure of a store; all are closed whatever the others do.
    pub async fn close(&self) -> Result<()> {
        let mut outcome = Ok(());
        for (_, store) in self.parts() {
            let late = |_| Error::timed_out(store.backend(), "close in time");
            outcome = outcome.and(timeout(CLOSING, store.close()).await.map_err(late).flatten());
        }
        if let Some(journal) = &self.journal {
            outcome = outcome.and(journal.close().await);
        }
        outcome
    }
}
