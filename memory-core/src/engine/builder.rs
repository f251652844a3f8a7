//! The builder of a [`Memory`](super::Memory): its stores, its models and its settings.

mod bounds;
mod build;

use std::sync::Arc;
use std::time::Duration;

use crate::analysis::Analysis;
use crate::extract::Extractor;
use crate::filter::Filter;
use crate::layer::{CachePolicy, GuardPolicy, WriteBehindPolicy};
use crate::limits::Limits;
use crate::model::{Embedder, Reranker, Summarizer, TokenCounter};
use crate::store::blackboard::Blackboard;
use crate::store::cache::Cache;
use crate::store::journal::Journal;
use crate::store::text::TextStore;
use crate::store::vectors::VectorStore;
use crate::stores::Stores;
use crate::time::{Clock, SystemClock};
use crate::window::{BufferConfig, HeuristicCounter};
use crate::working::WorkingConfig;

use super::defaults::Defaults;
use super::event::Observer;
use super::retention::{Retained, Retention, Retentions};
use super::synopsis::SynopsisConfig;

/// How many vectors are cached by default.
const KEPT_VECTORS: usize = 1_000;
/// How long a search waits for an index by default.
const PATIENCE: Duration = Duration::from_secs(10);

/// Builds a [`Memory`](super::Memory). The truth stores are required. Each index is optional; searches leave out a missing one.
///
/// # Examples
/// ```
/// # async fn example() -> memory_core::Result<()> {
/// use std::sync::Arc;
///
/// use memory_core::engine::Memory;
/// use memory_core::reference::{MemChat, MemRecords, MemText};
/// use memory_core::window::BufferConfig;
/// use memory_core::{Analysis, Truth};
///
/// let chat = Truth::chat(Arc::new(MemChat::default()));
/// let records = Truth::records(Arc::new(MemRecords::default()));
/// let analysis = Analysis::english();
/// let memory = Memory::builder(chat, records)
///     .text(Arc::new(MemText::new(analysis.name())))
///     .analysis(analysis)
///     .buffer(BufferConfig::default().with_limit(8_000))
///     .build()
///     .await?;
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct MemoryBuilder {
    stores: Stores,
    cache: CachePolicy,
    guard: Option<GuardPolicy>,
    patience: Duration,
    embedded: Filter,
    analysis: Analysis,
    counter: Arc<dyn TokenCounter>,
    summarizer: Option<Arc<dyn Summarizer>>,
    reranker: Option<Arc<dyn Reranker>>,
    extractor: Option<Arc<dyn Extractor>>,
    observer: Option<Arc<dyn Observer>>,
    clock: Arc<dyn Clock>,
    limits: Limits,
    defaults: Defaults,
    buffer: BufferConfig,
    touch: bool,
    kept_vectors: usize,
    shares_vectors: bool,
    working: WorkingConfig,
    synopsis: Option<SynopsisConfig>,
    retentions: Retentions,
}

impl MemoryBuilder {
    /// Begins with stores that are open. Without a record store, putting a record fails with `Unsupported`.
    pub fn over(stores: Stores) -> Self {
        Self {
            stores,
            cache: CachePolicy::default(),
            guard: None,
            patience: PATIENCE,
            embedded: Filter::All,
            analysis: Analysis::english(),
            counter: Arc::new(HeuristicCounter),
            summarizer: None,
            reranker: None,
            extractor: None,
            observer: None,
            clock: Arc::new(SystemClock),
            limits: Limits::default(),
            defaults: Defaults::default(),
            buffer: BufferConfig::default(),
            touch: true,
            kept_vectors: KEPT_VECTORS,
            shares_vectors: false,
            working: WorkingConfig::default(),
            synopsis: None,
            retentions: Retentions::default(),
        }
    }

    /// Adds search by words. The store must have been made for the memory's analysis.
    #[must_use]
    pub fn text(mut self, store: Arc<dyn TextStore>) -> Self {
        self.stores.text = Some(store);
        self
    }

    /// Adds search by meaning, and replaces the store and embedder set before. Both must have the same embedding space.
    #[must_use]
    pub fn vectors(mut self, store: Arc<dyn VectorStore>, embedder: Arc<dyn Embedder>) -> Self {
        match self.stores.vectors.first_mut() {
            Some(first) => *first = (store, embedder),
            None => self.stores.vectors.push((store, embedder)),
        }
        self
    }

    /// Adds a vector index of another embedding space beside that of [`MemoryBuilder::vectors`], as for a change of the embedder.
    ///
    /// Upkeep fills it and forgetting empties it. Only a search with a vector of its space asks it
    /// ([`Search::vector`](super::Search::vector)).
    ///
    /// ```
    /// use std::sync::Arc;
    ///
    /// use memory_core::engine::MemoryBuilder;
    /// use memory_core::hashing::HashEmbedder;
    /// use memory_core::model::Embedder as _;
    /// use memory_core::reference::MemVectors;
    ///
    /// # async fn example(builder: MemoryBuilder) -> memory_core::Result<()> {
    /// let (old, new) = (Arc::new(HashEmbedder::new(64)), Arc::new(HashEmbedder::new(128)));
    /// let store = |embedder: &HashEmbedder| Arc::new(MemVectors::new(embedder.space().clone()));
    /// let memory = builder.vectors(store(&old), old.clone()).vectors_beside(store(&new), new.clone()).build().await?;
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn vectors_beside(mut self, store: Arc<dyn VectorStore>, embedder: Arc<dyn Embedder>) -> Self {
        self.stores.vectors.push((store, embedder));
        self
    }

