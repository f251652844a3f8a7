//! Which server to connect to, and how.

use std::fmt;
use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use memory_core::error::{Error, Result};
use memory_core::secrets::without_secrets;
use memory_core::time::Clock;

/// How long a server may take to answer.
const RESPONSE: Duration = Duration::from_millis(500);
/// How long a connection may take to stand.
const CONNECT: Duration = Duration::from_secs(1);

/// Which server to connect to, and how. Shown without passwords.
#[derive(Clone)]
#[non_exhaustive]
pub struct RedisConfig {
    pub(crate) urls: Vec<String>,
    pub(crate) is_cluster: bool,
    pub(crate) prefix: String,
    pub(crate) response_timeout: Duration,
    pub(crate) connect_timeout: Duration,
    pub(crate) allow_lossy: bool,
    pub(crate) clock: Option<Arc<dyn Clock>>,
    pub(crate) root_certificate: Option<Vec<u8>>,
}

impl RedisConfig {
    /// Returns the usual way to connect to the server at `url`: `redis://[user:password@]host[:port][/database]`, or
    /// `rediss://` for TLS, which needs the feature `tls`.
    pub fn new(url: impl Into<String>) -> Self {
        Self {
            urls: vec![url.into()],
            is_cluster: false,
            prefix: "mem".to_owned(),
            response_timeout: RESPONSE,
            connect_timeout: CONNECT,
            allow_lossy: false,
            clock: None,
            root_certificate: None,
        }
    }

    /// Returns the usual way to connect to a Redis Cluster; some of its nodes are enough.
    #[cfg(feature = "cluster")]
    pub fn cluster(urls: impl IntoIterator<Item = impl Into<String>>) -> Self {
        let urls = urls.into_iter().map(Into::into).collect();
        Self { urls, is_cluster: true, ..Self::new("") }
    }

    /// Reads the configuration from the environment; none if `REDIS_URL` is unset or empty.
    ///
    /// `REDIS_URL` is the server, `REDIS_PREFIX` what all keys begin with, `REDIS_TIMEOUT_MS` how long an answer may take.
    ///
    /// # Errors
    /// `Invalid` if `REDIS_TIMEOUT_MS` is not a number of milliseconds.
    pub fn from_env() -> Result<Option<Self>> {
        Self::from_variables(|name| {
            #[expect(clippy::disallowed_methods, reason = "this is the configuration")]
            std::env::var(name).ok()
        })
    }

    fn from_variables(read: impl Fn(&str) -> Option<String>) -> Result<Option<Self>> {
        let read = |name: &str| read(name).filter(|value| !value.is_empty());
        let Some(url) = read("REDIS_URL") else { return Ok(None) };
        let mut config = Self::new(url);
        if let Some(prefix) = read("REDIS_PREFIX") {
            config = config.with_prefix(prefix);
        }
        if let Some(timeout) = read("REDIS_TIMEOUT_MS") {
            let timeout =
                timeout.parse().map_err(|_| Error::invalid("REDIS_TIMEOUT_MS is a number of milliseconds"))?;
            config = config.with_timeout(Duration::from_millis(timeout));
        }
        Ok(Some(config))
    }

    /// Sets what all keys begin with. Stores with different prefixes share nothing: upkeep sees the owners of its own alone.
    /// Default `mem`; 1 to 64 ASCII letters, digits, `-`, `_`, `.` and `:`.
    #[must_use]
    pub fn with_prefix(mut self, prefix: impl Into<String>) -> Self {
        self.prefix = prefix.into();
        self
    }

    /// Sets how long a small call may take, an outage and a new connection included. Default 500 ms; a second more for
    /// each 8 MiB or 10,000 items that a call sends.
    #[must_use]
    pub fn with_timeout(mut self, timeout: Duration) -> Self {
        self.response_timeout = timeout;
        self
    }

    /// Sets how long a connection may take to stand. Default 1 s.
    #[must_use]
    pub fn with_connect_timeout(mut self, timeout: Duration) -> Self {
        self.connect_timeout = timeout;
        self
    }

    /// Sets whether conversations may be kept in a server that evicts them when its memory is full. Default false.
    #[must_use]
    pub fn with_allow_lossy(mut self, allow_lossy: bool) -> Self {
        self.allow_lossy = allow_lossy;
        self
    }

    /// Sets the clock by which cached values and entries of boards expire. Default the server's, which all clients share.
    #[must_use]
    pub fn with_clock(mut self, clock: Arc<dyn Clock>) -> Self {
        self.clock = Some(clock);
        self
    }

    /// Sets the certificates (PEM) that the server's is checked against. Default those of the system.
    #[cfg(feature = "tls")]
    #[must_use]
    pub fn with_root_certificate(mut self, pem: impl Into<Vec<u8>>) -> Self {
        self.root_certificate = Some(pem.into());
        self
    }

