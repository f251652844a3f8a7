//! Open stores, before a memory is put over them.

use std::sync::Arc;

use memory_core::cache::Cache;
use memory_core::chat::ChatStore;
use memory_core::engine::MemoryBuilder;
use memory_core::model::Embedder;
use memory_core::record::RecordStore;
use memory_core::store::Store;
use memory_core::text::TextStore;
use memory_core::vector::VectorStore;
use memory_core::{Error, Result, Truth};

use crate::backend::Opened;
use crate::no_records::NoRecords;

/// Open stores: what [`crate::Settings::connect`] returns.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Stores {
    /// Conversations.
    pub chat: Truth<dyn ChatStore>,
    /// Records; none where the truth holds conversations alone.
    pub records: Option<Truth<dyn RecordStore>>,
    /// The index of words.
    pub text: Option<Arc<dyn TextStore>>,
    /// The index of meaning, and who makes its vectors.
    pub vectors: Option<(Arc<dyn VectorStore>, Arc<dyn Embedder>)>,
    /// The cache.
    pub cache: Option<Arc<dyn Cache>>,
    /// The servers of indexes or the cache that did not answer when they were to be opened.
    pub away: Vec<Away>,
}

/// A server that did not answer. Its stores are there, and connect when they are needed.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Away {
    /// The backend's name.
    pub backend: &'static str,
    /// Why it could not be connected to.
    pub why: Error,
}

impl Stores {
    /// Puts together what was opened in one place or several.
    pub(crate) fn gather(opened: impl Iterator<Item = Opened>, embedder: Option<Arc<dyn Embedder>>) -> Result<Self> {
        let mut away = Vec::new();
        let opened = opened.inspect(|opened| away.extend(opened.away.clone()));
        let all = opened.fold(Opened::default(), |all, next| Opened {
            chat: all.chat.or(next.chat),
            records: all.records.or(next.records),
            text: all.text.or(next.text),
            vectors: all.vectors.or(next.vectors),
            cache: all.cache.or(next.cache),
            away: None,
        });
        let Opened { chat, records, text, vectors, cache, away: _ } = all;
        let chat = chat.ok_or_else(|| Error::invalid("there is no store for conversations"))?;
        Ok(Self { chat, records, text, vectors: vectors.zip(embedder), cache, away })
    }

    /// Begins a memory over the stores; it counts exactly, where exact counts are built in.
    pub fn builder(self) -> MemoryBuilder {
        let Self { chat, records, text, vectors, cache, away: _ } = self;
        let records = records.unwrap_or_else(|| Truth::records(Arc::new(NoRecords::beside(chat.store().backend()))));
        let mut builder = MemoryBuilder::new(chat, records);
        #[cfg(feature = "tiktoken")]
        {
            builder = builder.counter(Arc::new(memory_core::window::TiktokenCounter::o200k()));
        }
        if let Some(text) = text {
            builder = builder.text(text);
        }
        if let Some((vectors, embedder)) = vectors {
            builder = builder.vectors(vectors, embedder);
        }
        match cache {
            Some(cache) => builder.cache(cache),
            None => builder,
        }
    }

    /// Closes the stores.
    ///
    /// # Errors
    /// The first failure of a store; all are closed whatever the others do.
    pub async fn close(&self) -> Result<()> {
        let mut stores: Vec<Arc<dyn Store>> = vec![self.chat.store().clone()];
        stores.extend(self.records.iter().map(|records| records.store().clone() as Arc<dyn Store>));
        stores.extend(self.text.iter().map(|text| text.clone() as Arc<dyn Store>));
        stores.extend(self.vectors.iter().map(|(vectors, _)| vectors.clone() as Arc<dyn Store>));
        stores.extend(self.cache.iter().map(|cache| cache.clone() as Arc<dyn Store>));
        let mut outcome = Ok(());
        for store in stores {
            outcome = outcome.and(store.close().await);
        }
        outcome
    }
}
