//! The backends by their URLs: what each can hold, and how it is opened.

mod process;
#[cfg(test)]
mod tests;

#[cfg(feature = "sqlite")]
mod sqlite;

use std::sync::Arc;

use memory_core::analysis::Analysis;
use memory_core::cache::Cache;
use memory_core::chat::ChatStore;
use memory_core::record::RecordStore;
use memory_core::text::TextStore;
use memory_core::vector::{EmbeddingSpace, VectorStore};
use memory_core::{Error, Result, Truth};

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
    /// A Redis server or cluster: `redis://…`, `rediss://…`.
    Redis,
    /// A Qdrant server: `qdrant://…`.
    Qdrant,
    /// An Elasticsearch server: `elastic://…`.
    Elastic,
}

impl Backend {
    /// Returns the backend that `url` names.
    ///
    /// # Errors
    /// `Unsupported` if there is none of its kind.
    pub fn of(url: &str) -> Result<Self> {
        let Some((kind, rest)) = split(url) else { return path(url).map(|_| Self::Sqlite) };
        match kind {
            "memory" if rest.is_empty() => Ok(Self::Process),
            "sqlite" => path(rest).map(|_| Self::Sqlite),
            "postgres" | "postgresql" => Ok(Self::Postgres),
            "redis" | "rediss" => Ok(Self::Redis),
            "qdrant" | "qdrant+http" | "qdrant+https" => Ok(Self::Qdrant),
            "elastic" | "elastic+http" | "elastic+https" => Ok(Self::Elastic),
            _ => Err(Error::Unsupported {
                backend: "memory",
                what: "open a database of this kind: write sqlite:PATH".to_owned(),
            }),
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
            Self::Postgres | Self::Redis | Self::Qdrant | Self::Elastic => false,
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

/// Returns `url` as it may be shown: without passwords, keys and tokens.
pub fn without_secrets(url: &str) -> String {
    let Some((kind, rest)) = url.split_once("://") else { return url.to_owned() };
    // The last @ ends what names the user: a password may hold others, and anything else.
    let (login, place) = rest.rfind('@').map_or(("", rest), |at| rest.split_at(at));
    let user = login.split_once(':').map_or(login, |(user, _)| user);
    let (place, query) = place.split_once('?').map_or((place, None), |(place, query)| (place, Some(query)));
    let mut shown = format!("{kind}://{user}{place}");
    for (number, pair) in query.into_iter().flat_map(|query| query.split('&')).enumerate() {
        shown.push(if number == 0 { '?' } else { '&' });
        let name = pair.split_once('=').map_or(pair, |(name, _)| name);
        let is_secret = ["pass", "key", "token", "secret"].iter().any(|part| name.to_lowercase().contains(part));
        shown.push_str(if is_secret { name } else { pair });
    }
    shown
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
}

/// Opens what is wanted of the place that `url` names.
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
    if backend == Backend::Sqlite {
        return sqlite::open(path(split(url).map_or(url, |(_, rest)| rest))?, wanted).await;
    }
    Err(backend.cannot(&format!("be opened: the feature {} is off", backend.name())))
}

/// Splits a URL into its kind and the rest; none for a bare path.
fn split(url: &str) -> Option<(&str, &str)> {
    let (kind, rest) = url.split_once(':')?;
    // A letter before a colon is a drive.
    let is_kind = kind.len() > 1 && kind.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'+');
    is_kind.then_some((kind, rest))
}

fn path(rest: &str) -> Result<&str> {
    let path = rest.strip_prefix("//").unwrap_or(rest);
    if path.is_empty() { Err(Error::invalid("the database has no path: write sqlite:PATH")) } else { Ok(path) }
}