    /// Puts a cache before truth. It holds the content of hits and the vectors of queries for a while.
    ///
    /// The cache serves nothing stale, as long as every process that writes uses it; [`crate::layer::cached`] says how.
    /// If the cache fails, truth answers and the receipt names the failure. The cache has a guard of its own
    /// ([`GuardPolicy::cache`]), so an unreachable cache costs half a second once.
    #[must_use]
    pub fn cache(self, cache: Arc<dyn Cache>) -> Self {
        self.cache_with(cache, CachePolicy::default())
    }

    /// Puts a cache before truth, as [`MemoryBuilder::cache`] does, with the times to live of `policy`.
    #[must_use]
    pub fn cache_with(mut self, cache: Arc<dyn Cache>, policy: CachePolicy) -> Self {
        self.stores.cache = Some(cache);
        self.cache = policy;
        self
    }

    /// Puts a journal before conversations: an append returns once the journal has the messages, and the store gets them
    /// afterwards, in batches ([`crate::layer::write_behind`] says how). While the store is away, appends go on, and contexts
    /// hold what was said meanwhile. Records are not queued: remembering needs its store.
    ///
    /// ```
    /// use std::sync::Arc;
    ///
    /// use memory_core::engine::MemoryBuilder;
    /// use memory_core::reference::MemJournal;
    ///
    /// # async fn example(builder: MemoryBuilder) -> memory_core::Result<()> {
    /// // In this process. `memory_sqlite::SqliteJournal` is durable.
    /// let memory = builder.journal(Arc::new(MemJournal::new(10_000))).build().await?;
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn journal(mut self, journal: Arc<dyn Journal>) -> Self {
        self.stores.journal = Some(journal);
        self
    }

    /// Sets when queued messages go to the store. Default [`WriteBehindPolicy::default`]: 20 messages, 1 MiB or 5 s.
    #[must_use]
    pub fn write_behind(mut self, policy: WriteBehindPolicy) -> Self {
        self.stores.behind = policy;
        self
    }

    /// Sets where the boards of owners are ([`Scoped::blackboard`](super::Scoped::blackboard)). Default in this process, a hundred
    /// entries each: no other process sees them, and they end with this one.
    ///
    /// ```
    /// use std::sync::Arc;
    ///
    /// use memory_core::SystemClock;
    /// use memory_core::engine::MemoryBuilder;
    /// use memory_core::reference::MemBlackboard;
    ///
    /// # async fn example(builder: MemoryBuilder) -> memory_core::Result<()> {
    /// let memory = builder.blackboard(Arc::new(MemBlackboard::new(Arc::new(SystemClock), 500)?)).build().await?;
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn blackboard(mut self, store: Arc<dyn Blackboard>) -> Self {
        self.stores.blackboard = Some(store);
        self
    }

    /// Sets how much the working tier holds ([`Scoped::note`](super::Scoped::note)). Default 64 MiB for all owners together.
    ///
    /// ```
    /// use memory_core::engine::MemoryBuilder;
    /// use memory_core::working::WorkingConfig;
    ///
    /// # async fn example(builder: MemoryBuilder) -> memory_core::Result<()> {
    /// let memory = builder.working(WorkingConfig::default().with_max_bytes(256 << 20)).build().await?;
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn working(mut self, config: WorkingConfig) -> Self {
        self.working = config;
        self
    }

    /// Keeps a synopsis of every owner, with these settings. Default: of those for whom [`Scoped::synopsis`](super::Scoped::synopsis)
    /// was called in this process, with the default settings.
    ///
    /// Contexts show it ([`ContextRequest::synopsis`](super::ContextRequest::synopsis)) from the first use of an owner on. Set
    /// this in every process of a memory: then a record told in one process also makes the synopsis stale in the others.
    ///
    /// ```
    /// use memory_core::engine::{MemoryBuilder, SynopsisConfig};
    ///
    /// # async fn example(builder: MemoryBuilder) -> memory_core::Result<()> {
    /// let memory = builder.synopsis(SynopsisConfig::default()).build().await?;
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn synopsis(mut self, config: SynopsisConfig) -> Self {
        self.synopsis = Some(config);
        self
    }

    /// Puts a guard before each store: deadlines, a few retries, a circuit breaker, and a bound on concurrent calls.
    ///
    /// Each store gets its own guard; a truth store shares one with its upkeep. Default none, which is right for stores
    /// in this process or on its disk.
    #[must_use]
    pub fn guard(mut self, policy: GuardPolicy) -> Self {
        self.guard = Some(policy);
        self
    }

