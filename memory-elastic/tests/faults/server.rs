//! A server as an operator sees it: settings, and what is really stored.

use std::time::Duration;

use memory_core::store::text::{TextEntry, TextStore as _, Visibility};
use memory_core::{Result, Scope};
use memory_elastic::{Elastic, ElasticConfig, ElasticText};
use memory_testkit::generate::deletion;
use memory_testkit::{Failure, Scene};
use serde_json::{Value, json};

/// Opens a text store with an index of its own, with more patience than usual: a machine may stop for many seconds.
pub(crate) async fn open(url: &str, prefix: &str) -> Result<ElasticText> {
    open_within(url, prefix, Duration::from_secs(60)).await
}

/// Opens a text store of which each call waits so long for the server.
pub(crate) async fn open_within(url: &str, prefix: &str, patience: Duration) -> Result<ElasticText> {
    let config = ElasticConfig::new(url)?.with_prefix(prefix)?.with_refresh(Duration::from_millis(50));
    ElasticText::open(&Elastic::connect(config.with_patience(patience).with_bulk_patience(patience)).await?, "test")
        .await
}

/// Does what an operator does, to the indexes of one prefix.
pub(crate) struct Admin {
    url: String,
    index: String,
}

impl Admin {
    pub(crate) fn of(url: &str, prefix: &str) -> Self {
        Self { url: url.to_owned(), index: format!("{prefix}-*") }
    }

    async fn ask(
        &self,
        method: reqwest::Method,
        path: &str,
        body: Option<Value>,
    ) -> std::result::Result<Value, Failure> {
        let failed = |error: reqwest::Error| Failure::new(format!("{path}: {error}"));
        let client = reqwest::Client::builder().no_proxy().timeout(Duration::from_secs(60)).build().map_err(failed)?;
        let mut request = client.request(method, format!("{}/{path}", self.url));
        if let Some(body) = body {
            request = request.header("content-type", "application/json").body(body.to_string());
        }
        let answer = request.send().await.map_err(failed)?;
        let (status, text) = (answer.status(), answer.text().await.map_err(failed)?);
        if !status.is_success() {
            return Err(Failure::new(format!("{path}: {status} {text}")));
        }
        serde_json::from_str(&text).map_err(|error| Failure::new(error.to_string()))
    }

    /// Returns the names of the indexes: not everything is allowed on a pattern.
    async fn names(&self) -> std::result::Result<String, Failure> {
        let path = format!("_resolve/index/{}?expand_wildcards=all", self.index);
        let found = self.ask(reqwest::Method::GET, &path, None).await?;
        let found = found.get("indices").and_then(Value::as_array).into_iter().flatten();
        let names: Vec<&str> = found.filter_map(|index| index.get("name")?.as_str()).collect();
        Ok(names.join(","))
    }

    pub(crate) async fn set_index(&self, settings: &Value) -> Scene {
        let path = format!("{}/_settings", self.names().await?);
        self.ask(reqwest::Method::PUT, &path, Some(json!({ "index": settings }))).await.map(|_| ())
    }

    pub(crate) async fn set_cluster(&self, settings: &Value) -> Scene {
        let body = json!({ "persistent": settings });
        self.ask(reqwest::Method::PUT, "_cluster/settings", Some(body)).await.map(|_| ())
    }

    pub(crate) async fn post(&self, path: &str) -> Scene {
        self.ask(reqwest::Method::POST, &format!("{}/{path}", self.names().await?), None).await.map(|_| ())
    }

    /// Waits until every shard answers.
    pub(crate) async fn wait(&self) -> Scene {
        let path = format!("_cluster/health/{}?wait_for_status=yellow&timeout=50s", self.index);
        self.ask(reqwest::Method::GET, &path, None).await.map(|_| ())
    }

    pub(crate) async fn delete(&self) -> Scene {
        self.ask(reqwest::Method::DELETE, &self.names().await?, None).await.map(|_| ())
    }

    /// Deletes the document that tells the incarnation, as who deletes all documents does.
    pub(crate) async fn forget_incarnation(&self) -> Scene {
        let path = format!("{}/_doc/incarnation?routing=incarnation", self.names().await?);
        self.ask(reqwest::Method::DELETE, &path, None).await.map(|_| ())
    }

    /// Returns how many items of epochs before `epoch` are stored, findable by the store or not.
    pub(crate) async fn older_than(&self, epoch: u64) -> std::result::Result<u64, Failure> {
        self.post("_refresh").await?;
        let body = json!({ "query": { "range": { "epoch": { "lt": epoch } } } });
        let path = format!("{}/_count", self.index);
        let counted = self.ask(reqwest::Method::POST, &path, Some(body)).await?;
        counted.get("count").and_then(Value::as_u64).ok_or_else(|| Failure::new("no count"))
    }

    /// Waits until the server has forgotten the version of a document that was deleted: it begins to count anew.
    pub(crate) async fn forgets(&self, text: &ElasticText, entry: &TextEntry, scope: &Scope) -> Scene {
        for _ in 0..100 {
            text.put(scope, std::slice::from_ref(entry), Visibility::OnReturn).await?;
            text.delete(scope, &deletion(vec![entry.item.clone()])).await?;
        }
        Ok(())
    }
}
