//! The incarnation of a collection: a point of its own, gone with the collection and with its points.

use ::qdrant_client::qdrant::{Filter, GetPoints, UpsertPoints};
use memory_core::error::{Error, Result};
use memory_core::store::upkeep::Incarnation;
use uuid::Uuid;

use super::index::Index;
use crate::collection::Collection;
use crate::error::{BACKEND, classify, is_missing, not_done};
use crate::point::{BELOW, INCARNATION, Payload, incarnation, incarnation_id, is_below};

const READ: &str = "read the incarnation of the collection";

/// Returns the incarnation of the collection, and makes the collection if it is gone.
pub(super) async fn ensure(index: &Index) -> Result<Incarnation> {
    if let Some(told) = read(index).await? {
        return Ok(told);
    }
    Collection::open(&index.server, &index.space).await?;
    let doing = "draw the incarnation of the collection";
    let request = UpsertPoints {
        collection_name: index.collection.name.clone(),
        wait: Some(true),
        points: vec![incarnation(Incarnation::draw(), index.space.dimension)],
        // No point is like this, so of several that are drawn at once the first stays.
        update_filter: Some(Filter::must([is_below(BELOW, 0)])),
        ordering: Collection::writes(),
        ..UpsertPoints::default()
    };
    index.server.upsert(doing, request).await?;
    read(index).await?.ok_or_else(|| not_done(doing))
}

/// Returns the incarnation; none if the collection has none, or is gone.
async fn read(index: &Index) -> Result<Option<Incarnation>> {
    let request = GetPoints {
        collection_name: index.collection.name.clone(),
        ids: vec![incarnation_id()],
        with_payload: Some(true.into()),
        read_consistency: index.collection.reads(),
        ..GetPoints::default()
    };
    let found = match index
        .server
        .change(READ, request, |driver, request| async move { driver.get_points(request).await })
        .await?
    {
        Ok(found) => found.result.into_iter().next(),
        Err(source) if is_missing(&source) => None,
        Err(source) => return Err(classify(&source, READ)),
    };
    let Some(point) = found else { return Ok(None) };
    let told = Uuid::parse_str(Payload(point.payload).text(INCARNATION)?);
    let damaged = |_| Error::corrupt(BACKEND, "the collection has an incarnation that is none");
    Ok(Some(Incarnation(told.map_err(damaged)?)))
}
