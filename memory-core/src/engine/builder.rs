//! The builder of a [`Memory`]: its stores, its models and its settings.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use crate::analysis::Analysis;
use crate::error::{Error, Result};
use crate::filter::Filter;
use crate::layer::{CacheLayer, CachePolicy, Guard, GuardPolicy, Guarded};
use crate::limits::Limits;
use crate::model::{Embedder, Reranker, Summarizer, TokenCounter};
use crate::reference::{MemBlackboard, NoRecords};
use crate::store::blackboard::Blackboard;
use crate::store::cache::Cache;
use crate::store::text::TextStore;
use crate::store::truth::Truth;
use crate::store::upkeep::Upkeep;
use crate::store::vectors::VectorStore;
use crate::stores::Stores;
use crate::time::{Clock, SystemClock};
use crate::window::{BufferConfig, ExtractiveSummarizer, HeuristicCounter};

use super::event::Observer;
use super::handle::Memory;
use super::inner::{
    Asked, Bare, Boards, Buffers, GivenUpCounts, Index, Inner, KeptVectors, Lapses, Turn, Unindexed, Vectors,
};
use super::retention::{Retained, Retention, Retentions};

/// How many vectors are cached by default.
const KEPT_VECTORS: usize = 1_000;
/// How long a search waits for an index by default.
const PATIENCE: Duration = Duration::from_secs(10);

/// Builds a [`Memory`]. The truth stores are required. Each index is optional; searches leave out a missing one.
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
    observer: Option<Arc<dyn Observer>>,
    clock: Arc<dyn Clock>,
    limits: Limits,
    buffer: BufferConfig,
    touch: bool,
    kept_vectors: usize,
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
            observer: None,
            clock: Arc::new(SystemClock),
            limits: Limits::default(),
            buffer: BufferConfig::default(),
            touch: true,
            kept_vectors: KEPT_VECTORS,
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
    /// let memory = builder.blackboard(Arc::new(MemBlackboard::new(Arc::new(SystemClock), 500))).build().await?;
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn blackboard(mut self, store: Arc<dyn Blackboard>) -> Self {
        self.stores.blackboard = Some(store);
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

    /// Sets the summariser. Default [`ExtractiveSummarizer`], which needs no model. It also stands in where another one fails.
    #[must_use]
    pub fn summarizer(mut self, summarizer: Arc<dyn Summarizer>) -> Self {
        self.summarizer = Some(summarizer);
        self
    }

    /// Sets a reranker, which judges the best candidates of each search, twice its limit but 32 to 200. Default none.
    ///
    /// It has the time that a search has for an index ([`MemoryBuilder::patience`]). If it fails or is late, the order of the
    /// ranking stands, and the receipt says so.
    #[must_use]
    pub fn reranker(mut self, reranker: Arc<dyn Reranker>) -> Self {
        self.reranker = Some(reranker);
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

    /// Sets how large inputs may be.
    #[must_use]
    pub fn limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }

    /// Sets the buffer of every conversation that has no settings of its own ([`Session::with`](super::Session::with)).
    #[must_use]
    pub fn buffer(mut self, buffer: BufferConfig) -> Self {
        self.buffer = buffer;
        self
    }

    /// Sets how long, and how much, is kept, and for whom; the narrowest holds alone. Default everything is kept. Upkeep forgets the
    /// rest, and its report says so.
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
    /// A cached vector serves its owner alone. Forgetting anything of an owner drops all cached vectors of that owner.
    #[must_use]
    pub fn kept_vectors(mut self, count: usize) -> Self {
        self.kept_vectors = count;
        self
    }

    /// Checks that the parts fit together, and enlists the indexes with the truth stores.
    ///
    /// # Errors
    /// `Invalid` without a store for conversations, for a buffer that cannot be ([`BufferConfig::check`]), for a
    /// retention of nothing ([`Retention::check`]), if the text store holds terms of another analysis, or if two vector
    /// indexes have the same embedding space; `SpaceMismatch` if an embedder and its vector store have different ones.
    pub async fn build(mut self) -> Result<Memory> {
        self.buffer.check()?;
        self.retentions.check()?;
        if let Some(policy) = &self.guard {
            self.stores = self.stores.guarded(policy, &self.clock);
        }
        let chat = self.stores.chat()?.clone();
        let none = || Truth::records(Arc::new(NoRecords::beside(chat.clone())));
        let records = self.stores.records.take().unwrap_or_else(none);
        let board = self.stores.blackboard.get_or_insert_with(|| {
            let here = MemBlackboard::new(Arc::clone(&self.clock), MemBlackboard::DEFAULT_CAPACITY);
            Arc::new(here)
        });
        let board = Arc::clone(board);
        let bare = Bare { chat: Arc::clone(chat.store()), records: Arc::clone(records.store()) };
        let cache = self.stores.cache.take().map(|cache| {
            let guard = Guard::new(cache.backend(), GuardPolicy::cache(), Arc::clone(&self.clock));
            CacheLayer::new(Arc::new(Guarded::new(cache, guard)), self.cache.clone())
        });
        let (chat, records) = match &cache {
            Some(cache) => (cache.chat(chat), cache.records(records)),
            None => (chat, records),
        };
        self.stores.cache = cache.as_ref().map(|layer| layer.cache().clone());
        (self.stores.chat, self.stores.records) = (Some(chat.clone()), Some(records.clone()));
        let indexes = self.indexes([chat.upkeep(), records.upkeep()]).await?;
        let only_reads = chat.store().ping().await.is_ok_and(|health| health.is_read_only);
        let extractive = || Arc::new(ExtractiveSummarizer::new(Arc::clone(&self.counter))) as Arc<dyn Summarizer>;
        let summarizer = self.summarizer.unwrap_or_else(extractive);
        Ok(Memory::from_inner(Inner {
            stores: self.stores,
            chat,
            records,
            only_reads,
            indexes,
            cache,
            bare,
            board,
            patience: self.patience,
            analysis: self.analysis,
            summarizer,
            reranker: self.reranker,
            observer: self.observer,
            counter: self.counter,
            clock: self.clock,
            limits: self.limits,
            touch: self.touch,
            changed: tokio::sync::Notify::new(),
            turn: Turn::default(),
            accessed: Mutex::default(),
            absent: Mutex::default(),
            buffers: Buffers::new(self.buffer),
            unindexed: Unindexed::default(),
            given_up: GivenUpCounts::default(),
            asked: Asked::default(),
            lapses: Lapses::new(self.retentions),
            boards: Boards::default(),
        }))
    }

    /// Opens the indexes and enlists each with both truth stores.
    async fn indexes(&self, truths: [&Arc<dyn Upkeep>; 2]) -> Result<Vec<Index>> {
        let now = self.clock.now();
        let text = self.stores.text.iter().cloned().map(|store| Index::of_text(store, &self.analysis, now));
        let vectors = self.stores.vectors.iter().cloned().map(|(store, embedder)| {
            let (embedded, kept) = (self.embedded.clone(), KeptVectors::new(self.kept_vectors));
            Index::of_vectors(Vectors { store, embedder, embedded, kept }, now)
        });
        let opened = text.chain(vectors).collect::<Result<Vec<Index>>>()?;
        let twice = |index: &&Index| opened.iter().filter(|other| other.name == index.name).count() > 1;
        if let Some(index) = opened.iter().find(twice) {
            return Err(Error::invalid(format!("the index {} is there twice", index.name.as_str())));
        }
        let mut indexes: Vec<Index> = Vec::with_capacity(opened.len());
        for index in opened {
            indexes.push(index.enlisted(truths, now).await?);
        }
        Ok(indexes)
    }
}
