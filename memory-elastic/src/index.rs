//! An index: found or made when a store is opened, written through its alias.

mod incarnation;
mod refresh;
mod search;

use std::sync::Arc;
use std::time::Duration;

use elasticsearch::http::Method;
use memory_core::error::{Error, Result};
use memory_core::recent::Recent;
use memory_core::store::{Durability, Health};
use serde_json::{Map, Value, json};

use crate::client::Elastic;
use crate::error::{BACKEND, Doing, Fault, garbled};
use crate::transport::Body;

use refresh::Refreshes;

const OPEN: &str = "open the index";

/// How long the making of an index may take: it waits for its shards.
const CREATION: Duration = Duration::from_secs(30);

/// How often it is looked whether an index is there: another process may be making it.
const LOOKS: usize = 5;
/// How often a new shard is asked whether it answers, and how long after the last time.
const SHARD_LOOKS: usize = 100;
const SHARD_PAUSE: Duration = Duration::from_millis(50);

/// What an index is to be.
#[derive(Debug)]
pub(crate) struct Plan {
    /// The name of its alias. The index itself is called so too, with a number behind.
    pub(crate) alias: String,
    /// The recipe of what it holds: another recipe is another index.
    pub(crate) recipe: String,
    /// How its fields are stored, beside those that all indexes have.
    pub(crate) fields: Map<String, Value>,
    /// What is kept of a document as it was sent.
    pub(crate) source: Value,
}

/// An index that is there.
#[derive(Clone, Debug)]
pub(crate) struct Index {
    pub(crate) elastic: Elastic,
    pub(crate) alias: String,
    plan: Arc<Plan>,
    durability: Arc<Recent<Durability>>,
    refreshes: Arc<Refreshes>,
}

impl Index {
    /// Finds the index, or makes it; several processes may do so at once.
    ///
    /// # Errors
    /// `Unsupported` for an index of another recipe, or one that does not sync its writes; `Backend` if it has no shard
    /// that answers.
    pub(crate) async fn open(elastic: &Elastic, plan: Arc<Plan>) -> Result<Self> {
        for _ in 0..LOOKS {
            match elastic.get(&plan.alias, &[]).await {
                Ok(found) => {
                    let durability = check(elastic, &plan.alias, &plan.recipe, &found)?;
                    let durability = Arc::new(Recent::new(durability, Arc::clone(&elastic.config().clock)));
                    let (elastic, alias, refreshes) = (elastic.clone(), plan.alias.clone(), Arc::default());
                    let index = Self { elastic, alias, plan, durability, refreshes };
                    index.wait().await?;
                    return Ok(index);
                }
                Err(Fault::Answer { status: 404, .. }) => create(elastic, &plan).await?,
                Err(fault) => return Err(fault).doing(OPEN),
            }
        }
        Err(garbled(OPEN))
    }

    /// Waits until the index has a shard that answers: who lost the race to make it comes before they do.
    async fn wait(&self) -> Result<()> {
        let path = format!("_cluster/health/{}", self.alias);
        let query = [("wait_for_status", "yellow"), ("timeout", "20s"), ("filter_path", "status")];
        let (method, body) = (Method::Get, Body::Nothing);
        let request = crate::transport::Request { method, path: &path, query: &query, body, patience: CREATION };
        self.elastic.call(request).await.doing(OPEN)?;
        // A shard counts as started a moment before it answers.
        let mut looks = 0;
        loop {
            match self.look("none", &["none"], "none", OPEN).await {
                Err(error) if error.is_retryable() && looks < SHARD_LOOKS => looks += 1,
                looked => return looked.map(|_| ()),
            }
            tokio::time::sleep(SHARD_PAUSE).await;
        }
    }

    pub(crate) fn path(&self, end: &str) -> String {
        format!("{}/{end}", self.alias)
    }

    pub(crate) async fn close(&self) -> Result<()> {
        self.elastic.close().await
    }

    /// Returns the health of the server and the index.
    pub(crate) async fn ping(&self) -> Result<Health> {
        let _call = self.elastic.enter().await?;
        const PING: &str = "answer";
        let path = format!("_cluster/health/{}", self.alias);
        let query = [("timeout", "1s"), ("filter_path", "status")];
        let answer = self.elastic.get(&path, &query).await.doing(PING)?;
        if answer.get("status").and_then(Value::as_str) == Some("red") {
            let fault = Fault::Answer { status: 503, kind: "unavailable_shards_exception".to_owned(), after: None };
            return Err(fault).doing(PING);
        }
        let version = self.elastic.version().await?;
        Ok(Health::new("Elasticsearch", version, self.durability.renew(|| self.ask()).await?))
    }

    /// Returns `Ok` if the index may be written to, by settings that the server told within the last minute.
    ///
    /// # Errors
    /// `Unsupported` if it does not sync its writes any more; `Backend` if the server does not tell.
    pub(crate) async fn check(&self) -> Result<()> {
        self.durability.get(|| self.ask()).await.map(|_| ())
    }

