//! Which making of the index it is: a document of its own, gone with the index and with its documents.

use std::sync::Arc;

use elasticsearch::http::Method;
use memory_core::error::Result;
use memory_core::store::upkeep::Incarnation;
use serde_json::{Value, json};
use uuid::Uuid;

use super::Index;
use crate::error::{Doing, Fault, garbled};
use crate::transport::{Body, Request};

const READ: &str = "read the incarnation of the index";
const DRAW: &str = "draw the incarnation of the index";

/// The id and routing of the document. Ids of items are hashes, and it has no owner.
const ID: &str = "incarnation";

impl Index {
    /// Returns the incarnation of the index, and makes the index if it is gone.
    pub(crate) async fn incarnation(&self) -> Result<Incarnation> {
        let _call = self.elastic.enter().await?;
        if let Some(told) = self.told().await? {
            return Ok(told);
        }
        Self::open(&self.elastic, Arc::clone(&self.plan)).await?;
        let (path, body) = (self.path(&format!("_create/{ID}")), json!({ "body": Incarnation::draw().0 }));
        // Never an index in the place of the alias.
        let query = [("routing", ID), ("require_alias", "true"), ("filter_path", "result")];
        let patience = self.elastic.config().patience;
        let request = Request { method: Method::Put, path: &path, query: &query, body: Body::Json(body), patience };
        match self.elastic.call(request).await {
            // Of several that are drawn at once the first stays.
            Ok(_) | Err(Fault::Answer { status: 409, .. }) => {}
            Err(fault) => return Err(fault).doing(DRAW),
        }
        self.told().await?.ok_or_else(|| garbled(DRAW))
    }

    /// Returns the incarnation; none if the index has none, or is gone.
    async fn told(&self) -> Result<Option<Incarnation>> {
        let query = [("routing", ID), ("filter_path", "_source.body")];
        let found = match self.elastic.get(&self.path(&format!("_doc/{ID}")), &query).await {
            Ok(found) => found,
            Err(Fault::Answer { status: 404, .. }) => return Ok(None),
            Err(fault) => return Err(fault).doing(READ),
        };
        let told = found.pointer("/_source/body").and_then(Value::as_str).and_then(|told| Uuid::parse_str(told).ok());
        told.map(|told| Some(Incarnation(told))).ok_or_else(|| garbled(READ))
    }
}
