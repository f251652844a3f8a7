//! How a server is reached, and how collections are made.

mod address;
#[cfg(test)]
mod tests;

use std::fmt;
use std::time::Duration;

use memory_core::{Error, Result};

use address::Address;

/// Which server to use, and how.
#[derive(Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct QdrantConfig {
    pub(crate) url: String,
    pub(crate) api_key: Option<Secret>,
    pub(crate) prefix: String,
    pub(crate) timeout: Duration,
    pub(crate) write_timeout: Duration,
    pub(crate) exact_below: u64,
    pub(crate) shards: u32,
    pub(crate) replicas: u32,
}

/// A text that is never shown.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct Secret(pub(crate) String);

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("hidden")
    }
}

impl QdrantConfig {
    /// Returns the usual way to use the server whose gRPC port is at `url`, such as `http://localhost:6334`.
    pub fn new(url: impl Into<String>) -> Self {
        Self {
            url: url.into(),
            api_key: None,
            prefix: "memory".to_owned(),
            timeout: Duration::from_secs(2),
            write_timeout: Duration::from_secs(10),
            exact_below: 20_000,
            shards: 1,
            replicas: 1,
        }
    }

    /// Reads the configuration from the environment; none if `QDRANT_URL` is not set or empty.
    ///
    /// | variable | meaning |
    /// |---|---|
    /// | `QDRANT_URL` | the address of the gRPC port, such as `http://localhost:6334` |
    /// | `QDRANT_API_KEY` | the key, where the server asks for one |
    /// | `QDRANT_PREFIX` | what the names of collections begin with; `memory` unless given |
    ///
    /// # Errors
    /// `Invalid` for a variable that is not Unicode.
    pub fn from_env() -> Result<Option<Self>> {
        let Some(url) = variable("QDRANT_URL")? else { return Ok(None) };
        let mut config = Self::new(url);
        if let Some(key) = variable("QDRANT_API_KEY")? {
            config = config.with_api_key(key);
        }
        if let Some(prefix) = variable("QDRANT_PREFIX")? {
            config = config.with_prefix(prefix);
        }
        Ok(Some(config))
    }

    /// Sets the key that every call carries. It is sent over TLS (`https://`) or to this machine only.
    #[must_use]
    pub fn with_api_key(mut self, key: impl Into<String>) -> Self {
        self.api_key = Some(Secret(key.into()));
        self
    }

    /// Sets what the names of collections begin with: ASCII letters, digits, `-` and `_`, at most 200. Default `memory`.
    #[must_use]
    pub fn with_prefix(mut self, prefix: impl Into<String>) -> Self {
        self.prefix = prefix.into();
        self
    }

    /// Sets how long a read may take. Default 2 seconds.
    #[must_use]
    pub fn with_timeout(mut self, timeout: Duration) -> Self {
        self.timeout = timeout;
        self
    }

    /// Sets how long a write of one chunk may take. Default 10 seconds.
    #[must_use]
    pub fn with_write_timeout(mut self, timeout: Duration) -> Self {
        self.write_timeout = timeout;
        self
    }

    /// Sets up to how many items of an owner every one of them is looked at. Default 20,000.
    ///
    /// Above that a search goes by Qdrant's index, which may miss a near item; it never returns fewer than there are.
    #[must_use]
    pub fn with_exact_below(mut self, items: u64) -> Self {
        self.exact_below = items;
        self
    }

    /// Sets into how many shards a new collection is split. Default 1; one that exists keeps its own.
    #[must_use]
    pub fn with_shards(mut self, shards: u32) -> Self {
        self.shards = shards.max(1);
        self
    }

    /// Sets how many copies of each shard a new collection has. Default 1; one that exists keeps its own.
    ///
    /// With several, a write waits for the majority of them, and reads ask the majority.
    #[must_use]
    pub fn with_replicas(mut self, replicas: u32) -> Self {
        self.replicas = replicas.max(1);
        self
    }

    /// Returns `Ok` if the key stays secret on its way to the server, and the names of collections are legal.
    ///
    /// # Errors
    /// `Invalid` for a URL that is none or holds credentials, a key over plaintext to another machine, or a prefix with
    /// other letters.
    pub(crate) fn check(&self) -> Result<()> {
        self.check_prefix()?;
        let address = Address::parse(&self.url)?;
        if self.api_key.is_some() && !address.is_encrypted && !address.is_loopback() {
            return Err(Error::invalid("a key is sent over https or to this machine only"));
        }
        Ok(())
    }

    /// Returns `Ok` if the names of collections are legal.
    ///
    /// # Errors
    /// `Invalid` for a prefix with other letters than the documented ones.
    pub(crate) fn check_prefix(&self) -> Result<()> {
        let is_legal = |letter: u8| letter.is_ascii_alphanumeric() || letter == b'-' || letter == b'_';
        if self.prefix.is_empty() || self.prefix.len() > 200 || !self.prefix.bytes().all(is_legal) {
            return Err(Error::invalid("a prefix holds 1 to 200 ASCII letters, digits, - and _"));
        }
        Ok(())
    }
}

impl fmt::Debug for QdrantConfig {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { url, api_key, prefix, timeout, write_timeout, exact_below, shards, replicas } = self;
        f.debug_struct("QdrantConfig")
            .field("url", &Address::shown(url))
            .field("api_key", api_key)
            .field("prefix", prefix)
            .field("timeout", timeout)
            .field("write_timeout", write_timeout)
            .field("exact_below", exact_below)
            .field("shards", shards)
            .field("replicas", replicas)
            .finish()
    }
}

#[expect(clippy::disallowed_methods, reason = "this is the configuration")]
fn variable(name: &str) -> Result<Option<String>> {
    match std::env::var(name) {
        Ok(value) if value.is_empty() => Ok(None),
        Ok(value) => Ok(Some(value)),
        Err(std::env::VarError::NotPresent) => Ok(None),
        Err(std::env::VarError::NotUnicode(_)) => Err(Error::invalid(format!("{name} is not Unicode"))),
    }
}
