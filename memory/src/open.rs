//! Opening a memory by its URL or by settings.

use std::sync::Arc;

use memory_core::engine::MemoryBuilder;
use memory_core::model::Embedder;
use memory_core::{Result, Stores};

use crate::settings::Settings;

/// Opens the stores that `url` names and returns a memory over them, ready to be adjusted and built.
///
/// | url | stores | feature |
/// |---|---|---|
/// | `sqlite:PATH`, or a bare path | one SQLite file, made if it is missing; with `?mode=ro` behind it read alone | `sqlite` |
/// | `memory:` | in this process, gone when it ends | always there |
/// | `postgres://USER@HOST/DATABASE` | conversations, records, and the indexes too | `postgres` |
/// | `redis://HOST` | conversations alone; nothing can be remembered beside them | `redis` |
/// | `redis+cluster://HOST:PORT,HOST:PORT` | the same in a Redis Cluster, named by some of its nodes | `redis-cluster` |
///
/// `?pool=N&deadline=TIME` behind a URL says how many calls run at once and how long one may take, `50ms` to `3600s`. What a backend
/// does not know there is `Invalid`. `docs/backends.md` has the defaults.
///
/// Search is by words and, with the feature `static`, by meaning through a small table inside the program
/// (`memory::models::StaticEmbedder`). For another embedder, see [`open_with`]; for none, and to take each part from a place of
/// its own, see [`Settings`].
///
/// # Errors
/// `Unsupported` for a URL of another kind, and for one whose feature is off, which is named; `Corrupt` for a file that
/// is no database of ours; `Backend` if it cannot be opened.
pub async fn open(url: &str) -> Result<MemoryBuilder> {
    Settings::new(url).open().await
}

/// Opens the stores that `url` names as [`open`] does, with search by meaning through `embedder`.
///
/// Without a model of your own: `StaticEmbedder`, which [`open`] takes, or `LocalEmbedder` of the feature `local`, a transformer.
/// Both need no network.
///
/// Vectors of another embedder in the same place are left alone: this one gets its own, filled by upkeep.
///
/// # Errors
/// As [`open`].
pub async fn open_with(url: &str, embedder: Arc<dyn Embedder>) -> Result<MemoryBuilder> {
    Settings::new(url).with_embedder(embedder).open().await
}

impl Settings {
    /// Opens the stores and returns a memory over them, ready to be adjusted and built.
    ///
    /// A server of an index or a cache may be away: [`Settings::connect`].
    ///
    /// # Errors
    /// As [`crate::open`]; `Unsupported` where a backend cannot hold a part; `Invalid` for vectors without an embedder.
    pub async fn open(self) -> Result<MemoryBuilder> {
        let stores = self.clone().connect().await?;
        self.over(stores)
    }
}

/// The page of backends, whose examples are compiled with those of this documentation.
#[cfg(doctest)]
#[doc = include_str!("../../docs/backends.md")]
struct Backends;

/// Begins a memory over open stores. It counts exactly, where exact counts are built in: the feature `tiktoken`.
pub fn over(stores: Stores) -> MemoryBuilder {
    let builder = MemoryBuilder::over(stores);
    #[cfg(feature = "tiktoken")]
    let builder = builder.counter(Arc::new(memory_core::window::TiktokenCounter::o200k()));
    builder
}
