//! The backends by their URLs: what each can hold, and how it is opened.

#[cfg(feature = "elastic")]
mod elastic;
#[cfg(any(feature = "redis", feature = "postgres", feature = "qdrant", feature = "elastic"))]
mod late;
#[cfg(feature = "postgres")]
mod postgres;
mod process;
#[cfg(feature = "qdrant")]
mod qdrant;
#[cfg(feature = "redis")]
mod redis;
#[cfg(feature = "sqlite")]
mod sqlite;
#[cfg(test)]
mod tests;
mod url;

use std::sync::Arc;

use memory_core::analysis::Analysis;
use memory_core::cache::Cache;
use memory_core::chat::ChatStore;
use memory_core::record::RecordStore;
use memory_core::text::TextStore;
use memory_core::vector::{EmbeddingSpace, VectorStore};
use memory_core::{Error, Result, Truth};

pub(crate) use url::normal;
use url::{path, split};

use crate::stores::Away;

/// A kind of place where a memory can live.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Backend {
    /// This process: `memory:`.
    Process,
    /// An SQLite file: `sqlite:PATH`, or a bare path.
    Sqlite,
    /// A Postgres server: `postgres://…`.
    Postgres,
    /// A Redis server: `redis://…`, `rediss://…`; or a cluster: `redis+cluster://…`, `rediss+cluster://…`.
    Redis,
    /// A Qdrant server: `qdrant://…`.
    Qdrant,
    /// An Elasticsearch server: `elastic://…`.
    Elastic,
}

impl Backend {
    /// Returns the backend that `url` names. Its kind may be written in any case.
    ///
    /// # Errors
    /// `Unsupported` if there is none of its kind.
    pub fn of(url: &str) -> Result<Self> {
        let none = || Error::Unsupported {
            backend: "memory",
            what: "open a database of this kind: write sqlite:PATH".to_owned(),
        };
        let url = url.trim();
        let Some((kind, rest)) = split(url) else {
            // A URL mistyped is no path.
            return if url.contains("://") { Err(none()) } else { path(url).map(|_| Self::Sqlite) };
        };
        match kind.as_str() {
            "memory" if rest.is_empty() => Ok(Self::Process),
            "sqlite" => path(rest).map(|_| Self::Sqlite),
            "postgres" | "postgresql" => Ok(Self::Postgres),
            "redis" | "rediss" | "redis+cluster" | "rediss+cluster" => Ok(Self::Redis),
            "qdrant" | "qdrant+http" | "qdrant+https" => Ok(Self::Qdrant),
            "elastic" | "elastic+http" | "elastic+https" => Ok(Self::Elastic),
            _ => Err(none()),
        }
    }

    /// Returns the path of the SQLite file that `url` names; none if it names something else.
    pub fn file(url: &str) -> Option<&str> {
        let url = url.trim();
        match Self::of(url) {
            Ok(Self::Sqlite) => path(split(url).map_or(url, |(_, rest)| rest)).ok(),
            _ => None,
        }
    }

    /// Returns its name, which is that of its feature.
    pub fn name(self) -> &'static str {
        match self {
            Self::Process => "memory",
            Self::Sqlite => "sqlite",
            Self::Postgres => "postgres",
            Self::Redis => "redis",
            Self::Qdrant => "qdrant",
            Self::Elastic => "elastic",
        }
    }

    /// Returns whether its feature is on.
    pub fn is_built_in(self) -> bool {
        match self {
            Self::Process => true,
            Self::Sqlite => cfg!(feature = "sqlite"),
            Self::Postgres => cfg!(feature = "postgres"),
            Self::Redis => cfg!(feature = "redis"),
            Self::Qdrant => cfg!(feature = "qdrant"),
            Self::Elastic => cfg!(feature = "elastic"),
        }
    }

    /// Returns whether conversations can be kept in it.
    pub fn holds_truth(self) -> bool {
        matches!(self, Self::Process | Self::Sqlite | Self::Postgres | Self::Redis)
    }

    /// Returns whether records can be kept in it, too.
    pub fn holds_records(self) -> bool {
        matches!(self, Self::Process | Self::Sqlite | Self::Postgres)
    }

    /// Returns whether an index of words can be kept in it.
    pub fn holds_text(self) -> bool {
        matches!(self, Self::Process | Self::Sqlite | Self::Postgres | Self::Elastic)
    }

    /// Returns whether an index of meaning can be kept in it.
    pub fn holds_vectors(self) -> bool {
        matches!(self, Self::Process | Self::Sqlite | Self::Postgres | Self::Qdrant | Self::Elastic)
    }

    /// Returns whether it can be a cache.
    pub fn is_cache(self) -> bool {
        matches!(self, Self::Process | Self::Redis)
    }

    fn cannot(self, what: &str) -> Error {
        Error::Unsupported { backend: self.name(), what: what.to_owned() }
    }
}

