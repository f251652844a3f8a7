//! A process of a play: a memory of its own over the shared stores, behind guards, at the other end of the wire.

use std::sync::Arc;
use std::time::Duration;

use memory_core::cache::Cache;
use memory_core::engine::{Memory, WindowConfig};
use memory_core::layer::GuardPolicy;
use memory_core::{Result, Truth};
use tokio::time::sleep;

use super::far::Far;
use super::wire::{Caller, Wire};
use super::world::{Ground, World};

/// So few tokens fit into a window that some of it is summarised in most plays.
const WINDOW: u64 = 120;

impl World {
    /// Opens the memory of a process, with the index of vectors or without; again and again until that succeeds.
    pub(super) async fn open(&self, caller: &Caller, with_vectors: bool) -> Memory {
        loop {
            match self.build(caller, with_vectors).await {
                Ok(memory) => return memory,
                Err(_) => sleep(Duration::from_secs(1)).await,
            }
        }
    }

    async fn build(&self, caller: &Caller, with_vectors: bool) -> Result<Memory> {
        let Ground { chat, records, text, vectors, cache } = &self.ground;
        let wire = &self.wire;
        let chat: Truth<dyn memory_core::chat::ChatStore> = chat
            .clone()
            .layered(|inner| far(inner, "chat", caller, wire))
            .layered_upkeep(|inner| far(inner, "chat upkeep", caller, wire));
        let records: Truth<dyn memory_core::record::RecordStore> = records
            .clone()
            .layered(|inner| far(inner, "records", caller, wire))
            .layered_upkeep(|inner| far(inner, "records upkeep", caller, wire));
        let cache: Arc<dyn Cache> = far(cache.clone(), "cache", caller, wire);
        let mut builder = Memory::builder(chat, records).text(far(text.clone(), "text", caller, wire));
        if with_vectors {
            builder = builder.vectors(far(vectors.clone(), "vectors", caller, wire), self.embedder.clone());
        }
        let builder = builder
            .cache(cache)
            .guard(GuardPolicy::default())
            .clock(self.clock.clone())
            .window(WindowConfig::default().with_limit(WINDOW));
        builder.build().await
    }
}

fn far<S: ?Sized>(inner: Arc<S>, part: &'static str, caller: &Caller, wire: &Arc<Wire>) -> Arc<Far<S>> {
    Arc::new(Far { inner, part, caller: caller.clone(), wire: Arc::clone(wire) })
}
