//! Opening a memory by its URL.

use std::sync::Arc;

use memory_core::analysis::Analysis;
use memory_core::chat::ChatStore;
use memory_core::engine::MemoryBuilder;
use memory_core::model::Embedder;
use memory_core::record::RecordStore;
use memory_core::reference::{MemChat, MemRecords, MemText, MemVectors};
use memory_core::{Error, Result, Truth};

/// Opens the stores that `url` names and returns a memory over them, ready to be adjusted and built.
///
/// | url | stores |
/// |---|---|
/// | `sqlite:PATH`, or a bare path | one SQLite file, made if it is missing (feature `sqlite`) |
/// | `memory:` | in this process, gone when it ends |
///
/// Search is by words. For search by meaning too, see [`open_with`].
///
/// # Errors
/// `Unsupported` for a URL of another kind, `Corrupt` for a file that is no database of ours, `Backend` if it cannot
/// be opened.
pub async fn open(url: &str) -> Result<MemoryBuilder> {
    open_stores(url, None).await
}

/// Opens the stores that `url` names as [`open`] does, with search by meaning through `embedder`.
///
/// Vectors of another embedder in the same file are left alone: this one gets its own, filled by upkeep.
///
/// # Errors
/// As [`open`].
pub async fn open_with(url: &str, embedder: Arc<dyn Embedder>) -> Result<MemoryBuilder> {
    open_stores(url, Some(embedder)).await
}

async fn open_stores(url: &str, embedder: Option<Arc<dyn Embedder>>) -> Result<MemoryBuilder> {
    let analysis = Analysis::english();
    let (kind, path) = match url.split_once(':') {
        Some((kind, path)) if kind.len() > 1 && kind.bytes().all(|byte| byte.is_ascii_lowercase()) => (kind, path),
        _ => ("sqlite", url),
    };
    match kind {
        "memory" if path.is_empty() => Ok(in_process(&analysis, embedder)),
        "sqlite" if !path.is_empty() => sqlite(path.strip_prefix("//").unwrap_or(path), &analysis, embedder).await,
        _ => Err(Error::Unsupported {
            backend: "memory",
            what: "open a database of this kind: write sqlite:PATH".into(),
        }),
    }
}

fn in_process(analysis: &Analysis, embedder: Option<Arc<dyn Embedder>>) -> MemoryBuilder {
    let chat = Truth::chat(Arc::new(MemChat::default()));
    let records = Truth::records(Arc::new(MemRecords::default()));
    let builder = begin(chat, records).text(Arc::new(MemText::new(analysis.name())));
    match embedder {
        Some(embedder) => builder.vectors(Arc::new(MemVectors::new(embedder.space().clone())), embedder),
        None => builder,
    }
}

#[cfg(feature = "sqlite")]
async fn sqlite(path: &str, analysis: &Analysis, embedder: Option<Arc<dyn Embedder>>) -> Result<MemoryBuilder> {
    use memory_sqlite::{Sqlite, SqliteChat, SqliteConfig, SqliteRecords, SqliteText, SqliteVectors};

    let sqlite = Sqlite::connect(SqliteConfig::new(path)).await?;
    let chat = Truth::chat(Arc::new(SqliteChat::new(&sqlite)));
    let records = Truth::records(Arc::new(SqliteRecords::new(&sqlite)));
    let builder = begin(chat, records).text(Arc::new(SqliteText::new(&sqlite, analysis.name())));
    match embedder {
        Some(embedder) => {
            let vectors = SqliteVectors::new(&sqlite, embedder.space().clone());
            Ok(builder.vectors(Arc::new(vectors), embedder))
        }
        None => Ok(builder),
    }
}

#[cfg(not(feature = "sqlite"))]
async fn sqlite(_path: &str, _analysis: &Analysis, _embedder: Option<Arc<dyn Embedder>>) -> Result<MemoryBuilder> {
    Err(Error::Unsupported { backend: "memory", what: "open an SQLite file: the feature sqlite is off".into() })
}

/// Begins a memory that counts exactly, where exact counts are built in.
fn begin(chat: Truth<dyn ChatStore>, records: Truth<dyn RecordStore>) -> MemoryBuilder {
    let builder = MemoryBuilder::new(chat, records);
    #[cfg(feature = "tiktoken")]
    let builder = builder.counter(Arc::new(memory_core::window::TiktokenCounter::o200k()));
    builder
}
