//! Which server is asked, and how patiently.

#[cfg(test)]
mod tests;

use std::fmt;
use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use memory_core::secrets::without_secrets;
use memory_core::time::{Clock, SystemClock};
use memory_core::{Error, Result};
use reqwest::Url;
use secrecy::SecretString;

/// Which server is asked, and how patiently.
///
/// ```
/// use std::time::Duration;
///
/// use memory_models::HttpConfig;
///
/// # fn main() -> memory_core::Result<()> {
/// let config = HttpConfig::new("https://api.openai.com/v1")?
///     .with_key("sk-…")
///     .with_deadline(Duration::from_secs(60))
///     .with_requests_per_minute(500);
/// assert!(!format!("{config:?}").contains("sk-…"));
/// assert!(HttpConfig::new("http://models.example.org/v1").is_err(), "in clear over the network");
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
#[non_exhaustive]
pub struct HttpConfig {
    pub(super) url: Url,
    pub(super) key: Option<SecretString>,
    pub(super) connect: Duration,
    pub(super) silence: Duration,
    pub(super) deadline: Duration,
    pub(super) stream_deadline: Duration,
    pub(super) retries: u32,
    pub(super) requests_per_minute: Option<u32>,
    pub(super) concurrency: usize,
    pub(super) answer_bytes: usize,
    pub(super) clock: Arc<dyn Clock>,
}

impl HttpConfig {
    /// Returns the usual way to ask the server at `url`. A query in it, such as `?api-version=2024-10-21`, goes with every request.
    ///
    /// # Errors
    /// `Invalid` for an address that is none of `http` or `https`, that holds a password, or that is `http` to another machine:
    /// what is sent, and the key, would go over the network in clear. [`HttpConfig::in_clear`] allows it.
    pub fn new(url: &str) -> Result<Self> {
        let config = Self::in_clear(url)?;
        if config.url.scheme() == "http" && !config.is_loopback() {
            return Err(Error::invalid("a model on another machine is asked by https, unless clear text is allowed"));
        }
        Ok(config)
    }

    /// Returns the usual way to ask the server at `url`, also by `http` on another machine. Whoever is between reads what is sent and
    /// the key.
    ///
    /// # Errors
    /// `Invalid` for an address that is none of `http` or `https`, or that holds a password.
    pub fn in_clear(url: &str) -> Result<Self> {
        // The parser's own text would quote the address.
        let url = Url::parse(url.trim()).map_err(|_| Error::invalid("not the address of a model's server"))?;
        if !matches!(url.scheme(), "http" | "https") || url.host_str().is_none() {
            return Err(Error::invalid("the address of a model's server begins with http or https"));
        }
        if !url.username().is_empty() || url.password().is_some() {
            return Err(Error::invalid("a key does not belong into the address of a model's server"));
        }
        Ok(Self {
            url,
            key: None,
            connect: Duration::from_secs(5),
            silence: Duration::from_secs(120),
            deadline: Duration::from_secs(120),
            stream_deadline: Duration::from_secs(600),
            retries: 2,
            requests_per_minute: None,
            concurrency: 8,
            answer_bytes: 32 << 20,
            clock: Arc::new(SystemClock),
        })
    }

    /// Sets the key. It is shown nowhere, and sent to this server alone: redirects are not followed.
    #[must_use]
    pub fn with_key(mut self, key: impl Into<String>) -> Self {
        self.key = Some(SecretString::from(key.into()));
        self
    }

    /// Sets how long a connection may take. Default 5 seconds.
    #[must_use]
    pub fn with_connect_timeout(mut self, limit: Duration) -> Self {
        self.connect = limit;
        self
    }

    /// Sets how long the server may be silent: before the first byte of an answer, and between two parts of it. Default 2 minutes:
    /// a model that is loaded first, or that does not stream, is silent until it has done.
    #[must_use]
    pub fn with_silence(mut self, limit: Duration) -> Self {
        self.silence = limit;
        self
    }

    /// Sets how long a call may take, over all attempts and waits. Default 2 minutes.
    #[must_use]
    pub fn with_deadline(mut self, limit: Duration) -> Self {
        self.deadline = limit;
        self
    }

    /// Sets how long an answer may take that is streamed, over all attempts and waits. Default 10 minutes.
    #[must_use]
    pub fn with_stream_deadline(mut self, limit: Duration) -> Self {
        self.stream_deadline = limit;
        self
    }

    /// Sets how often a call is tried again where that may help. Default 2.
    ///
    /// Over a minute there are no more retries than one for ten calls, but at least one. An answer of which something was given on is
    /// not asked for again.
    #[must_use]
    pub fn with_retries(mut self, retries: u32) -> Self {
        self.retries = retries;
        self
    }

    /// Sets how many requests are made in a minute at the most, evenly spread. A call waits for its turn, and is `Overloaded` if that
    /// comes too late. Unless set, the server alone says when it is too much: if it asks to wait, all calls wait.
    #[must_use]
    pub fn with_requests_per_minute(mut self, requests: u32) -> Self {
        self.requests_per_minute = Some(requests.max(1));
        self
    }

    /// Sets how many requests are under way at once. Default 8. 32 times as many may wait, and any more are `Overloaded`.
    #[must_use]
    pub fn with_concurrency(mut self, requests: usize) -> Self {
        self.concurrency = requests.clamp(1, 1_024);
        self
    }

    /// Sets the most bytes of an answer. Default 32 MiB; a longer one is refused without being held.
    #[must_use]
    pub fn with_answer_bytes(mut self, bytes: usize) -> Self {
        self.answer_bytes = bytes;
        self
    }

    /// Sets the clock, by which a server's date says how long to wait. Default the machine's.
    #[must_use]
    pub fn with_clock(mut self, clock: Arc<dyn Clock>) -> Self {
        self.clock = clock;
        self
    }

    /// Returns the name of the server's host, by which a caller knows whose key it may be told.
    pub fn host(&self) -> &str {
        self.url.host_str().unwrap_or_default()
    }

    /// Returns the address of `path` on the server.
    pub(super) fn at(&self, path: &[&str]) -> Url {
        let mut url = self.url.clone();
        if let Ok(mut segments) = url.path_segments_mut() {
            segments.pop_if_empty().extend(path);
        }
        url
    }

    /// Returns whether the server is this machine.
    pub(super) fn is_loopback(&self) -> bool {
        let host = self.host().trim_start_matches('[').trim_end_matches(']');
        host == "localhost" || host.parse::<IpAddr>().is_ok_and(|address| address.is_loopback())
    }
}

impl fmt::Debug for HttpConfig {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HttpConfig")
            .field("url", &without_secrets(self.url.as_str()))
            .field("has_key", &self.key.is_some())
            .field("deadline", &self.deadline)
            .field("silence", &self.silence)
            .field("stream_deadline", &self.stream_deadline)
            .field("retries", &self.retries)
            .field("concurrency", &self.concurrency)
            .field("requests_per_minute", &self.requests_per_minute)
            .finish_non_exhaustive()
    }
}
