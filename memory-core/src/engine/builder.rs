//! How a memory is put together.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use crate::analysis::Analysis;
use crate::error::{Error, Result};
use crate::filter::Filter;
use crate::layer::{CacheLayer, CachePolicy, Guard, GuardPolicy, Guarded};
use crate::limits::Limits;
use crate::model::{Embedder, Summarizer, TokenCounter};
use crate::reference::NoRecords;
use crate::store::cache::Cache;
use crate::store::text::TextStore;
use crate::store::truth::Truth;
use crate::store::upkeep::Upkeep;
use crate::store::vectors::VectorStore;
use crate::stores::Stores;
use crate::time::{Clock, SystemClock};
use crate::window::{ExtractiveSummarizer, HeuristicCounter};

use super::config::WindowConfig;
use super::handle::Memory;
use super::inner::{Asked, Bare, GivenUpCounts, Index, Inner, KeptVectors, Turn, Vectors};

/// How many vectors are kept, if nothing else is said.
const KEPT_VECTORS: usize = 1_000;
/// How long a search waits for an index, if nothing else is said.
const PATIENCE: Duration = Duration::from_secs(10);

/// Puts a [`Memory`] together. Truth is required; each index is optional, and what is missing is left out of searches.
///
/// # Examples
/// ```
/// # async fn example() -> memory_core::Result<()> {
/// use std::sync::Arc;
///
/// use memory_core::engine::{Memory, WindowConfig};
/// use memory_core::reference::{MemChat, MemRecords, MemText};
/// use memory_core::{Analysis, Truth};
///
/// let chat = Truth::chat(Arc::new(MemChat::default()));
/// let records = Truth::records(Arc::new(MemRecords::default()));
/// let analysis = Analysis::english();
/// let memory = Memory::builder(chat, records)
///     .text(Arc::new(MemText::new(analysis.name())))
///     .analysis(analysis)
///     .window(WindowConfig::default().with_limit(8_000))
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
    clock: Arc<dyn Clock>,
    limits: Limits,
    window: WindowConfig,
    touch: bool,
    kept_vectors: usize,
}

