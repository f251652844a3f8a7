//! The handle of a whole memory. It has no data methods: data belongs to owners.

use std::time::Duration;

use futures_util::future::join_all;
use tokio::time::timeout;

use crate::analysis::Analysis;
use crate::error::Result;
use crate::limits::Limits;
use crate::scope::Scope;
use crate::store::chat::ChatStore;
use crate::store::records::RecordStore;
use crate::store::truth::Truth;
use crate::store::upkeep::{Backlog, IndexName};
use crate::stores::{Disabled, StoreStatus, Stores};
use crate::time::Timestamp;

use super::builder::MemoryBuilder;
use super::defaults::Defaults;
use super::handle::Memory;
use super::inner::Inner;
use super::upkeep::{STEP, UpkeepReport};

/// How long closing waits for what is queued.
const FLUSH: Duration = Duration::from_secs(5);

/// How far an index follows truth.
#[derive(Clone, Debug)]
pub struct IndexStatus {
    /// The index.
    pub name: IndexName,
    /// How far it is behind: for all owners, or for the owner whose handle was asked.
    pub backlog: Result<Backlog>,
    /// Whether everything stored before the index was enlisted is noted for it. If not, the backlog still grows.
    pub is_noted: bool,
    /// Items given up ([`GivenUp`](super::GivenUp)) since the memory was built, although their notes were carried out. Counts
    /// at most ten thousand pairs of owner and index.
    pub given_up: u64,
}

/// The state of a memory's stores and indexes.
#[derive(Clone, Debug)]
pub struct Status {
    /// Its stores.
    pub stores: Vec<StoreStatus>,
    /// Its indexes, and how far the finding of facts is behind.
    pub indexes: Vec<IndexStatus>,
    /// The journal before its conversations; none if there is none.
    pub journal: Option<JournalStatus>,
    /// What is switched off by its settings, and is done without.
    pub disabled: Vec<Disabled>,
}

/// The state of a journal before conversations: what it holds of all owners, or of the owner whose handle was asked.
#[derive(Clone, Debug)]
pub struct JournalStatus {
    /// How many messages wait for the store.
    pub waiting: usize,
    /// How many bytes these messages have.
    pub bytes: u64,
    /// How many were refused and set aside.
    pub refused: Result<usize>,
}

impl Memory {
    /// Begins to build a memory over its truth stores.
    pub fn builder(chat: Truth<dyn ChatStore>, records: Truth<dyn RecordStore>) -> MemoryBuilder {
        MemoryBuilder::over(Stores { chat: Some(chat), records: Some(records), ..Stores::default() })
    }

    /// Returns how this memory turns text into terms: what excerpts of hits are made with
    /// ([`Analysis::excerpt`]).
    pub fn analysis(&self) -> &Analysis {
        &self.inner.analysis
    }

    /// Returns the present time by the memory's clock, for new messages.
    pub fn now(&self) -> Timestamp {
        self.inner.clock.now()
    }

    /// Returns the limits of sizes, such as of a query or of the sources of a record.
    pub fn limits(&self) -> &Limits {
        &self.inner.limits
    }

    /// Returns what calls have that say nothing else.
    ///
    /// ```
    /// # async fn example(memory: &memory_core::engine::Memory, ada: &memory_core::engine::Scoped) -> memory_core::Result<()> {
    /// let found = ada.search(&memory.defaults().search("my dentist")).await?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn defaults(&self) -> &Defaults {
        &self.inner.defaults
    }

    /// Returns the state of the stores and indexes, which are asked at once.
    pub async fn status(&self) -> Status {
        let indexes = self.inner.status_of_indexes(
            |name| async move { self.inner.backlog(&name).await },
            |name| self.inner.given_up.of_all(name),
        );
        let (stores, indexes, journal) = tokio::join!(self.inner.stores.status(), indexes, self.inner.journal_status());
        Status { stores, indexes, journal, disabled: self.inner.stores.disabled.clone() }
    }

    /// Sends the messages that wait in the journal to the store, for at most `within`, and returns how many are left.
    /// These stay in the journal, and the next process that opens it sends them. Returns 0 without a journal.
    ///
    /// ```
    /// # async fn example(memory: &memory_core::engine::Memory) -> memory_core::Result<()> {
    /// use std::time::Duration;
    ///
    /// let left = memory.flush(Duration::from_secs(5)).await;
    /// assert_eq!(left, 0, "the store is away");
    /// # Ok(())
    /// # }
    /// ```
    #[doc(alias = "replay")]
    pub async fn flush(&self, within: Duration) -> usize {
        match &self.inner.behind {
            Some(behind) => behind.drain(within).await,
            None => 0,
        }
    }

    /// Sends what waits in the journal, for as long as `within`, and closes the memory ([`Memory::close`]). Returns how many messages
    /// stay in the journal, those among them that were appended meanwhile.
    ///
    /// # Errors
    /// The first failure of a store to close.
    pub async fn shutdown(&self, within: Duration) -> Result<usize> {
        self.flush(within).await;
        if let Some(behind) = &self.inner.behind {
            behind.stop().await;
        }
        self.finish().await?;
        // Now, and not before: until the stores were closed, appends went on.
        Ok(self.inner.behind.as_ref().map_or(0, |behind| behind.waiting()))
    }

    /// Closes the memory: lets the upkeep pass under way end its present step, writes down which records were returned, and
    /// closes the stores. A closed SQLite file stands alone, with no log beside it. What waits in a journal is sent for up to five
    /// seconds, and stays there if that is too short: [`Memory::shutdown`] lets you choose.
    ///
    /// Without it, nothing acknowledged is lost. Stop an upkeep task first, so that it does not open the stores again. May be
    /// repeated. Every store is closed, even if others fail. Always ends: a step of upkeep has ten seconds, after which it is
    /// cut off and its notes stay pending; writing down has ten seconds, and each store has twenty.
    ///
    /// # Errors
    /// The first failure of a store.
    pub async fn close(&self) -> Result<()> {
        self.shutdown(FLUSH).await.map(drop)
    }

    async fn finish(&self) -> Result<()> {
        let inner = &self.inner;
        let _upkeep_has_ended = inner.end_upkeep(STEP).await;
        let mut report = UpkeepReport::default();
        // Accesses are hints, and not worth a longer wait.
        let _ = timeout(STEP, inner.write_accesses(&mut report)).await;
        inner.stores.close().await
    }
}

impl Inner {
    /// Returns the state of the journal.
    async fn journal_status(&self) -> Option<JournalStatus> {
        let behind = self.behind.as_ref()?;
        Some(JournalStatus {
            waiting: behind.waiting(),
            bytes: behind.waiting_bytes(),
            refused: behind.refused_count(None).await,
        })
    }

    /// Returns the state of each index. Truth is asked once for all indexes whether everything is noted.
    async fn status_of_indexes<F: Future<Output = Result<Backlog>>>(
        &self,
        backlog: impl Fn(IndexName) -> F,
        given_up: impl Fn(&IndexName) -> u64,
    ) -> Vec<IndexStatus> {
        let of_facts = self.extraction.iter().filter(|extraction| !extraction.is_retired());
        let names = self.indexes.iter().map(|index| &index.name).chain(of_facts.map(|extraction| &extraction.name));
        let names: Vec<IndexName> = names.cloned().collect();
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

    /// Returns how far each index is behind for one owner.
    pub(super) async fn indexes_of(&self, scope: &Scope) -> Vec<IndexStatus> {
        self.status_of_indexes(
            |name| async move { self.backlog_of(scope, &name).await },
            |name| self.given_up.of(scope, name),
        )
        .await
    }
}
