//! The stores that all processes share, and the ledger of what was written to them.

use std::sync::Arc;

use memory_core::analysis::Analysis;
use memory_core::engine::{Memory, MemoryBuilder};
use memory_core::model::Embedder;
use memory_core::reference::{MemCache, MemChat, MemRecords, MemText, MemVectors};
use memory_core::vector::EmbeddingSpace;
use memory_core::{Clock, Error, Result, Scope, SessionId, Truth};

use crate::bed::{Caches, Chat, Records, Texts, Vectors};
use crate::doubles::FakeEmbedder;

use super::ledger::Ledger;

/// Numbers in a vector: few, because nothing is found by meaning here that words would not find.
pub(crate) const DIMENSION: usize = 4;
/// Two owners, so that each may see what is the other's.
const OWNERS: [&str; 2] = ["ada", "bob"];
const SESSIONS: [&str; 2] = ["talk", "walk"];

/// The stores that all processes of a simulation share.
#[derive(Clone, Debug)]
pub struct Ground {
    /// Conversations.
    pub chat: Chat,
    /// Records.
    pub records: Records,
    /// Search by words, by [`Analysis::english`].
    pub text: Texts,
    /// Search by meaning, in the space that [`Ground::reference`] is given.
    pub vectors: Vectors,
    /// The cache, if there is one.
    pub cache: Option<Caches>,
}

impl Ground {
    /// Returns the stores of this process. They answer without waiting, as all stores of a play must: a call is carried out in
    /// one step.
    pub fn reference(clock: Arc<dyn Clock>, space: EmbeddingSpace) -> Self {
        Self {
            chat: Truth::chat(Arc::<MemChat>::default()),
            records: Truth::records(Arc::<MemRecords>::default()),
            text: Arc::new(MemText::new(Analysis::english().name())),
            vectors: Arc::new(MemVectors::new(space).with_quantised(false)),
            cache: Some(Arc::new(MemCache::new(clock))),
        }
    }

    /// Begins a memory over the stores.
    pub(crate) fn builder(self, embedder: Arc<dyn Embedder>) -> MemoryBuilder {
        let vectors = Arc::clone(&self.vectors);
        self.builder_without_vectors().vectors(vectors, embedder)
    }

    /// Begins a memory that does not open the index of vectors.
    pub(crate) fn builder_without_vectors(self) -> MemoryBuilder {
        let Self { chat, records, text, vectors: _, cache } = self;
        let builder = Memory::builder(chat, records).text(text);
        match cache {
            Some(cache) => builder.cache(cache),
            None => builder,
        }
    }
}

/// The stores themselves, with the owners of one play and what is known of them.
pub(crate) struct Site {
    pub(crate) owners: Vec<Scope>,
    pub(crate) sessions: Vec<SessionId>,
    pub(crate) ground: Ground,
    pub(crate) embedder: Arc<FakeEmbedder>,
    pub(crate) ledger: Ledger,
    /// A process that reaches every store at once and without faults.
    pub(crate) sound: Memory,
    /// Whether the cache hears of every write.
    pub(super) cache_hears: bool,
}

impl Site {
    pub(crate) fn new(tenant: &str, ground: Ground, embedder: Arc<FakeEmbedder>, sound: Memory) -> Result<Self> {
        Ok(Self {
            owners: OWNERS.iter().map(|name| Scope::new(tenant, name)).collect::<Result<_>>()?,
            sessions: SESSIONS.iter().map(|name| SessionId::new(name)).collect::<Result<_>>()?,
            ground,
            embedder,
            ledger: Ledger::default(),
            sound,
            cache_hears: false,
        })
    }

    /// Says whether the cache hears of every write.
    pub(super) fn hearing(self, cache_hears: bool) -> Self {
        Self { cache_hears, ..self }
    }

    pub(crate) fn owner(&self, place: usize) -> Result<&Scope> {
        self.owners.get(place).ok_or_else(|| Error::invalid("no such owner"))
    }
}
