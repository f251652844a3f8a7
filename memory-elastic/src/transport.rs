//! The way to the server: one call through the driver's thin layer, so that another HTTP client could take its place.

use std::time::Duration;

use elasticsearch::Elasticsearch;
use elasticsearch::auth::Credentials;
use elasticsearch::http::Method;
use elasticsearch::http::headers::{CONTENT_TYPE, HeaderMap, HeaderValue};
use elasticsearch::http::transport::{SingleNodeConnectionPool, TransportBuilder};
use memory_core::error::Result;
use secrecy::ExposeSecret;
use serde_json::Value;

use crate::config::ElasticConfig;
use crate::error::{Doing, Fault};

/// A request. Paths hold names of indexes and fixed words, never what a caller wrote.
#[derive(Debug)]
pub(crate) struct Request<'a> {
    pub(crate) method: Method,
    pub(crate) path: &'a str,
    pub(crate) query: &'a [(&'a str, &'a str)],
    pub(crate) body: Body,
    pub(crate) patience: Duration,
}

/// What is sent with a request.
#[derive(Debug)]
pub(crate) enum Body {
    Nothing,
    Json(Value),
    /// Lines of JSON, each with its end.
    Lines(String),
}

/// An open way to the server.
pub(crate) struct Transport {
    client: Elasticsearch,
}

impl Transport {
    pub(crate) fn new(config: &ElasticConfig) -> Result<Self> {
        config.check()?;
        let pool = SingleNodeConnectionPool::new(config.url.clone());
        // Without a timeout of its own the driver would wait for ever.
        let mut builder = TransportBuilder::new(pool).timeout(config.bulk_patience.max(config.patience));
        if config.is_loopback() {
            builder = builder.disable_proxy();
        }
        if let Some((user, password)) = &config.user {
            builder = builder.auth(Credentials::Basic(user.clone(), password.expose_secret().to_owned()));
        }
        let transport = builder.build().map_err(|_| Fault::Unsent).doing("connect")?;
        Ok(Self { client: Elasticsearch::new(transport) })
    }

    pub(crate) fn of(client: Elasticsearch) -> Self {
        Self { client }
    }

    /// Sends a request and returns the answer to it.
    ///
    /// # Errors
    /// A fault unless the status tells success and the body is JSON.
    pub(crate) async fn call(&self, request: Request<'_>) -> std::result::Result<Value, Fault> {
        let Request { method, path, query, body, patience } = request;
        let mut headers = HeaderMap::new();
        let body = match body {
            Body::Nothing => None,
            Body::Json(value) => Some(value.to_string()),
            Body::Lines(lines) => {
                headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/x-ndjson"));
                Some(lines)
            }
        };
        let sent = self.client.send(method, path, headers, Some(query), body, Some(patience)).await;
        let response = sent.map_err(|source| Fault::of_driver(&source))?;
        // Status, then bytes, then perhaps JSON: the driver's own ways of reading an error fail on several of them.
        let status = response.status_code().as_u16();
        let after = response.headers().get("retry-after").and_then(|value| value.to_str().ok()?.parse().ok());
        let bytes = response.bytes().await.map_err(|source| Fault::of_driver(&source))?;
        let value = serde_json::from_slice::<Value>(&bytes).ok();
        if !(200..300).contains(&status) {
            return Err(Fault::of_reply(status, value.as_ref(), after.map(Duration::from_secs)));
        }
        value.ok_or(Fault::Cut)
    }
}
