//! Tests a memory whose index loses everything: upkeep fills it again, and the status shows how many notes are left.

use std::sync::Arc;
use std::time::Duration;

use memory_core::engine::Memory;
use memory_core::reference::{MemChat, MemRecords};
use memory_core::{ItemId, Message, MessageId, Role, Scope, SessionId, Truth};

use super::Index;
use crate::check::{Failure, Scene, equal};
use crate::doubles::{FakeEmbedder, ManualClock};
use crate::environment::messages;

/// How many messages are said, unless `MEMORY_TEST_MESSAGES` says otherwise.
const USUAL: usize = 1_000;
/// Messages of a session.
const SESSION: usize = 100;
/// Items whose versions are asked for together.
const BATCH: usize = 500;
/// The most passes, if the server is late.
const PASSES: usize = 3;

/// Checks that an index that lost everything is filled again by upkeep alone, and that its status tells of notes until it is.
///
/// `lose` deletes everything in the index, as an operator does who drops or empties it.
///
/// # Errors
/// The first promise that is not kept.
pub async fn index_fills_again<F: Future<Output = Scene>>(index: Index, lose: impl FnOnce() -> F) -> Scene {
    let indexed = IndexedMemory::open(index).await?;
    let all = indexed.say(messages(USUAL)).await?;
    indexed.fills(all.len()).await?;
    equal(indexed.held(&all).await?, all.len())?;
    lose().await?;
    // The place of an index is asked for now and then.
    indexed.clock.advance(Duration::from_secs(120));
    indexed.fills(all.len()).await?;
    equal(indexed.held(&all).await?, all.len())
}

/// A memory with the index under test.
struct IndexedMemory {
    memory: Memory,
    index: Index,
    clock: Arc<ManualClock>,
    ada: Scope,
}

impl IndexedMemory {
    async fn open(index: Index) -> Result<Self, Failure> {
        let (embedder, clock) = (Arc::new(FakeEmbedder::new(8)), Arc::new(ManualClock::default()));
        let (chat, records) = (Truth::chat(Arc::<MemChat>::default()), Truth::records(Arc::<MemRecords>::default()));
        let memory = Memory::builder(chat, records).clock(clock.clone());
        let memory = match index.clone() {
            Index::Text(text) => memory.text(text),
            Index::Vectors(vectors) => memory.vectors(vectors, embedder),
        };
        let memory = memory.build().await?;
        Ok(Self { memory, index, clock, ada: Scope::new("refill", &MessageId::fresh().to_string())? })
    }

    /// Says so many messages, and returns them.
    async fn say(&self, count: usize) -> Result<Vec<ItemId>, Failure> {
        let mut all = Vec::new();
        for first in (0..count).step_by(SESSION) {
            let talk = self.memory.of(&self.ada).session(&SessionId::new(&format!("s{first}"))?);
            let said = (first..count.min(first + SESSION)).map(|number| {
                let text = format!("Rose number {number} flowers in week {} behind the house.", number % 52);
                Message::new(Role::User, text, self.memory.now())
            });
            let said: Vec<Message> = said.collect();
            all.extend(said.iter().map(|message| ItemId::Message(message.id)));
            talk.append(said).await?;
        }
        Ok(all)
    }

    /// Lets upkeep run until nothing is noted, and checks that the status told of notes before. What a busy server does not do
    /// in time is asked for again.
    async fn fills(&self, messages: usize) -> Scene {
        let (mut seen, mut indexed) = (0, 0);
        for pass in 1..=PASSES {
            let mut upkeep = std::pin::pin!(self.memory.upkeep_once());
            let report = loop {
                tokio::select! {
                    report = &mut upkeep => break report?,
                    () = tokio::time::sleep(Duration::from_millis(10)) => seen = seen.max(self.pending().await?),
                }
            };
            indexed += report.indexed;
            if report.failures.is_empty() {
                break;
            }
            check!(pass < PASSES && report.dead + report.rejected == 0, "{report:?}");
            self.clock.advance(Duration::from_secs(60));
        }
        check!(indexed >= messages, "{indexed} of {messages} entries were put");
        check!(seen > 0, "the status told of no notes meanwhile");
        equal(self.pending().await?, 0)
    }

    async fn pending(&self) -> Result<u64, Failure> {
        let indexes = self.memory.status().await.indexes;
        let backlog = indexes.into_iter().next().ok_or_else(|| Failure::new("no index is open"))?.backlog?;
        Ok(backlog.pending + backlog.dead)
    }

    /// Returns how many of the messages the index holds.
    async fn held(&self, items: &[ItemId]) -> Result<usize, Failure> {
        let mut held = 0;
        for batch in items.chunks(BATCH) {
            held += match &self.index {
                Index::Text(text) => text.versions(&self.ada, batch).await?.len(),
                Index::Vectors(vectors) => vectors.versions(&self.ada, batch).await?.len(),
            };
        }
        Ok(held)
    }
}