impl MemoryBuilder {
    /// Begins with open stores. Where none holds records, a put of one is `Unsupported`.
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
            clock: Arc::new(SystemClock),
            limits: Limits::default(),
            window: WindowConfig::default(),
            touch: true,
            kept_vectors: KEPT_VECTORS,
        }
    }

    /// Adds search by words. The store's analysis must be the memory's.
    #[must_use]
    pub fn text(mut self, store: Arc<dyn TextStore>) -> Self {
        self.stores.text = Some(store);
        self
    }

    /// Adds search by meaning, in place of what was set for it before. The embedder's space must be the store's.
    #[must_use]
    pub fn vectors(mut self, store: Arc<dyn VectorStore>, embedder: Arc<dyn Embedder>) -> Self {
        match self.stores.vectors.first_mut() {
            Some(first) => *first = (store, embedder),
            None => self.stores.vectors.push((store, embedder)),
        }
        self
    }

    /// Adds an index of another space beside that of [`MemoryBuilder::vectors`], as for a change of the embedder. Upkeep fills it,
    /// what is forgotten leaves it, and a search with a vector of its space ([`Search::vector`](super::Search::vector)) asks it.
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

    /// Puts a cache before truth: content found by a search, and vectors of queries, are kept there for a while.
    ///
    /// Nothing stale is served ([`crate::layer::cached`] says how), as long as every process that writes has the cache.
    /// A cache that fails is named in receipts, while truth answers: it has a guard of its own
    /// ([`GuardPolicy::cache`]), so that it costs half a second once.
    #[must_use]
    pub fn cache(self, cache: Arc<dyn Cache>) -> Self {
        self.cache_with(cache, CachePolicy::default())
    }

    /// Puts a cache before truth, as [`MemoryBuilder::cache`] does, with other times to live.
    #[must_use]
    pub fn cache_with(mut self, cache: Arc<dyn Cache>, policy: CachePolicy) -> Self {
        self.stores.cache = Some(cache);
        self.cache = policy;
        self
    }

    /// Puts a guard before each store: deadlines, few retries, a circuit breaker, a bound on calls at once.
    ///
    /// Each store gets one of its own, a truth store together with its upkeep. Default none, which is right for stores
    /// in this process or on its disk.
    #[must_use]
    pub fn guard(mut self, policy: GuardPolicy) -> Self {
        self.guard = Some(policy);
        self
    }

    /// Sets how long a search waits for an index, embedding included, before it answers without it. Default 10 s.
    #[must_use]
    pub fn patience(mut self, patience: Duration) -> Self {
        self.patience = patience;
        self
    }

    /// Sets which messages and records are embedded, where not all are worth it. Default all; the others are found by
    /// their words.
    #[must_use]
    pub fn embedded(mut self, what: Filter) -> Self {
        self.embedded = what;
        self
    }

    /// Sets how text becomes terms. Default English.
    #[must_use]
    pub fn analysis(mut self, analysis: Analysis) -> Self {
        self.analysis = analysis;
        self
    }

    /// Sets who counts tokens. Default [`HeuristicCounter`], which never says less than
    /// OpenAI's tokenizers; for a model that is known, take [`crate::window::ModelProfile::token_counter`].
    ///
    /// May be another one than before: a count that is stored stands beside its counter's name, and what another one counted
    /// is counted again where it is read for a context.
    #[must_use]
    pub fn counter(mut self, counter: Arc<dyn TokenCounter>) -> Self {
        self.counter = counter;
        self
    }

    /// Sets who summarises. Default [`ExtractiveSummarizer`], which needs no model and stands in where another fails.
    #[must_use]
    pub fn summarizer(mut self, summarizer: Arc<dyn Summarizer>) -> Self {
        self.summarizer = Some(summarizer);
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

    /// Sets when windows are summarised.
    #[must_use]
    pub fn window(mut self, window: WindowConfig) -> Self {
        self.window = window;
        self
    }

    /// Sets whether recalled records count as accessed. Default true.
    #[must_use]
    pub fn touch(mut self, touch: bool) -> Self {
        self.touch = touch;
        self
    }

    /// Sets how many vectors of texts embedded lately are kept in this process for each index, so that they are not embedded
    /// again; 0 for none. Default 1,000.
    ///
    /// Each is kept for its owner alone, and dropped when anything of that owner is forgotten.
    #[must_use]
    pub fn kept_vectors(mut self, count: usize) -> Self {
        self.kept_vectors = count;
        self
    }

    /// Checks that the parts fit together and enlists the indexes with the truth stores.
    ///
    /// # Errors
    /// `Invalid` without a store for conversations, if the text store holds terms of another analysis, and if two indexes by
    /// meaning have one space; `SpaceMismatch` if an embedder and its vector store differ.
    pub async fn build(mut self) -> Result<Memory> {
        if let Some(policy) = &self.guard {
            self.stores = self.stores.guarded(policy, &self.clock);
        }
        let chat = self.stores.chat()?.clone();
        let none = || Truth::records(Arc::new(NoRecords::beside(chat.clone())));
        let records = self.stores.records.take().unwrap_or_else(none);
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
            patience: self.patience,
            analysis: self.analysis,
            summarizer,
            counter: self.counter,
            clock: self.clock,
            limits: self.limits,
            window: self.window,
            touch: self.touch,
            changed: tokio::sync::Notify::new(),
            turn: Turn::default(),
            accessed: Mutex::default(),
            absent: Mutex::default(),
            full: Mutex::new(BTreeSet::new()),
            given_up: GivenUpCounts::default(),
            asked: Asked::default(),
        }))
    }

    /// Opens the indexes and has both truth stores note for them what is stored.
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
