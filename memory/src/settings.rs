//! [`Settings`]: where each part of a memory is stored, and how the memory is to be.

mod addresses;
mod build;
mod calls;
mod check;
mod connect;
mod file;
mod journal;
mod key;
mod keys;
mod models;
mod problem;
mod read;
mod schema;
mod secret;
#[cfg(test)]
mod tests;
mod values;
mod yaml;

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use memory_core::model::Embedder;
use memory_core::{Error, Result};

use crate::backend::normal;
use key::Value;
use keys::{
    BOARD, CACHE, CHAT_MODEL, EMBEDDING_MODEL, EMBEDDING_URL, EXTRACTOR_MODEL, FLUSH_BATCH, FLUSH_SECONDS, FOLDING,
    JOURNAL, PERSISTENT, PROVIDER, TEXT, TRUTH, VECTOR_SEARCH, VECTORS,
};
use values::Values;

pub use problem::{Problem, SettingsError};

/// Where each part of a memory is stored, and how the memory is to be. From code, from a file ([`Settings::from_file`]), from the
/// environment ([`Settings::from_env`]), or from all of them: what code says counts first, then the file, then the environment.
///
/// ```no_run
/// # async fn example(embedder: std::sync::Arc<dyn memory::model::Embedder>) -> memory::Result<()> {
/// let memory = memory::Settings::new("postgres://app@db/memory") // the truth
///     .with_vectors("qdrant://vectors:6334")
///     .with_text("elastic+https://search:9200")
///     .with_cache("redis://cache")
///     .with_embedder(embedder)
///     .open()
///     .await?
///     .build()
///     .await?;
/// # Ok(())
/// # }
/// ```
///
/// | part | URLs |
/// |---|---|
/// | truth | `sqlite:PATH` or a path, `memory:`, `postgres://…`, `redis://…` (conversations alone) |
/// | text | `sqlite:…`, `memory:`, `postgres://…`, `elastic://HOST:PORT`, or `elastic:` for what `ELASTIC_*` name |
/// | vectors | the same, and `qdrant://HOST:PORT`, or `qdrant:` for what `QDRANT_*` name |
/// | cache | `memory:`, `redis://…` |
/// | board | `memory:`, `redis://…` |
///
/// `redis+cluster://HOST:PORT,HOST:PORT` is a Redis Cluster, named by some of its nodes. `?prefix=NAME` behind a URL of
/// Redis, Qdrant or Elasticsearch, and `?schema=NAME` behind one of Postgres, keeps several memories apart on one server.
///
/// `elastic+https://`, `elastic+http://`, `qdrant+https://`, `qdrant+http://`, `rediss://` and `rediss+cluster://` say
/// whether the way is encrypted; without it, it is to every machine but this one (`redis://` is not). Text and vectors are
/// kept beside the truth where nothing else is said and the truth's backend can. So are boards where the truth is in Redis;
/// otherwise they are in this process, and no other process sees them. Servers get a guard each ([`memory_core::layer`]).
#[derive(Clone)]
pub struct Settings {
    values: Values,
    /// The first one answers.
    embedders: Vec<Arc<dyn Embedder>>,
    /// Nobody has given the first embedder.
    is_unasked: bool,
    /// The file of the journal, as code gave it.
    journal: Option<PathBuf>,
    /// There is to be no journal, whatever else says where one is.
    is_direct: bool,
}

impl fmt::Debug for Settings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { values, embedders, is_unasked: _, journal, is_direct } = self;
        let mut shown = f.debug_struct("Settings");
        shown.field("values", values).field("embedders", embedders).field("journal", journal);
        shown.field("is_direct", is_direct).finish()
    }
}

/// Settings that say nothing: a place for the truth is still needed.
impl Default for Settings {
    fn default() -> Self {
        Self::of(Values::default())
    }
}

impl Settings {
    /// Stores truth at `url`, and every other part that the backend of `url` can hold.
    pub fn new(url: impl Into<String>) -> Self {
        Self::default().with_truth(url)
    }

    /// Returns whether these settings choose an embedder, or none.
    pub fn names_embedder(&self) -> bool {
        !self.is_unasked || self.values.has(&EMBEDDING_MODEL) || self.values.has(&VECTOR_SEARCH)
    }

    /// Returns whether these settings choose who finds facts.
    ///
    /// ```
    /// let settings = |yaml: &str| memory::Settings::from_yaml(yaml, |_| None).unwrap();
    /// assert!(settings("memory: { extractor: { model: rules } }").names_extractor());
    /// assert!(!settings("memory: { extractor: { model: none } }").names_extractor());
    /// ```
    pub fn names_extractor(&self) -> bool {
        self.values.text(&EXTRACTOR_MODEL).is_some_and(|model| model != "none")
    }

