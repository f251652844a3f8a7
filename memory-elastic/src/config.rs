//! Which server is used, and how.

mod environment;
#[cfg(test)]
mod tests;

use std::fmt;
use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use elasticsearch::http::Url;
use memory_core::error::{Error, Result};
use memory_core::secrets::without_secrets;
use memory_core::time::{Clock, SystemClock};
use percent_encoding::percent_decode_str;
use secrecy::SecretString;

use crate::error::BACKEND;

pub use environment::Configured;

/// The longest name of an index before the parts that this crate appends, in bytes.
const MAX_NAME: usize = 128;

/// Which server to use, and how.
#[derive(Clone)]
#[non_exhaustive]
pub struct ElasticConfig {
    pub(crate) url: Url,
    pub(crate) user: Option<(String, SecretString)>,
    pub(crate) allow_plaintext: bool,
    pub(crate) index: String,
    pub(crate) patience: Duration,
    pub(crate) bulk_patience: Duration,
    pub(crate) answer_bytes: usize,
    pub(crate) refresh: Duration,
    pub(crate) shards: u32,
    pub(crate) replicas: Option<u32>,
    pub(crate) allow_async: bool,
    pub(crate) clock: Arc<dyn Clock>,
}

impl ElasticConfig {
    /// Returns the usual way to use the server at `url`, such as `http://127.0.0.1:9200`.
    ///
    /// A user and a password in the address are taken out of it and percent-decoded. Indexes are called `kari_memory-…`.
    ///
    /// # Errors
    /// `Invalid` for an address that is none of `http` or `https`.
    pub fn new(url: &str) -> Result<Self> {
        // The parser's own text would quote the address, and with it a password.
        let mut url = Url::parse(url).map_err(|_| Error::invalid("not the address of a server"))?;
        if !matches!(url.scheme(), "http" | "https") || url.host_str().is_none() {
            return Err(Error::invalid("the address of a server begins with http or https"));
        }
        // What stands encoded in an address is sent as it was meant.
        let meant = |text: &str| percent_decode_str(text).decode_utf8_lossy().into_owned();
        let user = (!url.username().is_empty())
            .then(|| (meant(url.username()), SecretString::from(meant(url.password().unwrap_or_default()))));
        if url.set_username("").is_err() || url.set_password(None).is_err() {
            return Err(Error::invalid("not the address of a server"));
        }
        Ok(Self {
            url,
            user,
            allow_plaintext: false,
            index: "kari_memory".to_owned(),
            patience: Duration::from_secs(2),
            bulk_patience: Duration::from_secs(10),
            answer_bytes: 256 << 20,
            refresh: Duration::from_secs(1),
            shards: 1,
            replicas: None,
            allow_async: false,
            clock: Arc::new(SystemClock),
        })
    }

    /// Sets the user and the password.
    #[must_use]
    pub fn with_user(mut self, user: impl Into<String>, password: impl Into<SecretString>) -> Self {
        self.user = Some((user.into(), password.into()));
        self
    }

    /// Sets whether a password may be sent without encryption to a server that is not this machine. Default false.
    #[must_use]
    pub fn with_plaintext(mut self, allow: bool) -> Self {
        self.allow_plaintext = allow;
        self
    }

    /// Sets what the names of all indexes begin with. Default `kari_memory`.
    ///
    /// # Errors
    /// `Invalid` unless it is 1 to 128 lower-case letters, digits, `-` and `_`, the first a letter or digit.
    pub fn with_prefix(mut self, prefix: &str) -> Result<Self> {
        let is_legal = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || matches!(byte, b'-' | b'_');
        let starts = prefix.bytes().next().is_some_and(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit());
        if !starts || prefix.len() > MAX_NAME || !prefix.bytes().all(is_legal) {
            return Err(Error::invalid(
                "an index name has 1 to 128 lower-case letters, digits, hyphens and underscores",
            ));
        }
        prefix.clone_into(&mut self.index);
        Ok(self)
    }

    /// Sets how long one request may take. Default 2 seconds.
    #[must_use]
    pub fn with_patience(mut self, patience: Duration) -> Self {
        self.patience = patience;
        self
    }

    /// Sets how long one bulk request may take, and so may a refresh. Default 10 seconds.
    #[must_use]
    pub fn with_bulk_patience(mut self, patience: Duration) -> Self {
        self.bulk_patience = patience;
        self
    }

    /// Sets the most bytes that are read of one answer, unpacked. Default 256 MiB.
    #[must_use]
    pub fn with_answer_bytes(mut self, bytes: usize) -> Self {
        self.answer_bytes = bytes;
        self
    }

    /// Sets how often new indexes make writes findable, 10 milliseconds to a minute. Default 1 second.
    ///
    /// A put that is to be findable on return does not wait for it, but refreshes the index.
    #[must_use]
    pub fn with_refresh(mut self, interval: Duration) -> Self {
        self.refresh = interval.clamp(Duration::from_millis(10), Duration::from_secs(60));
        self
    }

    /// Sets the number of shards of new indexes, at least 1; all of an owner is in one of them. Default 1.
    #[must_use]
    pub fn with_shards(mut self, shards: u32) -> Self {
        self.shards = shards.clamp(1, 1_024);
        self
    }

    /// Sets the number of copies beside the first of new indexes. By default there is one as soon as a second node is.
    #[must_use]
    pub fn with_replicas(mut self, replicas: u32) -> Self {
        self.replicas = Some(replicas);
        self
    }

    /// Sets whether an index may be used whose writes are not synced before they are acknowledged. Default false.
    ///
    /// Stores then answer `Volatile`: such an index loses up to 5 seconds of acknowledged writes with the machine. Without it
    /// such an index is not opened, and one that became so is written to no more, within a minute.
    #[must_use]
    pub fn with_async_translog(mut self, allow: bool) -> Self {
        self.allow_async = allow;
        self
    }

    /// Sets the clock by which an index's settings are read again each minute. Default the machine's.
    #[must_use]
    pub fn with_clock(mut self, clock: Arc<dyn Clock>) -> Self {
        self.clock = clock;
        self
    }

    /// Returns whether the server is this machine.
    pub(crate) fn is_loopback(&self) -> bool {
        let host = self.url.host_str().unwrap_or_default().trim_start_matches('[').trim_end_matches(']');
        host == "localhost" || host.parse::<IpAddr>().is_ok_and(|address| address.is_loopback())
    }

    /// Returns `Ok` if the password may go where the address says.
    ///
    /// # Errors
    /// `Unsupported` if it would go over the network in clear.
    pub(crate) fn check(&self) -> Result<()> {
        let is_clear = self.url.scheme() == "http" && !self.is_loopback() && self.user.is_some();
        if is_clear && !self.allow_plaintext {
            let what = "send a password without encryption: use https, or allow it".to_owned();
            return Err(Error::Unsupported { backend: BACKEND, what });
        }
        Ok(())
    }
}

impl fmt::Debug for ElasticConfig {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let user = self.user.as_ref().map(|(user, _)| user);
        f.debug_struct("ElasticConfig")
            .field("url", &without_secrets(self.url.as_str()))
            .field("user", &user)
            .field("index", &self.index)
            .finish_non_exhaustive()
    }
}
