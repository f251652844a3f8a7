//! Erasing an owner, and clearing its entries.

use ::qdrant_client::qdrant::{
    CountPoints, DeletePoints, Filter, PointsSelector, points_selector::PointsSelectorOneOf,
};
use memory_core::store::{Erased, ErasureLevel};
use memory_core::{Epoch, Error, Result, Scope};

use super::index::Index;
use super::tombstone;
use crate::collection::Collection;
use crate::point::{EPOCH, LARGEST, is_below, is_of};

/// Erases everything of the owner from before `below`, then counts what is left of it.
///
/// The tombstone comes first: from then on no search finds it, whatever happens to the rest.
pub(super) async fn erase(index: &Index, scope: &Scope, below: Epoch) -> Result<Erased> {
    if below.0 >= LARGEST {
        return Err(Error::invalid("an epoch lies below 2^53"));
    }
    let level = ErasureLevel::Logical;
    if below == Epoch(0) {
        return Ok(Erased { removed: 0, remaining: 0, level });
    }
    tombstone::raise(index, scope, below).await?;
    let found = count(index, scope, below).await?;
    delete_older(index, scope, below).await?;
    let remaining = count(index, scope, below).await?;
    Ok(Erased { removed: found.saturating_sub(remaining), remaining, level })
}

/// Deletes all that the owner has, but not its tombstone, which is nobody's point.
pub(super) async fn clear(index: &Index, scope: &Scope) -> Result<()> {
    delete(index, "clear the owner's vectors", Filter::must([is_of(scope)])).await
}

/// Deletes what the owner has from before `below`.
pub(super) async fn delete_older(index: &Index, scope: &Scope, below: Epoch) -> Result<()> {
    delete(index, "delete what is erased", older(scope, below)).await
}

/// Deletes the points that match, and waits until they are gone.
pub(super) async fn delete(index: &Index, doing: &'static str, filter: Filter) -> Result<()> {
    let selector = PointsSelector { points_selector_one_of: Some(PointsSelectorOneOf::Filter(filter)) };
    let request = DeletePoints {
        collection_name: index.collection.name.clone(),
        wait: Some(true),
        points: Some(selector),
        ordering: Collection::writes(),
        ..DeletePoints::default()
    };
    index.server.delete(doing, request).await
}

async fn count(index: &Index, scope: &Scope, below: Epoch) -> Result<u64> {
    let request = CountPoints {
        collection_name: index.collection.name.clone(),
        filter: Some(older(scope, below)),
        exact: Some(true),
        read_consistency: index.collection.reads(),
        ..CountPoints::default()
    };
    index.server.count("count what is left", request).await
}

fn older(scope: &Scope, below: Epoch) -> Filter {
    Filter::must([is_of(scope), is_below(EPOCH, below.0)])
}