    /// Returns whether these settings choose what becomes of the oldest messages of a full window.
    ///
    /// ```
    /// let settings = |yaml: &str| memory::Settings::from_yaml(yaml, |_| None).unwrap();
    /// assert!(settings("memory: { buffer: { folding: summaries } }").names_folding());
    /// assert!(!settings("memory: { buffer: { fold_at: 0.7 } }").names_folding());
    /// ```
    pub fn names_folding(&self) -> bool {
        self.values.has(&FOLDING)
    }

    /// Returns the name of the model that answers a chat, if the section `chat` names one.
    ///
    /// ```
    /// let settings = memory::Settings::from_yaml("memory: { chat: { model: ollama/llama3.2 } }", |_| None).unwrap();
    /// assert_eq!(settings.chat_model_name(), Some("llama3.2"));
    /// ```
    pub fn chat_model_name(&self) -> Option<&str> {
        models::named(&self.values, &CHAT_MODEL)?.1
    }

    /// Returns the model that answers a chat, if the section `chat` names one. It is asked nothing yet. One of Ollama may hold `window`
    /// tokens at once, request and answer together; all others know that of themselves.
    ///
    /// # Errors
    /// `Invalid` if its address or key is malformed.
    #[cfg(feature = "http-models")]
    pub fn chat_model(&self, window: u64) -> Result<Option<Arc<dyn memory_models::ChatModel>>> {
        models::answering(&self.values, window)
    }

    fn of(values: Values) -> Self {
        Self { values, embedders: built_in().into_iter().collect(), is_unasked: true, journal: None, is_direct: false }
    }

    /// Reads the environment.
    ///
    /// | variable | meaning |
    /// |---|---|
    /// | `MEMORY_URL` | where the truth is; required |
    /// | `MEMORY_TEXT_URL` | where the index of words is |
    /// | `MEMORY_VECTORS_URL` | where the index of meaning is, if there is an embedder |
    /// | `MEMORY_CACHE_URL` | where the cache is |
    /// | `MEMORY_BOARD_URL` | where boards are |
    /// | `SESSION_BUFFER_PATH` | the file of a journal before conversations: [`Settings::with_journal`] |
    /// | `SESSION_FLUSH_BATCH` | how many messages of a conversation may wait in it; 20. `SESSION_BUFFER_SIZE` means the same |
    /// | `SESSION_FLUSH_SECONDS` | how long a message may wait in it, in seconds; 5 |
    ///
    /// The backends' own variables (`ELASTIC_*`, `QDRANT_*`) count where a URL is `elastic:` or `qdrant:`.
    ///
    /// # Errors
    /// `Invalid` without `MEMORY_URL`.
    pub fn from_env() -> Result<Self> {
        let settings = Self::default().or_env();
        match settings.truth() {
            Some(_) => Ok(settings),
            None => Err(Error::invalid("MEMORY_URL is not set")),
        }
    }

    /// Takes the URLs of truth, text, vectors, cache and boards, and what is to be known of a journal, from the environment, where none
    /// was set.
    #[must_use]
    pub fn or_env(self) -> Self {
        self.or_values(variable)
    }

    fn or_values(mut self, value: impl Fn(&str) -> Option<String>) -> Self {
        self.values = self.values.or_values(value);
        self
    }

    /// Sets the URL of the truth.
    #[must_use]
    pub fn with_truth(mut self, url: impl Into<String>) -> Self {
        self.values.set_text(&TRUTH, normal(&url.into()));
        self.values.forget(&PERSISTENT);
        self.values.forget(&PROVIDER);
        self
    }

    /// Returns the URL of the truth, if there is one. It may hold a password.
    pub fn truth(&self) -> Option<&str> {
        match self.values.flag(&PERSISTENT) {
            Some(false) => Some("memory:"),
            _ => self.values.text(&TRUTH),
        }
    }

    /// Sets the URL of the text index.
    #[must_use]
    pub fn with_text(mut self, url: impl Into<String>) -> Self {
        self.values.set_text(&TEXT, normal(&url.into()));
        self
    }

    /// Sets the URL of the vector index. It needs an embedder.
    #[must_use]
    pub fn with_vectors(mut self, url: impl Into<String>) -> Self {
        self.values.set_text(&VECTORS, normal(&url.into()));
        self
    }

    /// Sets the URL of the cache. Default none.
    #[must_use]
    pub fn with_cache(mut self, url: impl Into<String>) -> Self {
        self.values.set_text(&CACHE, normal(&url.into()));
        self
    }

    /// Sets the URL of the boards that agents share ([`Scoped::blackboard`](memory_core::engine::Scoped::blackboard)), a hundred
    /// entries each. Default beside the truth where that is in Redis, otherwise in this process. Not on the server of a cache,
    /// which may be set to evict anything.
    ///
    /// ```
    /// # async fn example() -> memory::Result<()> {
    /// use memory::{BoardEntry, Scope, Settings};
    ///
    /// let memory = Settings::new("memory:").with_board("memory:").open().await?.build().await?; // or "redis://board"
    /// let team = memory.of(&Scope::team("acme", "research")?).blackboard();
    /// team.put(&BoardEntry::new("plan", "Ada writes, Bob reviews")).await?;
    /// assert_eq!(team.search("who is writing?", 3).await?.hits[0].entry.key, "plan");
    /// # Ok(())
    /// # }
    /// # tokio::runtime::Runtime::new().unwrap().block_on(example()).unwrap();
    /// ```
    #[must_use]
    pub fn with_board(mut self, url: impl Into<String>) -> Self {
        self.values.set_text(&BOARD, normal(&url.into()));
        self
    }

