//! The handle of a whole memory. It has no data methods: data belongs to owners.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use futures_util::future::join_all;
use tokio::sync::Notify;
use tokio::time::timeout;

use crate::analysis::Analysis;
use crate::chat::ChatStore;
use crate::error::{Error, Result};
use crate::id::{RecordId, SessionId};
use crate::layer::CacheLayer;
use crate::limits::Limits;
use crate::model::{Summarizer, TokenCounter};
use crate::record::RecordStore;
use crate::scope::Scope;
use crate::stores::{StoreStatus, Stores};
use crate::text::TextStore;
use crate::time::{Clock, Timestamp};
use crate::truth::Truth;
use crate::upkeep::{Backlog, IndexName};

use super::asked::Asked;
use super::builder::{MemoryBuilder, WindowConfig};
use super::given_up::GivenUpCounts;
use super::index::{Index, Vectors};
use super::scoped::Scoped;
use super::turn::Turn;
use super::upkeep::{STEP, UpkeepReport};

/// A memory: stores, indexes and the rules between them. Cheap to clone; `Send + Sync`.
#[derive(Clone, Debug)]
pub struct Memory {
    pub(super) inner: Arc<Inner>,
}

#[derive(Debug)]
pub(super) struct Inner {
    /// All parts, as they are used.
    pub(super) stores: Stores,
    pub(super) chat: Truth<dyn ChatStore>,
    pub(super) records: Truth<dyn RecordStore>,
    /// Whether what is stored may only be read.
    pub(super) only_reads: bool,
    /// Of several by meaning the first one answers.
    pub(super) indexes: Vec<Index>,
    pub(super) cache: Option<Arc<CacheLayer>>,
    pub(super) bare: Bare,
    /// How long a search waits for an index.
    pub(super) patience: Duration,
    pub(super) analysis: Analysis,
    pub(super) counter: Arc<dyn TokenCounter>,
    pub(super) summarizer: Arc<dyn Summarizer>,
    pub(super) clock: Arc<dyn Clock>,
    pub(super) limits: Limits,
    pub(super) window: WindowConfig,
    pub(super) touch: bool,
    /// Wakes the upkeep task after a write.
    pub(super) changed: Notify,
    /// The turn of the one upkeep pass of this process.
    pub(super) turn: Turn,
    /// Records that were returned and when, to be written down by upkeep.
    pub(super) accessed: Mutex<Vec<(Scope, Vec<RecordId>, Timestamp)>>,
    /// Sessions whose window was too full: a hint, renewed by the next append if it is lost.
    pub(super) full: Mutex<BTreeSet<(Scope, SessionId)>>,
    /// How many items were given up while their notes went on.
    pub(super) given_up: GivenUpCounts,
    /// Budgets that the store does not know of yet.
    pub(super) asked: Asked,
}

/// Truth without the cache before it: read for all that decides a write, and for indexes. What a cache did not hear of is shown
/// late for a while, but nothing is made of it that stays.
#[derive(Debug)]
pub(super) struct Bare {
    pub(super) chat: Arc<dyn ChatStore>,
    pub(super) records: Arc<dyn RecordStore>,
}

/// How far an index is.
#[derive(Clone, Debug)]
pub struct IndexStatus {
    /// The index.
    pub name: IndexName,
    /// What it is behind, for all owners or for the one that was asked.
    pub backlog: Result<Backlog>,
    /// Whether everything stored before the index was enlisted is noted; if not, the backlog still grows.
    pub is_noted: bool,
    /// Items given up since the memory was built, as [`GivenUp`](super::GivenUp) says, whose notes went on without them:
    /// those of ten thousand owners at the most.
    pub given_up: u64,
}

/// How a memory is.
#[derive(Clone, Debug)]
pub struct Status {
    /// Its stores.
    pub stores: Vec<StoreStatus>,
    /// Its indexes.
    pub indexes: Vec<IndexStatus>,
}

impl Memory {
    /// Begins a memory over the stores that hold its truth.
    pub fn builder(chat: Truth<dyn ChatStore>, records: Truth<dyn RecordStore>) -> MemoryBuilder {
        MemoryBuilder::over(Stores { chat: Some(chat), records: Some(records), ..Stores::default() })
    }

    pub(super) fn from_inner(inner: Inner) -> Self {
        Self { inner: Arc::new(inner) }
    }

    /// Returns the handle of one owner: the only way to data.
    ///
    /// A call without an owner does not compile:
    /// ```compile_fail,E0061
    /// # fn f(memory: memory_core::engine::Memory) {
    /// memory.of();
    /// # }
    /// ```
    /// and the memory itself has no data methods:
    /// ```compile_fail,E0599
    /// # async fn f(memory: memory_core::engine::Memory) {
    /// memory.search(memory_core::engine::Search::new("who else is there")).await;
    /// # }
    /// ```
    #[doc(alias = "MemoryManager")]
    pub fn of(&self, scope: &Scope) -> Scoped {
        Scoped::new(self.clone(), scope.clone())
    }

