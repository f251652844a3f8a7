//! A memory over the stores of a suite, with models that are known beforehand and a clock that is moved by hand.

use std::sync::Arc;
use std::time::Duration;

use memory_core::engine::{
    Context, Memory, MemoryBuilder, PartKind, Scoped, Search, SearchResults, Session, WindowConfig,
};
use memory_core::model::Embedder as _;
use memory_core::reference::{MemChat, MemRecords, MemText, MemVectors};
use memory_core::vector::EmbeddingSpace;
use memory_core::{Analysis, Message, Role, Scope, SessionId, Truth};

use crate::doubles::{Counting, Cut, FakeEmbedder, ManualClock, Tapped};
use crate::isolation::Stores;
use crate::{Bed, Caches, Chat, Failure, Records, Scene, Texts, Vectors, equal};

/// The dimension of the embedder.
const DIMENSION: usize = 32;
/// How long a search waits for an index: a machine may be busy, and what is tried here is not how fast it is.
const PATIENCE: Duration = Duration::from_secs(60);
/// Long enough for whatever upkeep put off to be due again.
const LATER: Duration = Duration::from_secs(60);

/// The memory of a scenario, and what it is made of.
pub(super) struct World {
    pub(super) memory: Memory,
    pub(super) clock: Arc<ManualClock>,
    pub(super) embedder: Arc<FakeEmbedder>,
    pub(super) text: Texts,
    pub(super) vectors: Vectors,
    chat: Chat,
    records: Records,
    cache: Option<Caches>,
    tenant: String,
}

/// Returns the space of the embedder.
pub(super) fn space() -> EmbeddingSpace {
    FakeEmbedder::new(DIMENSION).space().clone()
}

impl World {
    /// Opens a memory that folds no window.
    pub(super) async fn open(bed: &Bed<Stores>) -> Result<Self, Failure> {
        Self::with(bed, |_, builder| builder).await
    }

    /// Opens a memory after `adjust` has changed how it is built. It is given the world as it is without.
    pub(super) async fn with(
        bed: &Bed<Stores>,
        adjust: impl FnOnce(&Self, MemoryBuilder) -> MemoryBuilder,
    ) -> Result<Self, Failure> {
        let Stores { chat, records, text, vectors, cache, .. } = bed.store.clone();
        let chat = chat.unwrap_or_else(|| Truth::chat(Arc::<MemChat>::default()));
        let records = records.unwrap_or_else(|| Truth::records(Arc::<MemRecords>::default()));
        let text = text.unwrap_or_else(|| Arc::new(MemText::new(Analysis::english().name())));
        let vectors = vectors.unwrap_or_else(|| Arc::new(MemVectors::new(space())));
        let embedder = Arc::new(FakeEmbedder::new(DIMENSION));
        let memory = Memory::builder(chat.clone(), records.clone()).build().await?;
        let (clock, tenant) = (bed.clock.clone(), bed.tenant.clone());
        let mut world = Self { memory, clock, embedder, text, vectors, chat, records, cache, tenant };
        world.memory = world.beside(adjust).await?;
        Ok(world)
    }

    /// Opens another memory over the same stores, as another process does.
    pub(super) async fn beside(
        &self,
        adjust: impl FnOnce(&Self, MemoryBuilder) -> MemoryBuilder,
    ) -> Result<Memory, Failure> {
        self.over(self.chat.clone(), adjust).await
    }

    /// Opens another memory over the same stores. One call of its conversations ends early when `cut` says so.
    pub(super) async fn cut_by(
        &self,
        cut: &Arc<Cut>,
        adjust: impl FnOnce(&Self, MemoryBuilder) -> MemoryBuilder,
    ) -> Result<Memory, Failure> {
        let calls = Arc::<Counting>::default();
        let chat = self.chat.clone().layered(|store| Arc::new(Tapped::new(store, calls.clone()).cut_by(cut.clone())));
        self.over(chat, adjust).await
    }

