//! The stores of a suite, with models that are known beforehand and a clock that is moved by hand, and the memories over them.

use std::sync::Arc;
use std::time::Duration;

use memory_core::engine::{Memory, MemoryBuilder, Scoped};
use memory_core::model::Embedder as _;
use memory_core::reference::{MemBlackboard, MemChat, MemJournal, MemRecords, MemText, MemVectors};
use memory_core::vector::EmbeddingSpace;
use memory_core::window::{BufferConfig, Folding};
use memory_core::{Analysis, Scope, Truth};

use crate::doubles::{Counting, Cut, FakeEmbedder, ManualClock, Tapped};
use crate::isolation::Stores;
use crate::{Bed, Boards, Caches, Chat, Failure, Records, Texts, Vectors};

/// The dimension of the embedder.
const DIMENSION: usize = 32;
/// How many messages may wait in the journal of a memory.
const QUEUED: usize = 10_000;
/// How long a search waits for an index: a machine may be busy, and what is tried here is not how fast it is.
const PATIENCE: Duration = Duration::from_secs(60);

/// What the memories of a scenario are made of. What the suite was not given lives in the process.
pub(super) struct Ground {
    pub(super) clock: Arc<ManualClock>,
    pub(super) embedder: Arc<FakeEmbedder>,
    pub(super) text: Texts,
    pub(super) vectors: Vectors,
    chat: Chat,
    records: Records,
    cache: Option<Caches>,
    board: Option<Boards>,
    is_behind: bool,
    tenant: String,
}

/// Returns the space of the embedder.
pub(super) fn space() -> EmbeddingSpace {
    FakeEmbedder::new(DIMENSION).space().clone()
}

impl Ground {
    pub(super) fn of(bed: &Bed<Stores>) -> Self {
        let Stores { chat, records, text, vectors, cache, blackboard, is_behind, .. } = bed.store.clone();
        let in_process = || {
            let board = MemBlackboard::new(bed.clock.clone(), MemBlackboard::DEFAULT_CAPACITY).ok()?;
            Some(Arc::new(board) as Boards)
        };
        Self {
            clock: bed.clock.clone(),
            embedder: Arc::new(FakeEmbedder::new(DIMENSION)),
            text: text.unwrap_or_else(|| Arc::new(MemText::new(Analysis::english().name()))),
            vectors: vectors.unwrap_or_else(|| Arc::new(MemVectors::new(space()))),
            chat: chat.unwrap_or_else(|| Truth::chat(Arc::<MemChat>::default())),
            records: records.unwrap_or_else(|| Truth::records(Arc::<MemRecords>::default())),
            cache,
            board: blackboard.or_else(in_process),
            is_behind,
            tenant: bed.tenant.clone(),
        }
    }

    /// Opens a memory, as a process of its own does. It folds no window, unless `adjust` changes that.
    pub(super) async fn open(
        &self,
        adjust: impl FnOnce(&Self, MemoryBuilder) -> MemoryBuilder,
    ) -> Result<Memory, Failure> {
        self.over(self.chat.clone(), adjust).await
    }

    /// Opens a memory as [`Ground::open`] does. One call of its conversations ends early when `cut` says so.
    pub(super) async fn open_cut_by(
        &self,
        cut: &Arc<Cut>,
        adjust: impl FnOnce(&Self, MemoryBuilder) -> MemoryBuilder,
    ) -> Result<Memory, Failure> {
        let calls = Arc::<Counting>::default();
        let chat = self.chat.clone().layered(|store| Arc::new(Tapped::new(store, calls.clone()).cut_by(cut.clone())));
        self.over(chat, adjust).await
    }

    /// Opens a memory as [`Ground::open`] does, whose calls of conversations are counted.
    pub(super) async fn open_counted(
        &self,
        counting: &Arc<Counting>,
        adjust: impl FnOnce(&Self, MemoryBuilder) -> MemoryBuilder,
    ) -> Result<Memory, Failure> {
        let chat = self.chat.clone().layered(|store| Arc::new(Tapped::new(store, counting.clone())));
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
            .buffer(BufferConfig::default().with_folding(Folding::Off))
            .patience(PATIENCE)
            .clock(self.clock.clone());
        let builder = self.cache.iter().cloned().fold(builder, MemoryBuilder::cache);
        let builder = self.board.iter().cloned().fold(builder, MemoryBuilder::blackboard);
        // A journal belongs to one process.
        let builder = if self.is_behind { builder.journal(Arc::new(MemJournal::new(QUEUED))) } else { builder };
        Ok(adjust(self, builder).build().await?)
    }

    /// Returns the owner `subject` as a process sees it that wrote nothing: by the indexes alone.
    pub(super) async fn reader(&self, subject: &str) -> Result<Scoped, Failure> {
        Ok(self.open(|_, builder| builder).await?.of(&self.scope(subject)?))
    }

    /// Returns a scope of the scenario.
    pub(super) fn scope(&self, subject: &str) -> Result<Scope, Failure> {
        Ok(Scope::new(&self.tenant, subject)?)
    }
}