    /// Puts a journal before conversations, in a file of its own at `path`: an append returns once it is there, and the truth gets the
    /// messages afterwards, in batches. While the truth's server is away, appends go on, and contexts hold what was said meanwhile; it
    /// may be away when the memory is opened, too. Records are not queued. One process has a journal at a time, and one that holds messages
    /// is refused for another truth. Needs the feature `sqlite`. Default none.
    ///
    /// ```
    /// # async fn example(folder: &str) -> memory::Result<()> {
    /// use memory::{Message, Role, Scope, SessionId, Settings};
    ///
    /// let settings = Settings::new(format!("{folder}/memory.sqlite")).with_journal(format!("{folder}/journal.sqlite"));
    /// let memory = settings.open().await?.build().await?;
    /// let ada = memory.of(&Scope::new("acme", "ada")?);
    /// let session = ada.session(&SessionId::new("support")?);
    /// let receipt = session.append(vec![Message::new(Role::User, "Where is my order?", memory.now())]).await?;
    /// assert_eq!(receipt.durability, memory::store::Durability::Queued);
    /// session.flush().await?; // when the request ends; a batch, a size and an age do so too
    /// memory.close().await?;
    /// # Ok(())
    /// # }
    /// # let folder = tempfile::tempdir().unwrap();
    /// # tokio::runtime::Runtime::new().unwrap().block_on(example(folder.path().to_str().unwrap())).unwrap();
    /// ```
    #[doc(alias = "SessionBuffer")]
    #[must_use]
    pub fn with_journal(mut self, path: impl Into<PathBuf>) -> Self {
        (self.journal, self.is_direct) = (Some(path.into()), false);
        self
    }

    /// Does without a journal, whatever the environment says, before this call or behind it.
    #[must_use]
    pub fn without_journal(mut self) -> Self {
        (self.journal, self.is_direct) = (None, true);
        self.values.clear(JOURNAL.section());
        self
    }

    /// Returns the file of the journal, if there is to be one.
    pub fn journal(&self) -> Option<&Path> {
        let said = self.journal.as_deref().or_else(|| self.values.text(&JOURNAL).map(Path::new));
        said.filter(|_| !self.is_direct)
    }

    /// Sets how many messages of a conversation may wait in the journal. Default 20.
    #[must_use]
    pub fn with_flush_batch(mut self, messages: usize) -> Self {
        self.values.set(&FLUSH_BATCH, Value::Whole(messages.max(1) as u64), false);
        self
    }

    /// Sets how long a message may wait in the journal. Default 5 seconds.
    #[must_use]
    pub fn with_flush_age(mut self, age: Duration) -> Self {
        self.values.set(&FLUSH_SECONDS, Value::Number(age.as_secs_f64()), false);
        self
    }

    /// Searches by meaning through `embedder`. Default: the table that the feature `static` brings, unless the truth's place
    /// cannot hold its vectors, as a Postgres server without pgvector: then [`Stores::away`](crate::Stores::away) says why.
    #[must_use]
    pub fn with_embedder(mut self, embedder: Arc<dyn Embedder>) -> Self {
        match self.embedders.first_mut() {
            Some(first) => *first = embedder,
            None => self.embedders.push(embedder),
        }
        self.is_unasked = false;
        self.values.forget(&VECTOR_SEARCH);
        self.forget_model();
        self
    }

    /// Adds a vector index for `embedder` beside the one that answers, in the same place, as for a change of the embedder:
    /// [`MemoryBuilder::vectors_beside`](memory_core::engine::MemoryBuilder::vectors_beside).
    #[must_use]
    pub fn with_embedder_beside(mut self, embedder: Arc<dyn Embedder>) -> Self {
        self.embedders.push(embedder);
        self
    }

    fn forget_model(&mut self) {
        self.values.forget(&EMBEDDING_MODEL);
        self.values.clear(EMBEDDING_URL.section());
    }

    /// Searches by words alone.
    #[must_use]
    pub fn without_embedder(mut self) -> Self {
        self.embedders.clear();
        self.values.set(&VECTOR_SEARCH, Value::Flag(false), false);
        self.values.forget(&VECTORS);
        self.forget_model();
        self
    }
}

/// Returns the embedder of whoever names none.
fn built_in() -> Option<Arc<dyn Embedder>> {
    #[cfg(feature = "static")]
    return Some(Arc::new(memory_models::StaticEmbedder::new()));
    #[cfg(not(feature = "static"))]
    return None;
}

#[expect(clippy::disallowed_methods, reason = "this is configuration")]
fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|value| !value.trim().is_empty())
}
