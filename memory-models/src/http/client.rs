//! One server: its connections, its key, and what bounds the requests to it.

use std::fmt;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use futures_util::future::try_join_all;
use memory_core::{Error, Result};
use reqwest::Response;
use reqwest::header::{CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue, RETRY_AFTER};
use reqwest::redirect::Policy;
use secrecy::{ExposeSecret, SecretString};
use tokio::sync::Semaphore;
use tokio::time::{Instant, timeout, timeout_at};

use super::config::HttpConfig;
use super::error::Fault;
use super::pace::Pace;
use super::retry_after;
use super::spend::Spend;

/// The most bytes that are read of an answer with an error status.
const ERROR_BYTES: usize = 64 << 10;
/// How long all bytes of such an answer are waited for: its status says nearly all.
const ERROR_PATIENCE: Duration = Duration::from_secs(5);
/// How long its next bytes are waited for.
const ERROR_SILENCE: Duration = Duration::from_secs(1);

/// The most room that is made for an answer before its bytes have come: a server may tell any length.
const ROOM: u64 = 1 << 20;

/// How a server is told the key.
#[derive(Clone, Copy, Debug)]
pub(super) enum KeyIn {
    /// `Authorization: Bearer KEY`.
    Bearer,
    /// A header of this name.
    Header(&'static str),
}

/// One server.
pub(super) struct Client {
    /// Its name in errors.
    pub(super) backend: &'static str,
    pub(super) config: HttpConfig,
    http: reqwest::Client,
    spend: Mutex<Spend>,
    pub(super) pace: Pace,
}

impl fmt::Debug for Client {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Client").field("backend", &self.backend).field("config", &self.config).finish_non_exhaustive()
    }
}

impl Client {
    /// Returns a client that opens no connection yet.
    ///
    /// # Errors
    /// `Invalid` for a key that cannot be sent.
    pub(super) fn new(
        backend: &'static str,
        config: HttpConfig,
        key: KeyIn,
        headers: &[(&'static str, &'static str)],
    ) -> Result<Self> {
        let mut all = HeaderMap::new();
        for (name, value) in headers {
            all.insert(HeaderName::from_static(name), HeaderValue::from_static(value));
        }
        if let Some(secret) = &config.key {
            let (name, value) = header(key, secret)?;
            all.insert(name, value);
        }
        let mut builder = reqwest::Client::builder()
            .default_headers(all)
            .redirect(Policy::none())
            .referer(false)
            .connect_timeout(config.connect);
        if config.is_loopback() {
            builder = builder.no_proxy();
            if config.url.scheme() == "http" {
                // Nothing is encrypted, so the system's certificates need not be read.
                builder = builder.tls_built_in_root_certs(false);
            }
        }
        let http = builder.build().map_err(|_| Fault::Unsent.while_doing(backend, "make a client"))?;
        let now = Instant::now();
        let pace = Pace::new(config.requests_per_minute, config.concurrency, now);
        Ok(Self { backend, config, http, spend: Mutex::new(Spend::new(now)), pace })
    }

    pub(super) fn spend(&self) -> MutexGuard<'_, Spend> {
        self.spend.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Sends `body` once, and returns the answer as soon as it begins.
    pub(super) async fn send(&self, path: &[&str], body: &str) -> Result<Incoming, Fault> {
        let request = self.http.post(self.config.at(path)).header(CONTENT_TYPE, "application/json");
        let sent = timeout(self.config.silence, request.body(body.to_owned()).send()).await;
        let response = sent.map_err(|_| Fault::Silent)?.map_err(|source| Fault::of_client(&source))?;
        let status = response.status();
        let header = response.headers().get(RETRY_AFTER).and_then(|value| value.to_str().ok());
        let after = header.and_then(|header| retry_after::read(header, self.config.clock.now()));
        let HttpConfig { answer_bytes, silence, .. } = self.config;
        if status.is_success() {
            return Ok(Incoming { response, left: answer_bytes, silence });
        }
        if let Some(after) = after {
            self.pace.pause(after);
        }
        let incoming = Incoming { response, left: ERROR_BYTES, silence: silence.min(ERROR_SILENCE) };
        Err(Fault::of_status(status.as_u16(), &incoming.beginning().await, after))
    }

    /// Makes the requests of one call, and returns what they return, in order.
    ///
    /// No more of them are under way or wait than there are places, so that a call of many does not crowd itself out.
    ///
    /// # Errors
    /// Before the first request, if it is known that the last cannot be made before `until`; else that of the first that fails.
    pub(super) async fn all<T>(
        &self,
        doing: &'static str,
        requests: impl ExactSizeIterator<Item = impl Future<Output = Result<T>>>,
        until: Instant,
    ) -> Result<Vec<T>> {
        let Some(others) = requests.len().checked_sub(1) else { return Ok(Vec::new()) };
        self.pace.check(others, until).map_err(|fault| fault.while_doing(self.backend, doing))?;
        let room = &Semaphore::new(self.config.concurrency);
        let made = requests.map(|request| async move {
            let _place = room.acquire().await;
            request.await
        });
        try_join_all(made).await
    }
}

/// Returns the header that tells the key.
fn header(key: KeyIn, secret: &SecretString) -> Result<(HeaderName, HeaderValue)> {
    let (name, text) = match key {
        KeyIn::Bearer => ("authorization", format!("Bearer {}", secret.expose_secret())),
        KeyIn::Header(name) => (name, secret.expose_secret().to_owned()),
    };
    let mut value =
        HeaderValue::from_str(&text).map_err(|_| Error::invalid("the key holds characters that no key has"))?;
    value.set_sensitive(true);
    Ok((HeaderName::from_static(name), value))
}

/// An answer that comes in.
pub(super) struct Incoming {
    response: Response,
    /// How many more bytes it may have.
    left: usize,
    silence: Duration,
}

impl Incoming {
    /// Returns the next part; none at the end.
    pub(super) async fn next(&mut self) -> Result<Option<impl AsRef<[u8]> + use<>>, Fault> {
        let part = timeout(self.silence, self.response.chunk()).await.map_err(|_| Fault::Silent)?;
        let Some(part) = part.map_err(|source| Fault::of_client(&source))? else { return Ok(None) };
        self.left = self.left.checked_sub(part.len()).ok_or(Fault::TooLong)?;
        Ok(Some(part))
    }

    /// Returns all of it.
    pub(super) async fn whole(mut self) -> Result<Vec<u8>, Fault> {
        let told = self.response.content_length().unwrap_or(0);
        if told > self.left as u64 {
            return Err(Fault::TooLong);
        }
        let mut bytes = Vec::with_capacity(usize::try_from(told.min(ROOM)).unwrap_or(0));
        while let Some(part) = self.next().await? {
            bytes.extend_from_slice(part.as_ref());
        }
        Ok(bytes)
    }

    /// Returns as much as comes soon of an answer that is only looked at, up to the first silence.
    async fn beginning(mut self) -> Vec<u8> {
        let mut bytes = Vec::new();
        let until = Instant::now() + ERROR_PATIENCE;
        while let Ok(Ok(Some(part))) = timeout_at(until, self.next()).await {
            bytes.extend_from_slice(part.as_ref());
        }
        bytes
    }
}