    /// Sets how long a search waits for an index, including the embedding, before it answers without it. Default 10 s.
    #[must_use]
    pub fn patience(mut self, patience: Duration) -> Self {
        self.patience = patience;
        self
    }

    /// Sets which messages and records are embedded. Default all. The others are found by their words only.
    #[must_use]
    pub fn embedded(mut self, what: Filter) -> Self {
        self.embedded = what;
        self
    }

    /// Sets the analysis, which turns text into terms. Default English.
    #[must_use]
    pub fn analysis(mut self, analysis: Analysis) -> Self {
        self.analysis = analysis;
        self
    }

    /// Sets the token counter. Default [`HeuristicCounter`], which never counts fewer tokens than OpenAI's tokenizers.
    /// For a known model, take [`crate::window::ModelProfile::token_counter`].
    ///
    /// The counter may change between runs. Each stored count names its counter; a context recounts the messages that another
    /// counter counted.
    #[must_use]
    pub fn counter(mut self, counter: Arc<dyn TokenCounter>) -> Self {
        self.counter = counter;
        self
    }

    /// Sets the summariser. Default [`ExtractiveSummarizer`](crate::window::ExtractiveSummarizer), which needs no model. It also stands in where another one fails.
    #[must_use]
    pub fn summarizer(mut self, summarizer: Arc<dyn Summarizer>) -> Self {
        self.summarizer = Some(summarizer);
        self
    }

    /// Sets a reranker, which judges the best candidates of each search: twice the limit, at least 32, at most 200.
    /// Default none.
    ///
    /// It has the time that a search has for an index ([`MemoryBuilder::patience`]). If it fails or is late, the order of the
    /// ranking stands, and the receipt says so.
    #[must_use]
    pub fn reranker(mut self, reranker: Arc<dyn Reranker>) -> Self {
        self.reranker = Some(reranker);
        self
    }

    /// Sets the extractor, which finds facts in conversations. Default none. Upkeep gives it every conversation once, also those
    /// stored before. Truth lists it among the indexes, as `facts/` and its name, so it can be retired like one.
    ///
    /// While it fails or is late, it is asked about each stretch of a conversation less and less often, from 16 seconds to 68 minutes, and
    /// no stretch is lost. A stretch is passed over after five answers that were refused, and given up after five panics.
    ///
    /// # Errors
    /// [`MemoryBuilder::build`] fails with `Invalid` for a name that is empty, longer than 200 characters or not printable ASCII.
    #[must_use]
    pub fn extractor(mut self, extractor: Arc<dyn Extractor>) -> Self {
        self.extractor = Some(extractor);
        self
    }

    /// Sets who is told what happens in the memory. Default nobody; what happens is logged in any case.
    #[must_use]
    pub fn observer(mut self, observer: Arc<dyn Observer>) -> Self {
        self.observer = Some(observer);
        self
    }

    /// Sets the clock. Default the machine's.
    #[must_use]
    pub fn clock(mut self, clock: Arc<dyn Clock>) -> Self {
        self.clock = clock;
        self
    }

    /// Sets the buffer of every conversation that has no settings of its own ([`Session::with`](super::Session::with)).
    #[must_use]
    pub fn buffer(mut self, buffer: BufferConfig) -> Self {
        self.buffer = buffer;
        self
    }

    /// Sets a retention, and for whom it holds; if several match, only the narrowest applies. By default everything is kept. Upkeep
    /// forgets the rest and reports it.
    #[must_use]
    pub fn retention(mut self, whose: Retained, retention: Retention) -> Self {
        self.retentions.set(whose, retention);
        self
    }

    /// Sets whether recalled records count as accessed. Default true.
    #[must_use]
    pub fn touch(mut self, touch: bool) -> Self {
        self.touch = touch;
        self
    }

    /// Sets how many vectors each index caches in this process, so that the same text is not embedded again; 0 for none.
    /// Default 1,000.
    ///
    /// A cached vector serves its owner alone, unless owners share them ([`MemoryBuilder::share_vectors`]). Forgetting anything of an owner drops all cached vectors of that owner.
    #[must_use]
    pub fn kept_vectors(mut self, count: usize) -> Self {
        self.kept_vectors = count;
        self
    }

    /// Lets owners share the vectors that are cached in this process ([`MemoryBuilder::kept_vectors`]): a text embedded for one owner
    /// is not embedded again for another. Default off.
    ///
    /// No owner sees what another wrote. But an answer that comes sooner tells that somebody wrote or asked the same, so share only
    /// among owners who may know that. Forgetting anything of an owner then drops all cached vectors.
    ///
    /// ```
    /// # async fn example(builder: memory_core::engine::MemoryBuilder) -> memory_core::Result<()> {
    /// let memory = builder.kept_vectors(10_000).share_vectors().build().await?;
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn share_vectors(mut self) -> Self {
        self.shares_vectors = true;
        self
    }
}
