//! The way to the server: one call over connections of this crate's own, or through the driver that an application brought.
//!
//! The driver would follow a redirect, with the body and perhaps the password, and read an answer of any length. So it carries
//! only what an application has built it for.

use std::time::Duration;

use elasticsearch::Elasticsearch;
use elasticsearch::http::headers::{ACCEPT, CONTENT_TYPE, HeaderMap, HeaderValue};
use elasticsearch::http::{Method, Url};
use memory_core::error::Result;
use reqwest::redirect::Policy;
use reqwest::{Client, Response};
use secrecy::{ExposeSecret, SecretString};
use serde_json::Value;

use crate::config::ElasticConfig;
use crate::error::{Doing, Fault};

/// The most bytes that are read of an answer with an error status: its status says nearly all.
const ERROR_BYTES: usize = 1 << 20;

const JSON: &str = "application/json";
const LINES: &str = "application/x-ndjson";

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
    way: Way,
    /// The most bytes that are read of an answer.
    most: usize,
}

enum Way {
    Own(Own),
    Given(Elasticsearch),
}

/// Connections of this crate's own.
struct Own {
    http: Client,
    /// The address, whose path ends with a slash.
    base: Url,
    user: Option<(String, SecretString)>,
}

/// An answer that was read.
struct Answer {
    status: u16,
    after: Option<Duration>,
    bytes: Vec<u8>,
}

impl Transport {
    pub(crate) fn new(config: &ElasticConfig) -> Result<Self> {
        config.check()?;
        let mut builder = Client::builder().redirect(Policy::none()).referer(false);
        if config.is_loopback() {
            builder = builder.no_proxy();
        }
        let http = builder.build().map_err(|_| Fault::Unsent).doing("connect")?;
        let mut base = config.url.clone();
        if !base.path().ends_with('/') {
            let path = format!("{}/", base.path());
            base.set_path(&path);
        }
        let own = Own { http, base, user: config.user.clone() };
        Ok(Self { way: Way::Own(own), most: config.answer_bytes })
    }

    pub(crate) fn of(client: Elasticsearch, config: &ElasticConfig) -> Self {
        Self { way: Way::Given(client), most: config.answer_bytes }
    }

    /// Sends a request and returns the answer to it, of which no more than `most` bytes are read.
    ///
    /// # Errors
    /// A fault unless the status tells success and the body is JSON.
    pub(crate) async fn call(&self, request: Request<'_>, most: usize) -> std::result::Result<Value, Fault> {
        let most = most.min(self.most);
        let Answer { status, after, bytes } = match &self.way {
            Way::Own(own) => own.send(request, most).await?,
            Way::Given(client) => given(client, request, most).await?,
        };
        // Status, then bytes, then perhaps JSON: the driver's own ways of reading an error fail on several of them.
        let value = serde_json::from_slice::<Value>(&bytes).ok();
        if !(200..300).contains(&status) {
            return Err(Fault::of_reply(status, value.as_ref(), after));
        }
        value.ok_or(Fault::Cut)
    }
}

impl Own {
    async fn send(&self, request: Request<'_>, most: usize) -> std::result::Result<Answer, Fault> {
        let Request { method, path, query, body, patience } = request;
        let url = self.base.join(path).map_err(|_| Fault::Unsent)?;
        let mut sent = self.http.request(of_driver(method), url).query(query).header(ACCEPT, JSON).timeout(patience);
        if let Some((user, password)) = &self.user {
            sent = sent.basic_auth(user, Some(password.expose_secret()));
        }
        sent = match body {
            Body::Nothing => sent,
            Body::Json(value) => sent.header(CONTENT_TYPE, JSON).body(value.to_string()),
            Body::Lines(lines) => sent.header(CONTENT_TYPE, LINES).body(lines),
        };
        let response = sent.send().await.map_err(|source| Fault::of_http(&source))?;
        let (status, after) = (response.status(), after(response.headers()));
        let most = if status.is_success() { most } else { ERROR_BYTES };
        let bytes = match whole(response, most).await {
            Err(Fault::TooLong) if !status.is_success() => Vec::new(),
            read => read?,
        };
        Ok(Answer { status: status.as_u16(), after, bytes })
    }
}

/// Reads an answer of `most` bytes at the most.
async fn whole(mut response: Response, most: usize) -> std::result::Result<Vec<u8>, Fault> {
    if is_longer(response.content_length(), most) {
        return Err(Fault::TooLong);
    }
    let mut bytes = Vec::new();
    while let Some(part) = response.chunk().await.map_err(|source| Fault::of_http(&source))? {
        if part.len() > most - bytes.len() {
            return Err(Fault::TooLong);
        }
        bytes.extend_from_slice(&part);
    }
    Ok(bytes)
}

/// Sends a request through a client that was given. It reads all of an answer or nothing.
async fn given(client: &Elasticsearch, request: Request<'_>, most: usize) -> std::result::Result<Answer, Fault> {
    let Request { method, path, query, body, patience } = request;
    let mut headers = HeaderMap::new();
    let body = match body {
        Body::Nothing => None,
        Body::Json(value) => Some(value.to_string()),
        Body::Lines(lines) => {
            headers.insert(CONTENT_TYPE, HeaderValue::from_static(LINES));
            Some(lines)
        }
    };
    let sent = client.send(method, path, headers, Some(query), body, Some(patience)).await;
    let response = sent.map_err(|source| Fault::of_driver(&source))?;
    let (status, after) = (response.status_code(), after(response.headers()));
    let most = if status.is_success() { most } else { ERROR_BYTES };
    let bytes: Vec<u8> = match is_longer(response.content_length(), most) {
        true if status.is_success() => return Err(Fault::TooLong),
        true => Vec::new(),
        false => response.bytes().await.map_err(|source| Fault::of_driver(&source))?.into(),
    };
    Ok(Answer { status: status.as_u16(), after, bytes })
}

fn is_longer(told: Option<u64>, most: usize) -> bool {
    told.is_some_and(|told| told > most as u64)
}

/// Returns how long the server asks to wait.
fn after(headers: &HeaderMap) -> Option<Duration> {
    let seconds = headers.get("retry-after")?.to_str().ok()?.parse().ok()?;
    Some(Duration::from_secs(seconds))
}

fn of_driver(method: Method) -> reqwest::Method {
    match method {
        Method::Get => reqwest::Method::GET,
        Method::Put => reqwest::Method::PUT,
        Method::Post => reqwest::Method::POST,
        Method::Delete => reqwest::Method::DELETE,
        Method::Head => reqwest::Method::HEAD,
    }
}
