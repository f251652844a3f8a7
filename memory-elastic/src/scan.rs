//! Listing an owner's items.

use memory_core::error::Result;
use memory_core::{ItemId, Scope, Version};
use serde_json::{Value, json};

use crate::delete::hits;
use crate::document::{of_owner, unpack};
use crate::error::garbled;
use crate::index::Index;

const SCAN: &str = "list entries";

/// The most documents that are read at once: the server answers with no more than 10,000.
const PAGE: usize = 5_000;

/// Returns up to `limit` of the items after `after` that can be found, in the order of their keys.
pub(crate) async fn scan(
    index: &Index,
    scope: &Scope,
    after: Option<&ItemId>,
    limit: usize,
) -> Result<Vec<(ItemId, Version)>> {
    let _call = index.elastic.enter().await?;
    let (mut items, mut last): (Vec<(ItemId, Version)>, _) = (Vec::new(), after.map(ItemId::key));
    while items.len() < limit {
        let size = (limit - items.len()).min(PAGE);
        let mut body = json!({
            "size": size,
            "_source": ["version"],
            "sort": [{ "item": "asc" }],
            // The document that tells of an erasure is no item.
            "query": { "bool": { "filter": [of_owner(scope), { "exists": { "field": "item" } }] } },
        });
        if let (Some(last), Some(body)) = (&last, body.as_object_mut()) {
            body.insert("search_after".to_owned(), json!([last]));
        }
        let found = index.search(scope.key(), body, SCAN).await?;
        let page = hits(&found, last.is_none()).ok_or_else(|| garbled(SCAN))?;
        for hit in page {
            items.push(stored(hit).ok_or_else(|| garbled(SCAN))?);
        }
        if page.len() < size {
            break;
        }
        last = items.last().map(|(item, _)| item.key());
    }
    Ok(items)
}

fn stored(hit: &Value) -> Option<(ItemId, Version)> {
    let item = ItemId::from_key(hit.pointer("/sort/0")?.as_str()?).ok()?;
    Some((item, unpack(hit.pointer("/_source/version")?.as_i64()?)))
}
