//! A process of the simulation: a memory of its own over the shared stores, with guards, behind the wire.

use std::sync::Arc;
use std::time::Duration;

use memory_core::engine::Memory;
use memory_core::layer::GuardPolicy;
use memory_core::store::cache::Cache;
use memory_core::window::BufferConfig;
use memory_core::{Result, Truth};
use tokio::time::sleep;

use super::site::Ground;
use super::wire::{Caller, Wire};
use super::wired::WiredStore;
use super::world::World;

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
        let Ground { chat, records, text, vectors, cache } = &self.site.ground;
        let wire = &self.wire;
        let chat: Truth<dyn memory_core::store::chat::ChatStore> = chat
            .clone()
            .layered(|inner| far(inner, "chat", caller, wire))
            .layered_upkeep(|inner| far(inner, "chat upkeep", caller, wire));
        let records: Truth<dyn memory_core::store::records::RecordStore> = records
            .clone()
            .layered(|inner| far(inner, "records", caller, wire))
            .layered_upkeep(|inner| far(inner, "records upkeep", caller, wire));
        let cache = cache.clone().map(|cache| far(cache, "cache", caller, wire) as Arc<dyn Cache>);
        let text = far(text.clone(), "text", caller, wire);
        let vectors = far(vectors.clone(), "vectors", caller, wire);
        let ground = Ground { chat, records, text, vectors, cache };
        let builder = match with_vectors {
            true => ground.builder(self.site.embedder.clone()),
            false => ground.builder_without_vectors(),
        };
        let builder = builder
            .guard(GuardPolicy::default())
            .clock(self.clock.clone())
            .buffer(BufferConfig::default().with_limit(WINDOW));
        builder.build().await
    }
}

fn far<S: ?Sized>(inner: Arc<S>, part: &'static str, caller: &Caller, wire: &Arc<Wire>) -> Arc<WiredStore<S>> {
    Arc::new(WiredStore { inner, part, caller: caller.clone(), wire: Arc::clone(wire) })
}
