//! Listing an owner's items.

use ::qdrant_client::qdrant::{Filter, ScrollPoints};
use memory_core::{ItemId, Result, Scope, Version};

use super::index::Index;
use super::write::{STORED, stored};
use crate::point::{is_of, item_id};

/// The most points that are read at once: the server refuses to answer with more than the collection allows.
const PAGE: usize = 1_000;

/// Returns up to `limit` of the items after `after`, in the order of the ids of their points.
pub(super) async fn scan(
    index: &Index,
    scope: &Scope,
    after: Option<&ItemId>,
    limit: usize,
) -> Result<Vec<(ItemId, Version)>> {
    let (mut items, mut last): (Vec<(ItemId, Version)>, _) = (Vec::new(), after.cloned());
    while items.len() < limit {
        // A page begins with the point that is named, whether it is there or not.
        let size = (limit - items.len()).saturating_add(1).min(PAGE);
        let request = ScrollPoints {
            collection_name: index.collection.name.clone(),
            filter: Some(Filter::must([is_of(scope)])),
            offset: last.as_ref().map(|item| item_id(scope, item)),
            limit: u32::try_from(size).ok(),
            with_payload: Some(STORED.to_vec().into()),
            with_vectors: Some(false.into()),
            read_consistency: index.collection.reads(),
            ..ScrollPoints::default()
        };
        let page = index.server.scroll("list vectors", request).await?;
        let is_full = page.len() >= size;
        for point in page {
            let (item, version) = stored(point.payload)?;
            if last.as_ref() != Some(&item) {
                items.push((item, version));
            }
        }
        if !is_full {
            break;
        }
        last = items.last().map(|(item, _)| item.clone());
    }
    items.truncate(limit);
    Ok(items)
}