    /// Returns whether the way to some server is encrypted.
    pub(crate) fn is_encrypted(&self) -> bool {
        let mut kinds = self.urls.iter().filter_map(|url| url.split_once(':'));
        kinds.any(|(kind, _)| kind.trim_start().eq_ignore_ascii_case("rediss"))
    }

    /// Returns whether a password goes to another machine without encryption.
    pub(crate) fn tells_password(&self) -> bool {
        self.urls.iter().any(|url| {
            let Some((kind, place)) = url.trim_start().split_once("://") else { return false };
            let authority = place.split(['/', '?', '#']).next().unwrap_or_default();
            let Some((_, host)) = authority.rsplit_once('@') else { return false };
            kind.eq_ignore_ascii_case("redis") && !is_here(host)
        })
    }

    /// Returns `Ok` if a server can be connected to in this way.
    pub(crate) fn check(&self) -> Result<()> {
        let is_legal = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.:".contains(&byte);
        if !(1..=64).contains(&self.prefix.len()) || !self.prefix.bytes().all(is_legal) {
            return Err(Error::invalid("a prefix holds 1 to 64 ASCII letters, digits, `-`, `_`, `.` and `:`"));
        }
        if self.response_timeout.is_zero() || self.connect_timeout.is_zero() {
            return Err(Error::invalid("a timeout is longer than zero"));
        }
        if !cfg!(feature = "tls") && self.is_encrypted() {
            return Err(Error::invalid("rediss:// needs the feature tls of memory-redis"));
        }
        Ok(())
    }
}

/// Returns whether `HOST:PORT` is on this machine.
fn is_here(host: &str) -> bool {
    let host = match host.strip_prefix('[') {
        Some(host) => host.split(']').next().unwrap_or_default(),
        None => host.split(':').next().unwrap_or_default(),
    };
    host.eq_ignore_ascii_case("localhost") || host.parse::<IpAddr>().is_ok_and(|address| address.is_loopback())
}

impl fmt::Debug for RedisConfig {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { urls, is_cluster, prefix, response_timeout, connect_timeout, allow_lossy, clock, root_certificate } =
            self;
        f.debug_struct("RedisConfig")
            .field("places", &urls.iter().map(|url| without_secrets(url)).collect::<Vec<_>>())
            .field("is_cluster", is_cluster)
            .field("prefix", prefix)
            .field("response_timeout", response_timeout)
            .field("connect_timeout", connect_timeout)
            .field("allow_lossy", allow_lossy)
            .field("clock", clock)
            .field("has_root_certificate", &root_certificate.is_some())
            .finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shows_no_password() {
        for url in [
            "redis://ada:hunter2@host:1/2",
            "rediss://:hunter2@host:1/2",
            "redis://host:1/2?password=hunter2",
            "redis://a:hunter2%40@host:1/2#x",
            "REDIS://a:hun?hunter2#@host:1/2",
        ] {
            let shown = format!("{:?}", RedisConfig::new(url));
            assert!(!shown.contains("hunter2") && shown.contains("host:1/2"), "{shown}");
        }
    }

    #[test]
    fn knows_where_a_password_goes_in_clear() {
        for open in ["redis://:x@cache", "REDIS://ada:x@10.0.0.1:6379/2", "redis://:x@localhost.example.org"] {
            assert!(RedisConfig::new(open).tells_password(), "{open}");
        }
        let closed = ["redis://cache", "rediss://:x@cache", "redis://:x@127.0.0.1:1", "redis://:x@[::1]:1/0"];
        for closed in closed.into_iter().chain(["redis://:x@localhost", "redis+unix:///run/redis?pass=x"]) {
            assert!(!RedisConfig::new(closed).tells_password(), "{closed}");
        }
    }

    #[test]
    fn reads_the_environment() {
        let read = |name: &str| match name {
            "REDIS_URL" => Some("redis://host".to_owned()),
            "REDIS_PREFIX" => Some("mine".to_owned()),
            "REDIS_TIMEOUT_MS" => Some("70".to_owned()),
            _ => None,
        };
        let config = RedisConfig::from_variables(read).unwrap().unwrap();
        assert_eq!((config.urls, config.prefix), (vec!["redis://host".to_owned()], "mine".to_owned()));
        assert_eq!(config.response_timeout, Duration::from_millis(70));
        assert!(RedisConfig::from_variables(|_| None).unwrap().is_none());
        assert!(RedisConfig::from_variables(|_| Some(String::new())).unwrap().is_none());
        assert!(RedisConfig::from_variables(|_| Some("soon".to_owned())).is_err());
    }

    #[test]
    fn refuses_prefixes_that_break_keys_apart() {
        for prefix in ["", "{", "a{b}", "a b", "ü", &"x".repeat(65)] {
            assert!(RedisConfig::new("redis://host").with_prefix(prefix).check().is_err(), "{prefix}");
        }
        assert!(RedisConfig::new("redis://host").with_prefix("app:1.mem_x-y").check().is_ok());
    }
}
