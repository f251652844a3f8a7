//! What a play is made of: the stores that all processes share, and what may befall the calls to them.

use std::sync::Arc;

use memory_core::analysis::Analysis;
use memory_core::engine::{Forget, Memory};
use memory_core::model::Embedder;
use memory_core::reference::{MemCache, MemChat, MemRecords, MemText, MemVectors};
use memory_core::text::TextStore;
use memory_core::vector::{EmbeddingSpace, VectorStore};
use memory_core::{Clock, Scope, SessionId, Timestamp, Truth};
use tokio::time::Instant;

use crate::bed::{Caches, Chat, Records, Texts, Vectors};
use crate::doubles::FakeEmbedder;

use super::ledger::Ledger;
use super::place::Place;
use super::wire::{Call, Wire};

/// Numbers in a vector: few, because nothing is found by meaning here that words would not find.
const DIMENSION: usize = 4;
/// Two owners, so that each may see what is the other's.
const OWNERS: [&str; 2] = ["ada", "bob"];
const SESSIONS: [&str; 2] = ["talk", "walk"];

/// The stores that all processes share.
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
    /// The cache.
    pub cache: Caches,
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
            cache: Arc::new(MemCache::new(clock)),
        }
    }
}

/// How plays are set up.
#[derive(Clone, Copy, Debug)]
pub struct Plan {
    pub(super) ground: fn(Arc<dyn Clock>, EmbeddingSpace) -> Ground,
    pub(super) may_be_late: fn(Call) -> bool,
    pub(super) forgets: fn(&Forget) -> bool,
}

impl Plan {
    /// Plays over these stores.
    pub fn new(ground: fn(Arc<dyn Clock>, EmbeddingSpace) -> Ground) -> Self {
        Self { ground, may_be_late: |_| true, forgets: |_| true }
    }

    /// Sets which calls may reach their store after their caller has given up, or once more after they were answered. Default
    /// all.
    #[must_use]
    pub fn late(mut self, may_be_late: fn(Call) -> bool) -> Self {
        self.may_be_late = may_be_late;
        self
    }

    /// Sets what is forgotten at all. Default everything.
    #[must_use]
    pub fn forgetting(mut self, forgets: fn(&Forget) -> bool) -> Self {
        self.forgets = forgets;
        self
    }
}

/// Tells the time of the play.
#[derive(Debug)]
struct PlayClock(Instant);

impl Clock for PlayClock {
    fn now(&self) -> Timestamp {
        let passed = i64::try_from(self.0.elapsed().as_micros()).unwrap_or(i64::MAX);
        Timestamp(1_767_225_600_000_000 + passed)
    }
}

/// What everybody in a play has in common.
pub(super) struct World {
    pub(super) wire: Arc<Wire>,
    /// As all see it: the places of indexes may be lost.
    pub(super) ground: Ground,
    text: Arc<Place<dyn TextStore>>,
    vectors: Arc<Place<dyn VectorStore>>,
    make: fn(Arc<dyn Clock>, EmbeddingSpace) -> Ground,
    pub(super) clock: Arc<dyn Clock>,
    pub(super) embedder: Arc<FakeEmbedder>,
    pub(super) ledger: Ledger,
    /// A process that reaches every store at once and without faults.
    pub(super) sound: Memory,
    /// Whether the cache hears of every write.
    pub(super) cache_hears: bool,
    pub(super) forgets: fn(&Forget) -> bool,
}

impl World {
    pub(super) async fn new(plan: &Plan, wire: Arc<Wire>, cache_hears: bool) -> memory_core::Result<Self> {
        let clock: Arc<dyn Clock> = Arc::new(PlayClock(Instant::now()));
        let embedder = Arc::new(FakeEmbedder::new(DIMENSION));
        let ground = (plan.ground)(clock.clone(), embedder.space().clone());
        let (text, vectors) = (Place::new(ground.text), Place::new(ground.vectors));
        let ground = Ground { text: text.clone(), vectors: vectors.clone(), ..ground };
        let Ground { chat, records, cache, .. } = ground.clone();
        let sound = Memory::builder(chat, records);
        let sound = sound.text(text.clone()).vectors(vectors.clone(), embedder.clone()).cache(cache).touch(false);
        let sound = sound.clock(clock.clone()).build().await?;
        let forgets = plan.forgets;
        let (make, ledger) = (plan.ground, Ledger::default());
        Ok(Self { wire, ground, text, vectors, make, clock, embedder, ledger, sound, cache_hears, forgets })
    }

    /// Loses the place that holds an index, `text` or `vectors`.
    pub(super) fn lose(&self, part: &str) {
        let empty = (self.make)(self.clock.clone(), self.embedder.space().clone());
        match part {
            "text" => self.text.replace(empty.text),
            _ => self.vectors.replace(empty.vectors),
        }
        self.wire.note(|| format!("the place of {part} is lost"));
    }
}

/// Returns the owners of every play.
pub(super) fn owners() -> memory_core::Result<Vec<Scope>> {
    OWNERS.iter().map(|name| Scope::new("acme", name)).collect()
}

/// Returns the sessions of every owner.
pub(super) fn sessions() -> memory_core::Result<Vec<SessionId>> {
    SESSIONS.iter().map(|name| SessionId::new(name)).collect()
}
