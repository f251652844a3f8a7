//! [`Settings`]: where each part of a memory is stored.

mod buffer;
#[cfg(test)]
mod tests;

use std::fmt;
use std::sync::Arc;

use memory_core::analysis::Analysis;
use memory_core::model::Embedder;
use memory_core::secrets::without_secrets;
use memory_core::{Away, Error, Result, Stores};

use crate::backend::{Backend, Wanted, normal, open};
use buffer::Buffer;

/// The variables that [`Settings::from_env`] reads.
const TRUTH: &str = "MEMORY_URL";
const TEXT: &str = "MEMORY_TEXT_URL";
const VECTORS: &str = "MEMORY_VECTORS_URL";
const CACHE: &str = "MEMORY_CACHE_URL";
const BOARD: &str = "MEMORY_BOARD_URL";

/// Where each part of a memory is stored.
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
    truth: String,
    text: Option<String>,
    vectors: Option<String>,
    /// Said by the environment: counts only where there is an embedder.
    vectors_if_embedded: Option<String>,
    cache: Option<String>,
    board: Option<String>,
    /// The journal before conversations.
    buffer: Buffer,
    /// The first one answers.
    embedders: Vec<Arc<dyn Embedder>>,
    /// Nobody has named the first embedder.
    is_unasked: bool,
}

impl fmt::Debug for Settings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { truth, text, vectors, vectors_if_embedded, cache, board, buffer, embedders, is_unasked: _ } = self;
        let shown = |url: &Option<String>| url.as_deref().map(without_secrets);
        f.debug_struct("Settings")
            .field("truth", &without_secrets(truth))
            .field("text", &shown(text))
            .field("vectors", &shown(vectors))
            .field("vectors_if_embedded", &shown(vectors_if_embedded))
            .field("cache", &shown(cache))
            .field("board", &shown(board))
            .field("buffer", buffer)
            .field("embedders", embedders)
            .finish()
    }
}

impl Settings {
    /// Stores truth at `url`, and every other part that the backend of `url` can hold.
    pub fn new(url: impl Into<String>) -> Self {
        Self {
            truth: normal(&url.into()),
            text: None,
            vectors: None,
            vectors_if_embedded: None,
            cache: None,
            board: None,
            buffer: Buffer::default(),
            embedders: built_in().into_iter().collect(),
            is_unasked: true,
        }
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
        let truth = variable(TRUTH).ok_or_else(|| Error::invalid(format!("{TRUTH} is not set")))?;
        Ok(Self::new(truth).or_env())
    }

    /// Takes the URLs of text, vectors, cache and boards, and what is to be known of a journal, from the environment, where none was
    /// set.
    #[must_use]
    pub fn or_env(self) -> Self {
        self.or_values(variable)
    }

    fn or_values(mut self, value: impl Fn(&str) -> Option<String>) -> Self {
        self.buffer = self.buffer.or_values(&value);
        let value = |name| value(name).map(|url| normal(&url));
        self.text = self.text.or_else(|| value(TEXT));
        self.vectors_if_embedded = value(VECTORS);
        self.cache = self.cache.or_else(|| value(CACHE));
        self.board = self.board.or_else(|| value(BOARD));
        self
    }

    /// Sets the URL of the text index.
    #[must_use]
    pub fn with_text(mut self, url: impl Into<String>) -> Self {
        self.text = Some(normal(&url.into()));
        self
    }

    /// Sets the URL of the vector index. It needs an embedder.
    #[must_use]
    pub fn with_vectors(mut self, url: impl Into<String>) -> Self {
        self.vectors = Some(normal(&url.into()));
        self
    }

