//! The description of a backend: its URL schemes, the parts that it can hold, and how it is opened.

use std::collections::BTreeMap;
use std::fmt;
use std::pin::Pin;
use std::sync::Arc;

use memory_core::analysis::Analysis;
use memory_core::layer::GuardPolicy;
use memory_core::model::Embedder;
use memory_core::store::blackboard::Keep;
use memory_core::{Error, Result, Stores};

use super::url::query;

/// What a file says about its kind of place.
pub(super) struct Kind {
    /// Its name, which is that of its feature.
    pub(super) name: &'static str,
    /// What its URLs begin with, before the colon, in lower case.
    pub(super) schemes: &'static [&'static str],
    pub(super) holds: Holds,
    /// What its URLs may say behind a question mark.
    pub(super) parameters: &'static [&'static str],
    /// Those of them that say a name, or a word, that not every text is.
    pub(super) names: &'static [Name],
    /// Whether it is a server: one may be away for a while, and gets a guard.
    pub(super) is_server: bool,
    /// None where its feature is off.
    pub(super) open: Option<Open>,
}

/// What a parameter of a URL may say.
pub(super) struct Name {
    pub(super) parameter: &'static str,
    pub(super) is_legal: fn(&str) -> bool,
    /// What is legal, in words.
    pub(super) rule: &'static str,
}

/// The parts that can be kept in a place.
#[derive(Clone, Copy)]
pub(super) struct Holds {
    pub(super) truth: bool,
    pub(super) records: bool,
    pub(super) text: bool,
    pub(super) vectors: bool,
    pub(super) cache: bool,
    pub(super) board: bool,
}

impl Holds {
    pub(super) const NOTHING: Self =
        Self { truth: false, records: false, text: false, vectors: false, cache: false, board: false };
    pub(super) const TRUTH_AND_INDEXES: Self =
        Self { truth: true, records: true, text: true, vectors: true, cache: false, board: false };
}

/// Opens what is wanted of the place that a URL names.
pub(super) type Open = for<'a> fn(&'a str, &'a Wanted<'a>) -> Opening<'a>;
type Opening<'a> = Pin<Box<dyn Future<Output = Result<Stores>> + Send + 'a>>;

/// What is to be opened in one place.
#[derive(Clone, Copy)]
pub(crate) struct Wanted<'a> {
    pub(crate) truth: bool,
    pub(crate) analysis: Option<&'a Analysis>,
    /// An index of meaning for each.
    pub(crate) embedders: &'a [Arc<dyn Embedder>],
    pub(crate) cache: bool,
    /// The boards of owners: how many entries each holds, and what keeps one on a full board.
    pub(crate) board: Option<(usize, Keep)>,
    /// What the backend's own variables are to be, where the settings say so.
    pub(crate) named: &'a Named,
    /// How calls of a server are guarded, where its URL does not say otherwise.
    pub(crate) policy: &'a GuardPolicy,
}

/// Values of the variables of backends, such as `ELASTIC_HOST`, some of them secret. The environment has the others.
#[derive(Clone, Default)]
pub(crate) struct Named(pub(crate) BTreeMap<&'static str, String>);

impl fmt::Debug for Named {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Named").field(&self.0.keys()).finish()
    }
}

impl Named {
    /// Returns what a variable is.
    #[cfg(any(feature = "elastic", feature = "qdrant"))]
    #[expect(clippy::disallowed_methods, reason = "this is configuration")]
    pub(super) fn get(&self, name: &str) -> Option<String> {
        let value = self.0.get(name).cloned().or_else(|| std::env::var(name).ok());
        value.filter(|value| !value.trim().is_empty())
    }
}

impl Wanted<'_> {
    pub(crate) fn is_anything(&self) -> bool {
        self.truth || self.analysis.is_some() || !self.embedders.is_empty() || self.cache || self.board.is_some()
    }
}

impl Kind {
    pub(super) fn check(&self, wanted: &Wanted<'_>) -> Result<()> {
        let Holds { truth, records: _, text, vectors, cache, board } = self.holds;
        let table = [
            (wanted.truth && !truth, "hold conversations"),
            (wanted.analysis.is_some() && !text, "hold an index of words"),
            (!wanted.embedders.is_empty() && !vectors, "hold an index of meaning"),
            (wanted.cache && !cache, "be a cache"),
            (wanted.board.is_some() && !board, "hold boards"),
        ];
        table.into_iter().find(|(is_missing, _)| *is_missing).map_or(Ok(()), |(_, what)| Err(self.cannot(what)))
    }

    /// Returns `Ok` if a URL says nothing behind its question mark but what this kind knows. What is wrong is not quoted: it may be a
    /// piece of a password.
    pub(super) fn check_parameters(&self, url: &str) -> Result<()> {
        let (_, query) = if self.is_server { url.rsplit_once('?') } else { query(url) }.unwrap_or((url, ""));
        let mut pairs = query.split('&').filter(|pair| !pair.is_empty());
        if pairs.all(|pair| pair.split_once('=').is_some_and(|(name, _)| self.parameters.contains(&name))) {
            return Ok(());
        }
        let list = self.parameters.iter().map(|name| format!("{name}=")).collect::<Vec<_>>().join(", ");
        Err(Error::invalid(format!("behind the ? of a URL of {} stands one of {list}", self.name)))
    }

    /// Returns `Ok` if the names in the query of a URL are some that this kind takes. They are not quoted.
    pub(super) fn check_names(&self, query: &str) -> Result<()> {
        for (parameter, value) in query.split('&').filter_map(|pair| pair.split_once('=')) {
            let mut names = self.names.iter().filter(|name| name.parameter == parameter);
            if let Some(wrong) = names.find(|name| !(name.is_legal)(value)) {
                return Err(Error::invalid(wrong.rule));
            }
        }
        Ok(())
    }

    pub(super) async fn connect(&self, url: &str, wanted: &Wanted<'_>) -> Result<Stores> {
        match self.open {
            Some(open) => open(url, wanted).await,
            None => Err(self.cannot(&format!("be opened: the feature {} is off", self.name))),
        }
    }

    pub(super) fn cannot(&self, what: &str) -> Error {
        Error::Unsupported { backend: self.name, what: what.to_owned() }
    }
}
