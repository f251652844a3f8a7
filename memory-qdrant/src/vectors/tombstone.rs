//! The tombstone of an owner: a point that holds the epoch below which everything of his is erased.
//!
//! It stands in the collection itself, so it is as durable as what it buries, and every process sees it. Searches read
//! it together with the points and hide what is older, whoever wrote that when.

use ::qdrant_client::qdrant::{Filter, GetPoints, UpsertPoints};
use memory_core::{Epoch, Result, Scope};

use super::index::Index;
use crate::collection::Collection;
use crate::error::not_done;
use crate::point::{BELOW, Payload, is_below, tombstone, tombstone_id};

/// Returns the epoch below which everything of the owner is erased; the first one if he never was.
pub(super) async fn read(index: &Index, scope: &Scope) -> Result<Epoch> {
    let request = GetPoints {
        collection_name: index.collection.name.clone(),
        ids: vec![tombstone_id(scope)],
        with_payload: Some(true.into()),
        read_consistency: index.collection.reads(),
        ..GetPoints::default()
    };
    let found = index.server.get("look for a tombstone", request).await?;
    found.into_iter().next().map_or(Ok(Epoch(0)), |point| below(point.payload))
}

/// Returns the epoch that a tombstone holds.
pub(super) fn below(payload: std::collections::HashMap<String, ::qdrant_client::qdrant::Value>) -> Result<Epoch> {
    Payload(payload).number(BELOW).map(Epoch)
}

/// Raises the owner's tombstone to `below`, unless it is higher.
///
/// The server compares and writes in one step, so of erasures at once the highest stays.
pub(super) async fn raise(index: &Index, scope: &Scope, below: Epoch) -> Result<()> {
    let doing = "raise a tombstone";
    let request = UpsertPoints {
        collection_name: index.collection.name.clone(),
        wait: Some(true),
        points: vec![tombstone(scope, below, index.space.dimension)],
        update_filter: Some(Filter::must([is_below(BELOW, below.0)])),
        ordering: Collection::writes(),
        ..UpsertPoints::default()
    };
    index.server.upsert(doing, request).await?;
    // A condition that was not met is an answer like any other, so only reading tells what is there.
    if read(index, scope).await? < below { Err(not_done(doing)) } else { Ok(()) }
}
