//! A memory on the test bench: in-process stores, each behind a tap.

use std::sync::Arc;
use std::time::Duration;

use memory_core::analysis::Analysis;
use memory_core::engine::{Memory, MemoryBuilder, Scoped, Session};
use memory_core::model::Embedder;
use memory_core::reference::{MemChat, MemRecords, MemText, MemVectors};
use memory_core::vector::EmbeddingSpace;
use memory_core::window::{BufferConfig, Folding};
use memory_core::{Message, Role, Scope, SessionId, Timestamp, Truth};
use memory_testkit::doubles::{Counting, FakeEmbedder, ManualClock, Tap, Tapped};

pub(crate) struct Bench {
    pub(crate) memory: Memory,
    pub(crate) clock: Arc<ManualClock>,
    pub(crate) embedder: Arc<FakeEmbedder>,
    pub(crate) chat: Arc<Counting>,
    /// The conversations themselves, for a second memory over them.
    pub(crate) truth: Arc<MemChat>,
}

/// What stands between the engine and its stores.
pub(crate) struct Taps {
    pub(crate) chat: Arc<Counting>,
    pub(crate) chat_faults: Arc<dyn Tap>,
    pub(crate) text: Arc<dyn Tap>,
    pub(crate) vectors: Arc<dyn Tap>,
}

impl Default for Taps {
    fn default() -> Self {
        let none = || Arc::new(Counting::default());
        Self { chat: none(), chat_faults: none(), text: none(), vectors: none() }
    }
}

impl Bench {
    pub(crate) async fn new() -> Self {
        Self::with(Taps::default(), |builder| builder).await
    }

    pub(crate) async fn with(taps: Taps, adjust: impl FnOnce(MemoryBuilder) -> MemoryBuilder) -> Self {
        let clock = Arc::new(ManualClock::at("2025-03-01".parse().unwrap()));
        let embedder = Arc::new(FakeEmbedder::new(32));
        let (tap, faults) = (Arc::clone(&taps.chat), taps.chat_faults);
        let truth = Arc::new(MemChat::default());
        let chat = Truth::chat(Arc::clone(&truth)).layered(|store| Arc::new(Tapped::new(store, faults)));
        let chat = chat.layered(|store| Arc::new(Tapped::new(store, tap)));
        let records = Truth::records(Arc::new(MemRecords::default()));
        let text = Arc::new(MemText::new(Analysis::english().name()));
        let vectors = Arc::new(MemVectors::new(embedder.space().clone()));
        let builder = Memory::builder(chat, records)
            .text(Arc::new(Tapped::new(text, taps.text)))
            .vectors(Arc::new(Tapped::new(vectors, taps.vectors)), embedder.clone())
            .buffer(BufferConfig::default().with_folding(Folding::Off))
            .clock(clock.clone());
        let memory = adjust(builder).build().await.unwrap();
        Self { memory, clock, embedder, chat: taps.chat, truth }
    }

    /// Returns the builder of a second memory over the conversations, with records of its own.
    pub(crate) fn elsewhere(&self) -> MemoryBuilder {
        let records = Truth::records(Arc::new(MemRecords::default()));
        Memory::builder(Truth::chat(Arc::clone(&self.truth)), records).clock(self.clock.clone())
    }

    pub(crate) fn owner(&self, subject: &str) -> Scoped {
        self.memory.of(&Scope::new("acme", subject).unwrap())
    }

    pub(crate) fn session(&self, subject: &str) -> Session {
        self.owner(subject).session(&session("talk"))
    }

    /// Returns a message said one second after the one before.
    pub(crate) fn say(&self, role: Role, text: &str) -> Message {
        self.clock.advance(Duration::from_secs(1));
        Message::new(role, text, self.memory.now())
    }

    pub(crate) fn user(&self, text: &str) -> Message {
        self.say(Role::User, text)
    }

    /// Returns turns of a person and an assistant about nothing that a test asks for.
    pub(crate) fn chatter(&self, turns: usize) -> Vec<Message> {
        let turn = |n: usize| {
            let asked = self.user(&format!("Please water plant number {n} on the balcony."));
            [asked, self.say(Role::Assistant, &format!("Plant {n} has had its water."))]
        };
        (0..turns).flat_map(turn).collect()
    }

    pub(crate) fn embedder_space(&self) -> EmbeddingSpace {
        self.embedder.space().clone()
    }

    pub(crate) async fn tend(&self) {
        let report = self.memory.upkeep_once().await.unwrap();
        assert_eq!(report.failures, [""; 0]);
    }
}

pub(crate) fn session(name: &str) -> SessionId {
    SessionId::new(name).unwrap()
}

pub(crate) fn day(text: &str) -> Timestamp {
    text.parse().unwrap()
}
