//! Where the four servers are, and how they are probed.

use std::sync::Arc;

use memory::model::HashEmbedder;
use memory::store::Health;
use memory::{Error, MessageId, Result, Settings, Stores};
use memory_testkit::Failure;
use memory_testkit::services::Servers;

/// The embedder of these tests; it counts words.
pub(crate) fn embedder() -> Arc<HashEmbedder> {
    Arc::new(HashEmbedder::new(64))
}

/// Returns a name that nobody else uses on the servers.
pub(crate) fn fresh_name() -> String {
    format!("s{}", MessageId::fresh().to_string().replace('-', ""))
}

/// The URLs of the four parts.
#[derive(Clone, Debug)]
pub(crate) struct Places {
    truth: String,
    cache: String,
    words: String,
    meanings: String,
}

impl Places {
    /// Returns places of their own on four servers, given the URL of each.
    ///
    /// A machine that stops for a while is no server that does not answer. Of a Postgres server that was killed each call waits for
    /// a connection as long as it may, so it may do so for less long.
    pub(crate) fn on(postgres: &str, redis: &str, elastic: &str, qdrant: &str) -> Self {
        let name = fresh_name();
        let place = |url: &str, key, deadline| with(&with(url, key, &name), "deadline", deadline);
        Self {
            truth: place(postgres, "schema", "20s"),
            cache: place(redis, "prefix", "60s"),
            words: place(&format!("elastic+{elastic}"), "prefix", "60s"),
            meanings: place(&format!("qdrant+{qdrant}"), "prefix", "60s"),
        }
    }

    /// Returns places of their own on the servers that all tests share.
    pub(crate) fn shared(servers: &Servers) -> std::result::Result<Self, Failure> {
        let [postgres, redis, elastic, qdrant] =
            ["postgres", "redis", "elastic", "qdrant"].map(|name| servers.url(name));
        Ok(Self::on(&postgres?, &redis?, &elastic?, &qdrant?))
    }

    /// Returns the URLs of the four parts, as [`Places::told`] reads them.
    pub(crate) fn urls(&self) -> [&str; 4] {
        [&self.truth, &self.cache, &self.words, &self.meanings]
    }

    /// Returns the places that another process has told.
    pub(crate) fn told(urls: &[String]) -> Option<Self> {
        let [truth, cache, words, meanings] = <[String; 4]>::try_from(urls.to_vec()).ok()?;
        Some(Self { truth, cache, words, meanings })
    }

    /// Opens the stores.
    pub(crate) async fn open(&self) -> Result<Stores> {
        let Self { truth, cache, words, meanings } = self;
        let settings = Settings::new(truth).with_cache(cache).with_text(words).with_vectors(meanings);
        settings.with_embedder(embedder()).connect().await
    }
}

/// Returns a URL that says something more.
pub(crate) fn with(url: &str, key: &str, value: &str) -> String {
    let sign = if url.contains('?') { '&' } else { '?' };
    format!("{url}{sign}{key}={value}")
}

pub(crate) async fn truth(url: String) -> Result<Health> {
    // Tables of another version may lie where they lie by default.
    let url = with(&url, "schema", &format!("probe{}", std::process::id()));
    Settings::new(url).connect().await?.chat()?.store().ping().await
}

pub(crate) async fn cache(url: String) -> Result<Health> {
    let stores = Settings::new("memory:").with_cache(url).connect().await?;
    stores.cache.ok_or(Error::Overloaded)?.ping().await
}

pub(crate) async fn words(url: String) -> Result<Health> {
    let stores = Settings::new("memory:").with_text(format!("elastic+{url}")).connect().await?;
    stores.text.ok_or(Error::Overloaded)?.ping().await
}

pub(crate) async fn meanings(url: String) -> Result<Health> {
    let settings = Settings::new("memory:").with_vectors(format!("qdrant+{url}"));
    let stores = settings.with_embedder(embedder()).connect().await?;
    stores.vectors.into_iter().next().ok_or(Error::Overloaded)?.0.ping().await
}