    /// Sets the URL of the cache. Default none.
    #[must_use]
    pub fn with_cache(mut self, url: impl Into<String>) -> Self {
        self.cache = Some(normal(&url.into()));
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
    /// let team = memory.of(&Scope::new("acme", "team:research")?).blackboard();
    /// team.put(&BoardEntry::new("plan", "Ada writes, Bob reviews")).await?;
    /// assert_eq!(team.search("who is writing?", 3).await?.hits[0].entry.key, "plan");
    /// # Ok(())
    /// # }
    /// # tokio::runtime::Runtime::new().unwrap().block_on(example()).unwrap();
    /// ```
    #[must_use]
    pub fn with_board(mut self, url: impl Into<String>) -> Self {
        self.board = Some(normal(&url.into()));
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
    #[must_use]
    pub fn with_journal(mut self, path: impl Into<std::path::PathBuf>) -> Self {
        self.buffer.path = Some(path.into());
        self
    }

    /// Does without a journal, whatever the environment says.
    #[must_use]
    pub fn without_journal(mut self) -> Self {
        self.buffer = Buffer::default();
        self
    }

    /// Returns the file of the journal, if there is to be one.
    pub fn journal(&self) -> Option<&std::path::Path> {
        self.buffer.path.as_deref()
    }

    /// Sets how many messages of a conversation may wait in the journal. Default 20.
    #[must_use]
    pub fn with_flush_batch(mut self, messages: usize) -> Self {
        self.buffer.batch = Some(messages);
        self
    }

    /// Sets how long a message may wait in the journal. Default 5 seconds.
    #[must_use]
    pub fn with_flush_age(mut self, age: std::time::Duration) -> Self {
        self.buffer.age = Some(age);
        self
    }

    /// Searches by meaning through `embedder`. Default: the table that the feature `static` brings, unless the truth's place
    /// cannot hold its vectors, as a Postgres server without pgvector: then [`Stores::away`] says why.
    #[must_use]
    pub fn with_embedder(mut self, embedder: Arc<dyn Embedder>) -> Self {
        match self.embedders.first_mut() {
            Some(first) => *first = embedder,
            None => self.embedders.push(embedder),
        }
        self.is_unasked = false;
        self
    }

    /// Adds an index of the meaning that `embedder` sees beside the one that answers, in the same place, as for a change of the
    /// embedder: [`MemoryBuilder::vectors_beside`](memory_core::engine::MemoryBuilder::vectors_beside).
    #[must_use]
    pub fn with_embedder_beside(mut self, embedder: Arc<dyn Embedder>) -> Self {
        self.embedders.push(embedder);
        self
    }

    /// Searches by words alone.
    #[must_use]
    pub fn without_embedder(mut self) -> Self {
        self.embedders.clear();
        self
    }

    /// Opens the stores, without a memory over them.
    ///
    /// A server of an index or a cache that does not answer is named in [`Stores::away`], and asked again when it is needed:
    /// until then searches answer without it, and say so. Truth has to answer, unless there is a journal.
    ///
    /// # Errors
    /// As [`Settings::open`].
    pub async fn connect(self) -> Result<Stores> {
        let truth = Backend::of(&self.truth)?;
        if self.vectors.is_some() && self.embedders.is_empty() {
            return Err(Error::invalid("search by meaning needs an embedder"));
        }
        let policy = self.buffer.policy()?;
        let may_be_away = self.buffer.path.is_some();
        let analysis = Analysis::english();
        let beside = |can: bool| can.then(|| self.truth.clone());
        let text = self.text.clone().or_else(|| beside(truth.holds_text()));
        let vectors = self.vectors.clone().or_else(|| self.vectors_if_embedded.clone());
        let vectors = vectors.filter(|_| !self.embedders.is_empty()).or_else(|| beside(truth.holds_vectors()));
        let board = self.board.clone().or_else(|| beside(truth.holds_shared_boards()));
        let is_dispensable = self.is_unasked && vectors.as_ref() == Some(&self.truth);
        let (mut stores, mut opened) = (Stores::default(), Vec::new());
        for url in [Some(&self.truth), text.as_ref(), vectors.as_ref(), self.cache.as_ref(), board.as_ref()]
            .into_iter()
            .flatten()
        {
            if opened.contains(&url) {
                continue;
            }
            opened.push(url);
            let here = |part: &Option<String>| part.as_ref() == Some(url);
            let wanted = Wanted {
                truth: *url == self.truth,
                analysis: here(&text).then_some(&analysis),
                embedders: if here(&vectors) { &self.embedders } else { &[] },
                cache: here(&self.cache),
                board: here(&board),
            };
            if !wanted.is_anything() {
                continue;
            }
            let part = match open(url, &wanted, may_be_away).await {
                Err(why @ Error::Unsupported { .. }) if wanted.truth && is_dispensable => {
                    let part = open(url, &Wanted { embedders: &[], ..wanted }, may_be_away).await?;
                    stores.away.push(Away { backend: truth.name(), why });
                    part
                }
                part => part?,
            };
            stores = stores.or(part);
        }
        stores.journal = self.buffer.open(&self.truth).await?;
        stores.behind = policy;
        Ok(stores)
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
