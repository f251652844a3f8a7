//! How a memory is put together.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};

use crate::analysis::Analysis;
use crate::chat::ChatStore;
use crate::error::{Error, Result};
use crate::limits::Limits;
use crate::model::{Embedder, Summarizer, TokenCounter};
use crate::record::RecordStore;
use crate::text::TextStore;
use crate::time::{Clock, SystemClock};
use crate::truth::Truth;
use crate::upkeep::IndexName;
use crate::vector::VectorStore;
use crate::window::{ExtractiveSummarizer, HeuristicCounter};

use super::memory::{Inner, Memory, TextIndex, VectorIndex};

/// When and how the oldest part of a window is summarised.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct WindowConfig {
    /// The tokens that a window should keep below. Default 3,000, which is the figure for an unknown model.
    pub limit: u64,
    /// The messages that a window should keep below; `None` for no such bound, which is the default.
    pub summarize_after: Option<u64>,
    /// Whether upkeep summarises the oldest part at a pressure of 0.8. Default true.
    pub summaries: bool,
}

impl Default for WindowConfig {
    fn default() -> Self {
        Self { limit: 3_000, summarize_after: None, summaries: true }
    }
}

impl WindowConfig {
    /// Sets the tokens that a window should keep below.
    #[must_use]
    pub fn with_limit(mut self, limit: u64) -> Self {
        self.limit = limit;
        self
    }

    /// Sets the messages that a window should keep below.
    #[must_use]
    pub fn with_summarize_after(mut self, messages: u64) -> Self {
        self.summarize_after = Some(messages);
        self
    }

    /// Sets whether upkeep summarises.
    #[must_use]
    pub fn with_summaries(mut self, summaries: bool) -> Self {
        self.summaries = summaries;
        self
    }
}

/// Puts a [`Memory`] together. Truth is required; each index is optional, and what is missing is left out of searches.
#[derive(Debug)]
pub struct MemoryBuilder {
    chat: Truth<dyn ChatStore>,
    records: Truth<dyn RecordStore>,
    text: Option<Arc<dyn TextStore>>,
    vectors: Option<(Arc<dyn VectorStore>, Arc<dyn Embedder>)>,
    analysis: Analysis,
    counter: Arc<dyn TokenCounter>,
    summarizer: Option<Arc<dyn Summarizer>>,
    clock: Arc<dyn Clock>,
    limits: Limits,
    window: WindowConfig,
    touch: bool,
}

impl MemoryBuilder {
    /// Begins with the stores that hold the truth.
    pub fn new(chat: Truth<dyn ChatStore>, records: Truth<dyn RecordStore>) -> Self {
        Self {
            chat,
            records,
            text: None,
            vectors: None,
            analysis: Analysis::english(),
            counter: Arc::new(HeuristicCounter),
            summarizer: None,
            clock: Arc::new(SystemClock),
            limits: Limits::default(),
            window: WindowConfig::default(),
            touch: true,
        }
    }

    /// Adds search by words. The store's analysis must be the memory's.
    #[must_use]
    pub fn text(mut self, store: Arc<dyn TextStore>) -> Self {
        self.text = Some(store);
        self
    }

    /// Adds search by meaning. The embedder's space must be the store's.
    #[must_use]
    pub fn vectors(mut self, store: Arc<dyn VectorStore>, embedder: Arc<dyn Embedder>) -> Self {
        self.vectors = Some((store, embedder));
        self
    }

    /// Sets how text becomes terms. Default English.
    #[must_use]
    pub fn analysis(mut self, analysis: Analysis) -> Self {
        self.analysis = analysis;
        self
    }

    /// Sets who counts tokens. Default [`HeuristicCounter`], which never under-estimates.
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

    /// Checks that the parts fit together and enlists the indexes with the truth stores.
    ///
    /// # Errors
    /// `Invalid` if the text store holds terms of another analysis, `SpaceMismatch` if the embedder and the vector
    /// store differ.
    pub async fn build(self) -> Result<Memory> {
        let text = self.text.map(|store| text_index(store, &self.analysis)).transpose()?;
        let vectors = self.vectors.map(|(store, embedder)| vector_index(store, embedder)).transpose()?;
        let indexes = text.iter().map(|index| &index.name).chain(vectors.iter().map(|index| &index.name));
        for index in indexes {
            self.chat.upkeep().enlist(index).await?;
            self.records.upkeep().enlist(index).await?;
        }
        let extractive = || Arc::new(ExtractiveSummarizer::new(Arc::clone(&self.counter))) as Arc<dyn Summarizer>;
        let summarizer = self.summarizer.unwrap_or_else(extractive);
        Ok(Memory::from_inner(Inner {
            chat: self.chat,
            records: self.records,
            text,
            vectors,
            analysis: self.analysis,
            summarizer,
            counter: self.counter,
            clock: self.clock,
            limits: self.limits,
            window: self.window,
            touch: self.touch,
            changed: tokio::sync::Notify::new(),
            tending: tokio::sync::Mutex::new(()),
            accessed: Mutex::default(),
            full: Mutex::new(BTreeSet::new()),
        }))
    }
}

fn text_index(store: Arc<dyn TextStore>, analysis: &Analysis) -> Result<TextIndex> {
    if store.analysis() != analysis.name() {
        let what = format!("the text store holds terms of {}, not of {}", store.analysis(), analysis.name());
        return Err(Error::invalid(what));
    }
    let name = IndexName::new(&format!("text/{}", analysis.name()))?;
    Ok(TextIndex { name, store })
}

fn vector_index(store: Arc<dyn VectorStore>, embedder: Arc<dyn Embedder>) -> Result<VectorIndex> {
    store.space().check(embedder.space())?;
    let name = IndexName::new(&format!("vector/{}", store.space().fingerprint()))?;
    Ok(VectorIndex { name, store, embedder })
}