    /// Returns the present moment by the memory's clock, for new messages.
    pub fn now(&self) -> Timestamp {
        self.inner.clock.now()
    }

    /// Returns how the stores and indexes are, asked together.
    pub async fn status(&self) -> Status {
        let indexes = self.inner.status_of_indexes(
            |name| async move { self.inner.backlog(&name).await },
            |name| self.inner.given_up.of_all(name),
        );
        let (stores, indexes) = tokio::join!(self.inner.stores.status(), indexes);
        Status { stores, indexes }
    }

    /// Ends the memory's work: lets the upkeep pass under way end its present step, writes down which records were
    /// returned, and closes the stores. An SQLite file is then whole in itself, with no log beside it.
    ///
    /// Nothing acknowledged is lost without it. Stop an upkeep task first, so that it does not open the stores again. May
    /// be repeated; every store is closed whatever the others do. Always ends: a step of upkeep has ten seconds, after
    /// which it is left where it is and its notes stay, writing down has as many, and each store has twenty.
    ///
    /// # Errors
    /// The first failure of a store.
    pub async fn close(&self) -> Result<()> {
        let inner = &self.inner;
        let _upkeep_has_ended = inner.turn.end(STEP).await;
        let mut report = UpkeepReport::default();
        // Accesses are hints, and not worth a longer wait.
        let _ = timeout(STEP, inner.write_accesses(&mut report)).await;
        inner.stores.close().await
    }
}

/// Returns the error for an index that truth cannot note anything for.
pub(super) fn unbuilt() -> Error {
    let what = "build this index: what is stored was opened for reading alone".to_owned();
    Error::Unsupported { backend: "memory", what }
}

impl Inner {
    /// Returns the index of this name, if it is open here.
    pub(super) fn index(&self, name: &IndexName) -> Option<&Index> {
        self.indexes.iter().find(|index| index.name == *name)
    }

    /// Returns the index by words.
    pub(super) fn text(&self) -> Option<&Arc<dyn TextStore>> {
        self.indexes.iter().find_map(Index::as_text)
    }

    /// Returns the index by meaning that answers.
    pub(super) fn vectors(&self) -> Option<&Vectors> {
        self.indexes.iter().find_map(Index::as_vectors)
    }

    /// Returns whether questions in words are answered by this index: it is not one beside another of its kind.
    pub(super) fn answers(&self, index: &Index) -> bool {
        self.indexes.iter().find(|other| other.part() == index.part()).is_some_and(|first| first.name == index.name)
    }

    /// Returns the indexes that hold nothing of what is stored, or not all, and never will.
    pub(super) fn behind_for_ever(&self) -> impl Iterator<Item = &Index> {
        self.indexes.iter().filter(|index| index.enlistment.is_none())
    }

    pub(super) async fn backlog(&self, index: &IndexName) -> Result<Backlog> {
        if self.behind_for_ever().any(|behind| behind.name == *index) {
            return Err(unbuilt());
        }
        let (chat, records) = (self.chat.upkeep(), self.records.upkeep());
        let (chat, records) = tokio::try_join!(chat.backlog(index), records.backlog(index))?;
        Ok(Backlog { pending: chat.pending + records.pending, dead: chat.dead + records.dead })
    }

    /// Returns how each index is. Truth is asked once, for all of them, whether what it holds is noted.
    async fn status_of_indexes<F: Future<Output = Result<Backlog>>>(
        &self,
        backlog: impl Fn(IndexName) -> F,
        given_up: impl Fn(&IndexName) -> u64,
    ) -> Vec<IndexStatus> {
        let names: Vec<IndexName> = self.indexes.iter().map(|index| index.name.clone()).collect();
        let backlogs = join_all(names.iter().cloned().map(backlog));
        let (backlogs, enlisted) = tokio::join!(backlogs, self.enlisted());
        let is_noted = |name: &IndexName| {
            enlisted.as_ref().is_ok_and(|known| known.iter().all(|index| index.name != *name || index.is_noted))
        };
        let indexes = names.into_iter().zip(backlogs).map(|(name, backlog)| IndexStatus {
            is_noted: is_noted(&name),
            given_up: given_up(&name),
            name,
            backlog,
        });
        indexes.collect()
    }

    pub(super) async fn backlog_of(&self, scope: &Scope, index: &IndexName) -> Result<Backlog> {
        let (chat, records) = (self.chat.upkeep(), self.records.upkeep());
        let (chat, records) = tokio::try_join!(chat.backlog_of(scope, index), records.backlog_of(scope, index))?;
        Ok(Backlog { pending: chat.pending + records.pending, dead: chat.dead + records.dead })
    }

    /// Returns how far each index is behind for one owner.
    pub(super) async fn indexes_of(&self, scope: &Scope) -> Vec<IndexStatus> {
        self.status_of_indexes(
            |name| async move { self.backlog_of(scope, &name).await },
            |name| self.given_up.of(scope, name),
        )
        .await
    }
}
