//! The backends that a URL can name. Each has a file beside this one and a line in [`KINDS`].

mod elastic;
mod kind;
mod late;
mod names;
mod postgres;
mod process;
mod qdrant;
mod redis;
mod sqlite;
#[cfg(test)]
mod tests;
mod tuning;
mod url;

use std::fmt;
use std::sync::Arc;

use memory_core::{Clock, Error, Result, Stores, SystemClock};

use kind::Kind;
pub(crate) use kind::{Named, Wanted};
pub(crate) use names::{is_collection, is_index};
use tuning::Tuning;
use url::{file, query, split};
pub(crate) use url::{is_here, normal};

static KINDS: &[Kind] = &[
    process::KIND,
    sqlite::KIND,
    postgres::KIND,
    redis::KIND,
    qdrant::KIND,
    elastic::KIND,
    #[cfg(test)]
    tests::WORDS,
];

/// A backend that a URL can name: the memory of this process, an SQLite file, or a kind of server.
#[derive(Clone, Copy)]
pub struct Backend(&'static Kind);

impl fmt::Debug for Backend {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Backend").field(&self.0.name).finish()
    }
}

impl Backend {
    /// Returns the backend that `url` names. The scheme of the URL may be in upper or lower case.
    ///
    /// # Errors
    /// `Unsupported` if no backend has this scheme; `Invalid` for SQLite without a path, and for a parameter behind `?` that the
    /// backend does not know.
    pub fn of(url: &str) -> Result<Self> {
        let url = url.trim();
        let (scheme, rest) = match split(url) {
            Some(parts) => parts,
            // A URL mistyped is no path.
            None if url.contains("://") => return Err(unknown()),
            None => ("sqlite".to_owned(), url),
        };
        let kind = KINDS.iter().find(|kind| kind.schemes.contains(&scheme.as_str())).ok_or_else(unknown)?;
        kind.check_parameters(url)?;
        match kind.name {
            "sqlite" => file(url).map(drop)?,
            "memory" if !rest.is_empty() => return Err(unknown()),
            _ => {}
        }
        Ok(Self(kind))
    }

    /// Returns the backend of a URL that leaves its server to the settings, such as `elastic:?deadline=10s`; none for any other URL.
    pub(crate) fn of_no_place(url: &str) -> Option<Self> {
        let (scheme, rest) = split(url.trim())?;
        let place = query(rest).map_or(rest, |(place, _)| place);
        let kind = KINDS.iter().find(|kind| kind.schemes.contains(&scheme.as_str()))?;
        matches!(place, "" | "//").then_some(Self(kind))
    }

    /// Returns the path of the SQLite file that `url` names; none if it names something else.
    pub fn file(url: &str) -> Option<&str> {
        let backend = Self::of(url).ok()?;
        (backend.name() == sqlite::KIND.name).then(|| file(url).ok()).flatten()
    }

    /// Returns the place that a URL of a server names, whoever logs in and however the connection is made; none where the URL alone
    /// tells.
    #[cfg(feature = "sqlite")]
    pub(crate) fn place(url: &str) -> Option<String> {
        let backend = Self::of(url).ok()?;
        (backend.name() == postgres::KIND.name).then(|| postgres::place(url.trim())).flatten()
    }

    /// Returns its name, which is also the name of its cargo feature.
    pub fn name(self) -> &'static str {
        self.0.name
    }

    /// Returns whether its cargo feature is enabled.
    pub fn is_built_in(self) -> bool {
        self.0.open.is_some()
    }

    /// Returns whether it can hold conversations.
    pub fn holds_truth(self) -> bool {
        self.0.holds.truth
    }

    /// Returns whether it can hold records.
    pub fn holds_records(self) -> bool {
        self.0.holds.records
    }

    /// Returns whether it can hold a text index, for search by words.
    pub fn holds_text(self) -> bool {
        self.0.holds.text
    }

    /// Returns whether it can hold a vector index, for search by meaning.
    pub fn holds_vectors(self) -> bool {
        self.0.holds.vectors
    }

    /// Returns whether it can be a cache.
    pub fn is_cache(self) -> bool {
        self.0.holds.cache
    }

    /// Returns whether it can hold the boards that agents share.
    pub fn holds_boards(self) -> bool {
        self.0.holds.board
    }

    /// Returns whether it can hold boards that other processes see.
    pub(crate) fn holds_shared_boards(self) -> bool {
        self.0.holds.board && self.0.is_server
    }
}

fn unknown() -> Error {
    Error::Unsupported { backend: "memory", what: "open a database of this kind: write sqlite:PATH".to_owned() }
}

/// Returns `Ok` if what a URL says behind its question mark can be: how much is asked at once, for how long, and what is named there.
///
/// # Errors
/// `Invalid`, which quotes nothing; as [`Backend::of`].
pub(crate) fn check_query(url: &str) -> Result<()> {
    let Backend(kind) = Backend::of(url)?;
    let asked = query(url).map(|(_, query)| format!("?{query}")).unwrap_or_default();
    let (left, _) = Tuning::take(if kind.is_server { url } else { asked.as_str() })?;
    left.rsplit_once('?').map_or(Ok(()), |(_, query)| kind.check_names(query))
}

/// Opens what is wanted of the place that `url` names. A server that does not answer is asked again when it is needed; one that
/// holds truth only if `may_be_away`.
pub(crate) async fn open(url: &str, wanted: &Wanted<'_>, may_be_away: bool) -> Result<Stores> {
    let Backend(kind) = Backend::of(url)?;
    kind.check(wanted)?;
    if !kind.is_server {
        return kind.connect(url, wanted).await;
    }
    let stores = match kind.connect(url, wanted).await {
        Err(error) if error.is_retryable() && (may_be_away || !wanted.truth) => late::open(kind, url, wanted, error),
        stores => stores?,
    };
    let clock: Arc<dyn Clock> = Arc::new(SystemClock);
    let (_, tuning) = Tuning::take(url)?;
    Ok(stores.guarded(&tuning.policy(wanted.policy), &clock))
}