    async fn over(
        &self,
        chat: Chat,
        adjust: impl FnOnce(&Self, MemoryBuilder) -> MemoryBuilder,
    ) -> Result<Memory, Failure> {
        let builder = Memory::builder(chat, self.records.clone())
            .text(Arc::clone(&self.text))
            .vectors(Arc::clone(&self.vectors), self.embedder.clone())
            .window(WindowConfig::default().with_summaries(false))
            .patience(PATIENCE)
            .clock(self.clock.clone());
        let builder = self.cache.iter().cloned().fold(builder, MemoryBuilder::cache);
        Ok(adjust(self, builder).build().await?)
    }

    /// Returns the owner `subject` as a process sees it that wrote nothing: by the indexes alone.
    pub(super) async fn reader(&self, subject: &str) -> Result<Scoped, Failure> {
        Ok(self.beside(|_, builder| builder).await?.of(&self.scope(subject)?))
    }

    /// Returns a scope of the scenario.
    pub(super) fn scope(&self, subject: &str) -> Result<Scope, Failure> {
        Ok(Scope::new(&self.tenant, subject)?)
    }

    pub(super) fn owner(&self, subject: &str) -> Result<Scoped, Failure> {
        Ok(self.memory.of(&self.scope(subject)?))
    }

    /// Returns the conversation of an owner.
    pub(super) fn talk(&self, subject: &str) -> Result<Session, Failure> {
        Ok(self.owner(subject)?.session(&session("talk")?))
    }

    /// Returns a message said one second after the one before.
    pub(super) fn say(&self, role: Role, text: &str) -> Message {
        self.clock.advance(Duration::from_secs(1));
        Message::new(role, text, self.memory.now())
    }

    pub(super) fn user(&self, text: &str) -> Message {
        self.say(Role::User, text)
    }

    /// Returns turns of a person and an assistant about nothing that a scenario asks for.
    pub(super) fn chatter(&self, turns: usize) -> Vec<Message> {
        let turn = |n: usize| {
            let asked = self.user(&format!("Please water plant number {n} on the balcony."));
            [asked, self.say(Role::Assistant, &format!("Plant {n} has had its water."))]
        };
        (0..turns).flat_map(turn).collect()
    }

    /// Makes the indexes follow truth.
    pub(super) async fn tend(&self) -> Scene {
        equal(self.memory.upkeep_once().await?.failures, [""; 0])
    }

    /// Lets so much time go by that whatever upkeep put off is due, then makes the indexes follow truth.
    pub(super) async fn tend_later(&self) -> Scene {
        self.clock.advance(LATER);
        self.tend().await
    }
}

pub(super) fn session(name: &str) -> Result<SessionId, Failure> {
    Ok(SessionId::new(name)?)
}

/// Returns the texts of the hits, best first.
pub(super) fn texts(found: &SearchResults) -> Vec<String> {
    found.hits.iter().map(|hit| hit.content.text()).collect()
}

/// Searches, and returns the texts of the hits in the order of the alphabet. All stores have to answer.
pub(super) async fn found(owner: &Scoped, search: &Search) -> Result<Vec<String>, Failure> {
    let found = owner.search(search).await?;
    equal(&found.receipt.degraded, &vec![])?;
    let mut texts = texts(&found);
    texts.sort();
    Ok(texts)
}

/// Returns the kinds of the parts of a context, each once where they stand together.
pub(super) fn kinds(context: &Context) -> Vec<PartKind> {
    let mut kinds: Vec<PartKind> = context.parts.iter().map(|part| part.kind).collect();
    kinds.dedup();
    kinds
}

/// Passes if a message of the context holds `words`.
pub(super) fn holds(context: &Context, words: &str) -> Scene {
    check!(context.messages().any(|message| message.text().contains(words)), "no {words} in {context:#?}");
    Ok(())
}