/// What is to be opened in one place.
pub(crate) struct Wanted<'a> {
    pub(crate) truth: bool,
    pub(crate) analysis: Option<&'a Analysis>,
    pub(crate) space: Option<&'a EmbeddingSpace>,
    pub(crate) cache: bool,
}

impl Wanted<'_> {
    pub(crate) fn is_anything(&self) -> bool {
        self.truth || self.analysis.is_some() || self.space.is_some() || self.cache
    }
}

/// What was opened.
#[derive(Default)]
pub(crate) struct Opened {
    pub(crate) chat: Option<Truth<dyn ChatStore>>,
    pub(crate) records: Option<Truth<dyn RecordStore>>,
    pub(crate) text: Option<Arc<dyn TextStore>>,
    pub(crate) vectors: Option<Arc<dyn VectorStore>>,
    pub(crate) cache: Option<Arc<dyn Cache>>,
    pub(crate) away: Option<Away>,
}

/// Opens what is wanted of the place that `url` names. A server that does not answer and holds no truth is asked again
/// when it is needed.
pub(crate) async fn open(url: &str, wanted: &Wanted<'_>) -> Result<Opened> {
    let backend = Backend::of(url)?;
    let table = [
        (wanted.truth && !backend.holds_truth(), "hold conversations"),
        (wanted.analysis.is_some() && !backend.holds_text(), "hold an index of words"),
        (wanted.space.is_some() && !backend.holds_vectors(), "hold an index of meaning"),
        (wanted.cache && !backend.is_cache(), "be a cache"),
    ];
    if let Some((_, what)) = table.into_iter().find(|(is_missing, _)| *is_missing) {
        return Err(backend.cannot(what));
    }
    if backend == Backend::Process {
        return Ok(process::open(wanted));
    }
    #[cfg(feature = "sqlite")]
    if let Some(file) = Backend::file(url) {
        return sqlite::open(file, wanted).await;
    }
    #[cfg(any(feature = "redis", feature = "postgres", feature = "qdrant", feature = "elastic"))]
    if backend != Backend::Sqlite && backend.is_built_in() {
        return match connect(backend, url, wanted).await {
            Err(error) if error.is_retryable() && !wanted.truth => Ok(guarded(late::open(backend, url, wanted, error))),
            opened => opened.map(guarded),
        };
    }
    Err(backend.cannot(&format!("be opened: the feature {} is off", backend.name())))
}

/// Connects to a server.
#[cfg(any(feature = "redis", feature = "postgres", feature = "qdrant", feature = "elastic"))]
async fn connect(backend: Backend, url: &str, wanted: &Wanted<'_>) -> Result<Opened> {
    match backend {
        #[cfg(feature = "postgres")]
        Backend::Postgres => postgres::open(url, wanted).await,
        #[cfg(feature = "redis")]
        Backend::Redis => redis::open(url, wanted).await,
        #[cfg(feature = "qdrant")]
        Backend::Qdrant => qdrant::open(url, wanted).await,
        #[cfg(feature = "elastic")]
        Backend::Elastic => elastic::open(url, wanted).await,
        _ => Err(backend.cannot("be connected to")),
    }
}

/// Puts a guard before each store of a server.
#[cfg(any(feature = "redis", feature = "postgres", feature = "qdrant", feature = "elastic"))]
fn guarded(opened: Opened) -> Opened {
    use memory_core::SystemClock;
    use memory_core::layer::{Guard, GuardPolicy, Guarded};

    let guard = |backend| Guard::new(backend, GuardPolicy::default(), Arc::new(SystemClock));
    let Opened { chat, records, text, vectors, cache, away } = opened;
    Opened {
        chat: chat.map(|chat| guard(chat.store().backend()).chat(chat)),
        records: records.map(|records| guard(records.store().backend()).records(records)),
        text: text.map(|store| {
            let guard = guard(store.backend());
            Arc::new(Guarded::new(store, guard)) as Arc<dyn TextStore>
        }),
        vectors: vectors.map(|store| {
            let guard = guard(store.backend());
            Arc::new(Guarded::new(store, guard)) as Arc<dyn VectorStore>
        }),
        // The builder gives a cache a guard of its own.
        cache,
        away,
    }
}
