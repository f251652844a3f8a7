//! The client alone, over an index that the adapter made.

use std::time::Duration;

use elasticsearch::Elasticsearch;
use elasticsearch::http::Method;
use elasticsearch::http::headers::{CONTENT_TYPE, HeaderMap, HeaderValue};
use elasticsearch::http::transport::{SingleNodeConnectionPool, TransportBuilder};
use memory_core::Fields;
use memory_elastic::{Elastic, ElasticConfig};
use memory_testkit::bench::Outcome;
use serde_json::{Value, json};

const PATIENCE: Duration = Duration::from_secs(60);

/// The owner whose documents the client writes and finds.
pub(crate) const OWNER: &str = "bare";

pub(crate) struct Bare {
    client: Elasticsearch,
    index: String,
}

/// Reaches a server for the adapter, under a prefix of this process.
pub(crate) async fn reach(url: &str) -> Outcome<Elastic> {
    let config = ElasticConfig::new(url)?.with_prefix(&prefix())?.with_patience(PATIENCE);
    Ok(Elastic::connect(config.with_bulk_patience(PATIENCE)).await?)
}

fn prefix() -> String {
    format!("bench{}", std::process::id())
}

/// Returns what the adapter's document of a message says of its session and, to filters, of it.
pub(crate) fn of_session(fields: &Fields) -> (Option<String>, Vec<String>) {
    let held = fields.session.as_ref().map(|session| session.key().to_owned());
    let mut values = vec!["?.unit".to_owned(), "t.unit=message".to_owned()];
    if let Some(session) = &fields.session {
        values.extend(["?.session".to_owned(), format!("t.session={}", session.name())]);
    }
    (held, values)
}

impl Bare {
    /// Connects to the index that the adapter has made.
    pub(crate) async fn connect(url: &str) -> Outcome<Self> {
        let pool = SingleNodeConnectionPool::new(elasticsearch::http::Url::parse(url)?);
        let client = Elasticsearch::new(TransportBuilder::new(pool).disable_proxy().build()?);
        let path = format!("_alias/{}-*", prefix());
        let found = client.send(Method::Get, &path, HeaderMap::new(), None::<&()>, None::<()>, None);
        let found = found.await?.json::<Value>().await?;
        let index = found.as_object().and_then(|found| found.keys().next()).ok_or("no index")?.clone();
        Ok(Self { client, index })
    }

    pub(crate) async fn post(&self, end: &str, query: &[(&str, &str)], body: String) -> Outcome<Value> {
        let kind = if end == "_bulk" { "application/x-ndjson" } else { "application/json" };
        let headers = HeaderMap::from_iter([(CONTENT_TYPE, HeaderValue::from_static(kind))]);
        let path = format!("{}/{end}", self.index.trim_end_matches("-000001"));
        let sent = self.client.send(Method::Post, &path, headers, Some(query), Some(body), Some(PATIENCE)).await?;
        Ok(sent.json::<Value>().await?)
    }

    /// Writes documents: the look at the owner's erasure, and the bulk with the second look behind the entries.
    pub(crate) async fn put(&self, documents: &[Value]) -> Outcome<()> {
        let wanted = json!({ "docs": [{ "_id": "none", "routing": OWNER, "_source": ["below"] }] });
        self.post("_mget", &[], wanted.to_string()).await?;
        let mut body = String::new();
        for document in documents {
            let head = json!({ "index": {
                "_id": document.get("item"), "routing": OWNER, "version": 1, "version_type": "external_gte",
            } });
            body.push_str(&format!("{head}\n{document}\n"));
        }
        let look = json!({ "update": { "_id": "none", "routing": OWNER, "_source": true } });
        body.push_str(&format!("{look}\n{{\"doc\":{{}}}}\n"));
        let answer = self.post("_bulk", &[("require_alias", "true"), ("refresh", "false")], body).await?;
        let items = answer.get("items").and_then(Value::as_array).ok_or("no items")?;
        let is_stored = |item: &&Value| {
            let status = item.pointer("/index/status").and_then(Value::as_u64);
            status.is_some_and(|status| status < 300)
        };
        let stored = items.iter().filter(is_stored).count();
        if stored == documents.len() { Ok(()) } else { Err(format!("{stored} documents were stored").into()) }
    }

    /// Deletes the index.
    pub(crate) async fn delete(self) -> Outcome<()> {
        self.client.send(Method::Delete, &self.index, HeaderMap::new(), None::<&()>, None::<()>, None).await?;
        Ok(())
    }
}
