//! Listing an owner's items.

use ::qdrant_client::qdrant::{Filter, ScrollPoints};
use memory_core::{ItemId, Result, Scope, Version};

use super::index::Index;
use super::write::{STORED, stored};
use crate::point::{is_of, item_id};

/// Returns up to `limit` of the items after `after`, in the order of the ids of their points.
pub(super) async fn scan(
    index: &Index,
    scope: &Scope,
    after: Option<&ItemId>,
    limit: usize,
) -> Result<Vec<(ItemId, Version)>> {
    let last = after.map(|item| item_id(scope, item));
    let mut items = Vec::new();
    if limit == 0 {
        return Ok(items);
    }
    // A page begins with the point that is named, whether it is there or not.
    let request = ScrollPoints {
        collection_name: index.collection.name.clone(),
        filter: Some(Filter::must([is_of(scope)])),
        offset: last,
        limit: Some(u32::try_from(limit.saturating_add(1)).unwrap_or(u32::MAX)),
        with_payload: Some(STORED.to_vec().into()),
        with_vectors: Some(false.into()),
        read_consistency: index.collection.reads(),
        ..ScrollPoints::default()
    };
    for point in index.server.scroll("list vectors", request).await? {
        items.push(stored(point.payload)?);
    }
    items.retain(|(item, _)| Some(item) != after);
    items.truncate(limit);
    Ok(items)
}