    async fn ask(&self) -> Result<Durability> {
        const ASK: &str = "read the settings of the index";
        let query = [("filter_path", "*.mappings._meta,*.settings.index.translog")];
        let found = self.elastic.get(&self.alias, &query).await.doing(ASK)?;
        check(&self.elastic, &self.alias, &self.plan.recipe, &found)
    }

    /// Makes everything put before findable.
    pub(crate) async fn flush(&self) -> Result<()> {
        let _call = self.elastic.enter().await?;
        self.refresh("flush").await
    }

    /// Makes everything written before findable. Calls that come while a refresh runs share the next one.
    pub(crate) async fn refresh(&self, doing: &'static str) -> Result<()> {
        self.refreshes.share(self.ask_refresh()).await.doing(doing)
    }

    async fn ask_refresh(&self) -> std::result::Result<(), Fault> {
        let query = [("filter_path", "_shards.failed"), ("ignore_unavailable", "false")];
        let patience = self.elastic.config().bulk_patience;
        let answer = self.elastic.post(&self.path("_refresh"), &query, Body::Nothing, patience).await?;
        match answer.pointer("/_shards/failed").and_then(Value::as_u64) {
            Some(0) => Ok(()),
            _ => Err(Fault::Cut),
        }
    }
}

/// Makes an index with its alias, unless somebody else has done so meanwhile.
async fn create(elastic: &Elastic, plan: &Plan) -> Result<()> {
    let name = format!("{}-000001", plan.alias);
    match elastic.put(&name, definition(elastic, plan), CREATION).await {
        Ok(_) => Ok(()),
        Err(Fault::Answer { kind, .. }) if kind == "resource_already_exists_exception" => {
            // Made without its alias, or by somebody who has not come to that yet.
            let add = json!({ "actions": [{ "add": {
                "index": name, "alias": plan.alias, "is_write_index": true,
            }}]});
            let added = elastic.post("_aliases", &[], Body::Json(add), CREATION).await;
            added.doing(OPEN).map(|_| ())
        }
        Err(fault) => Err(fault).doing(OPEN),
    }
}

fn definition(elastic: &Elastic, plan: &Plan) -> Value {
    let config = elastic.config();
    let mut settings = json!({
        "number_of_shards": config.shards,
        "refresh_interval": format!("{}ms", config.refresh.as_millis()),
        "translog.durability": "request",
        // A search reads one field for each of its terms.
        "max_docvalue_fields_search": 20_000,
    });
    if let Some(settings) = settings.as_object_mut() {
        match config.replicas {
            Some(count) => settings.insert("number_of_replicas".to_owned(), json!(count)),
            None => settings.insert("auto_expand_replicas".to_owned(), json!("0-1")),
        };
    }
    let mut fields = common_fields();
    fields.extend(plan.fields.clone());
    json!({
        "settings": { "index": settings },
        "aliases": { &plan.alias: { "is_write_index": true } },
        "mappings": {
            "dynamic": "strict",
            "_meta": { "recipe": plan.recipe },
            "_routing": { "required": true },
            "_source": plan.source,
            "properties": fields,
        },
    })
}

/// The fields of every document; see `document.rs` for what they hold.
fn common_fields() -> Map<String, Value> {
    let word = json!({ "type": "keyword", "doc_values": false });
    let number = json!({ "type": "long" });
    let mut fields = Map::new();
    for name in ["scope", "unit", "held", "values"] {
        fields.insert(name.to_owned(), word.clone());
    }
    for name in ["epoch", "below", "seq", "trust", "at", "expires_at", "valid_from", "valid_to", "superseded_at"] {
        fields.insert(name.to_owned(), number.clone());
    }
    fields.insert("version".to_owned(), json!({ "type": "long", "index": false, "doc_values": false }));
    fields.insert("item".to_owned(), json!({ "type": "keyword" }));
    fields.insert("slot".to_owned(), json!({ "type": "integer" }));
    fields.insert("body".to_owned(), json!({ "type": "keyword", "index": false, "doc_values": false }));
    fields
}

/// Returns how durable the index found is, if it may be used.
fn check(elastic: &Elastic, alias: &str, recipe: &str, found: &Value) -> Result<Durability> {
    let unsupported = |what: &str| Error::Unsupported { backend: BACKEND, what: what.to_owned() };
    let found = found.as_object().ok_or_else(|| garbled(OPEN))?;
    let mut indexes = found.iter();
    let (Some((name, index)), None) = (indexes.next(), indexes.next()) else {
        return Err(unsupported("use an alias of several indexes"));
    };
    if name == alias {
        return Err(unsupported("use an index without its alias"));
    }
    if index.pointer("/mappings/_meta/recipe").and_then(Value::as_str) != Some(recipe) {
        return Err(unsupported("use an index of another recipe"));
    }
    let synced = index.pointer("/settings/index/translog/durability").and_then(Value::as_str).unwrap_or("request");
    match (synced.eq_ignore_ascii_case("request"), elastic.config().allow_async) {
        (true, _) => Ok(Durability::Committed),
        (false, true) => Ok(Durability::Volatile),
        (false, false) => Err(unsupported("promise writes of an index whose translog is not synced")),
    }
}
