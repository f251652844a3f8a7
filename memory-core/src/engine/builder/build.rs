//! Building the memory: the parts are checked, completed and put together.

use std::sync::Arc;

use crate::engine::handle::Memory;
use crate::engine::inner::{
    Asked, Bare, Beginnings, Boards, Buffers, Extraction, Finding, GivenUpCounts, Index, Inner, KeptVectors, Lapses,
    Synopses, TakenBack, Turn, Vectors,
};
#[cfg(doc)]
use crate::engine::{retention::Retention, synopsis::SynopsisConfig};
use crate::error::{Error, Result};
use crate::layer::{CacheLayer, Guard, GuardPolicy, Guarded, Metered, WriteBehind};
use crate::model::Summarizer;
use crate::reference::{MemBlackboard, NoRecords};
use crate::store::blackboard::Blackboard;
use crate::store::cache::Cache;
use crate::store::truth::Truth;
use crate::store::upkeep::Upkeep;
use crate::sync::Lock;
use crate::window::ExtractiveSummarizer;
use crate::working::WorkingTier;
#[cfg(doc)]
use crate::{window::BufferConfig, working::WorkingConfig};

use super::MemoryBuilder;

impl MemoryBuilder {
    /// Checks that the parts fit together, and enlists the indexes with the truth stores.
    ///
    /// # Errors
    /// `Invalid` without a store for conversations, for invalid settings ([`BufferConfig::check`],
    /// [`WorkingConfig::check`], [`SynopsisConfig::check`], [`Retention::check`]) and for defaults that no call may have, if the text
    /// store holds terms of another analysis, or if two vector indexes have the same embedding space; `SpaceMismatch` if an
    /// embedder and its vector store have different ones; those of the truth stores, where an index cannot be enlisted with them,
    /// and those of the journal, where what waits in it cannot be read.
    pub async fn build(mut self) -> Result<Memory> {
        self.buffer.check()?;
        self.working.check()?;
        self.retentions.check()?;
        self.defaults.check()?;
        let synopses = Synopses::new(self.synopsis.unwrap_or_default(), self.synopsis.is_some());
        synopses.config.check()?;
        if let Some(policy) = &self.guard {
            self.stores = self.stores.guarded(policy, &self.clock);
        }
        self.stores = self.stores.metered();
        let chat = self.stores.chat()?.clone();
        let none = || Truth::records(Arc::new(NoRecords::beside(chat.clone())));
        let records = self.stores.records.take().unwrap_or_else(none);
        let board: Arc<dyn Blackboard> = match self.stores.blackboard.take() {
            Some(board) => board,
            None => Arc::new(MemBlackboard::new(Arc::clone(&self.clock), MemBlackboard::DEFAULT_CAPACITY)?),
        };
        let board: Arc<dyn Blackboard> = Metered::of("board", board);
        self.stores.blackboard = Some(Arc::clone(&board));
        let working = self.stores.working.get_or_insert_with(|| Arc::new(WorkingTier::new(self.working)));
        let working = Arc::clone(working);
        let bare = Bare { chat: Arc::clone(chat.store()), records: Arc::clone(records.store()) };
        let cache = self.stores.cache.take().map(|cache| {
            let guard = Guard::new(cache.backend(), GuardPolicy::cache(), Arc::clone(&self.clock));
            let cache: Arc<dyn Cache> = Arc::new(Guarded::new(cache, guard));
            CacheLayer::new(Metered::of("cache", cache), self.cache.clone())
        });
        let (chat, records) = match &cache {
            Some(cache) => (cache.chat(chat), cache.records(records)),
            None => (chat, records),
        };
        self.stores.cache = cache.as_ref().map(|layer| layer.cache().clone());
        let behind = match self.stores.journal.take() {
            Some(journal) => Some(WriteBehind::open(chat.clone(), journal, self.stores.behind).await?),
            None => None,
        };
        let chat = behind.as_ref().map_or(chat, |layer| layer.chat());
        (self.stores.chat, self.stores.records) = (Some(chat.clone()), Some(records.clone()));
        let indexes = self.indexes([chat.upkeep(), records.upkeep()], behind.is_some()).await?;
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
            behind,
            bare,
            board,
            working,
            patience: self.patience,
            analysis: self.analysis,
            summarizer,
            reranker: self.reranker,
            extraction: self.extractor.map(Extraction::new).transpose()?,
            finding: Finding::default(),
            observer: self.observer,
            counter: self.counter,
            clock: self.clock,
            limits: self.limits,
            defaults: self.defaults,
            touch: self.touch,
            changed: tokio::sync::Notify::new(),
            turn: Turn::default(),
            accessed: Lock::default(),
            absent: Lock::default(),
            taken_back: TakenBack::default(),
            buffers: Buffers::new(self.buffer),
            given_up: GivenUpCounts::default(),
            asked: Asked::default(),
            beginnings: Beginnings::default(),
            lapses: Lapses::new(self.retentions),
            synopses,
            swept: Lock::default(),
            boards: Boards::default(),
        }))
    }

    /// Opens the indexes and enlists each with both truth stores, later if they may be away and are.
    async fn indexes(&self, truths: [&Arc<dyn Upkeep>; 2], may_be_away: bool) -> Result<Vec<Index>> {
        let now = self.clock.now();
        let text = self.stores.text.iter().cloned().map(|store| Index::of_text(store, &self.analysis, now));
        let vectors = self.stores.vectors.iter().cloned().map(|(store, embedder)| {
            let (embedded, kept) = (self.embedded.clone(), KeptVectors::new(self.kept_vectors, self.shares_vectors));
            Index::of_vectors(Vectors { store, embedder, embedded, kept }, now)
        });
        let opened = text.chain(vectors).collect::<Result<Vec<Index>>>()?;
        let twice = |index: &&Index| opened.iter().filter(|other| other.name == index.name).count() > 1;
        if let Some(index) = opened.iter().find(twice) {
            return Err(Error::invalid(format!("the index {} is there twice", index.name.as_str())));
        }
        let mut indexes: Vec<Index> = Vec::with_capacity(opened.len());
        for index in opened {
            indexes.push(index.enlisted(truths, now, may_be_away).await?);
        }
        Ok(indexes)
    }
}
