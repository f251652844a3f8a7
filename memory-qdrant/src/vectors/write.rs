//! Putting and deleting items.

use std::collections::{BTreeMap, HashMap};

use ::qdrant_client::qdrant::{Condition, Filter, GetPoints, PointId, PointStruct, UpsertPoints, Value};
use futures_util::{StreamExt as _, TryStreamExt as _, stream};
use memory_core::store::text::Deletion;
use memory_core::{Epoch, Error, Field, ItemId, Result, Scalar, Scope, Unit, Version};

use super::index::Index;
use super::{erase, tombstone};
use crate::collection::Collection;
use crate::error::BACKEND;
use crate::filter::tokens;
use crate::point::{EPOCH, ITEM, LARGEST, Payload, Prepared, REVISION, TOKENS, is_not_newer, is_of, item_id};

/// The most entries and about the most bytes of one request.
const CHUNK: usize = 256;
const CHUNK_BYTES: usize = 8 << 20;

/// How many requests of one put are under way at once.
const AT_ONCE: usize = 4;

/// Puts entries of an owner, unless they are erased or newer ones of their items are there.
///
/// An erasure by somebody else may come between the look at the tombstone and the write. Then what was written is hidden
/// from every search by that tombstone, and the second look finds it and deletes it. If the answer is lost, so that there is no
/// second look, the repeated put deletes it: its entries are from before the tombstone that it finds. What the server writes of
/// the first put only after the repeated one has looked stays hidden until upkeep's walk finds it, or the owner is erased again.
pub(super) async fn put(index: &Index, scope: &Scope, entries: Vec<Prepared>) -> Result<()> {
    let below = tombstone::read(index, scope).await?;
    let (entries, erased): (Vec<_>, Vec<_>) = entries.into_iter().partition(|entry| entry.version.epoch >= below);
    if !erased.is_empty() {
        erase::delete_older(index, scope, below).await?;
    }
    let entries = newest(entries);
    let Some(oldest) = entries.iter().map(|entry| entry.version.epoch).min() else { return Ok(()) };
    let requests = chunks(entries).into_iter().map(|chunk| upsert(index, scope, chunk));
    stream::iter(requests).buffer_unordered(AT_ONCE).try_collect::<()>().await?;
    let below = tombstone::read(index, scope).await?;
    if oldest < below { erase::delete_older(index, scope, below).await } else { Ok(()) }
}

/// Returns the newest entry of each item, of equally new ones the last.
fn newest(entries: Vec<Prepared>) -> Vec<Prepared> {
    let mut places: HashMap<ItemId, usize> = HashMap::new();
    let mut kept: Vec<Prepared> = Vec::with_capacity(entries.len());
    for entry in entries {
        let place = places.get(&entry.item).copied();
        match place.and_then(|place| kept.get_mut(place)) {
            Some(before) if before.version > entry.version => {}
            Some(before) => *before = entry,
            None => {
                places.insert(entry.item.clone(), kept.len());
                kept.push(entry);
            }
        }
    }
    kept
}

/// Splits entries into parts that are each small enough for one request; a larger entry has one of its own.
fn chunks(entries: Vec<Prepared>) -> Vec<Vec<Prepared>> {
    let (mut chunks, mut chunk, mut bytes) = (Vec::new(), Vec::new(), 0);
    for entry in entries {
        let weight = entry.weight();
        if !chunk.is_empty() && (chunk.len() == CHUNK || bytes + weight > CHUNK_BYTES) {
            chunks.push(std::mem::take(&mut chunk));
            bytes = 0;
        }
        bytes += weight;
        chunk.push(entry);
    }
    if !chunk.is_empty() {
        chunks.push(chunk);
    }
    chunks
}

async fn upsert(index: &Index, scope: &Scope, entries: Vec<Prepared>) -> Result<()> {
    let points = entries.iter().map(|entry| entry.point(scope)).collect::<Result<Vec<PointStruct>>>()?;
    let request = UpsertPoints {
        collection_name: index.collection.name.clone(),
        wait: Some(true),
        points,
        update_filter: Some(replaceable(scope, &entries)),
        ordering: Collection::writes(),
        ..UpsertPoints::default()
    };
    index.server.upsert("put vectors", request).await
}

/// Returns what a stored point must be like to be replaced: of this owner, and not newer than the entry of its item.
///
/// The server compares and writes in one step. The versions of a request may differ, so each goes with its items.
fn replaceable(scope: &Scope, entries: &[Prepared]) -> Filter {
    let versions = by_version(scope, entries.iter().map(|entry| (&entry.item, entry.version)));
    if let (1, Some(version)) = (versions.len(), versions.keys().next()) {
        return Filter { must: vec![is_of(scope)], should: vec![is_not_newer(*version)], ..Filter::default() };
    }
    not_newer(scope, versions)
}

/// Returns the points of items by their versions.
fn by_version<'i>(
    scope: &Scope,
    items: impl Iterator<Item = (&'i ItemId, Version)>,
) -> BTreeMap<Version, Vec<PointId>> {
    let mut versions: BTreeMap<Version, Vec<PointId>> = BTreeMap::new();
    for (item, version) in items {
        versions.entry(version).or_default().push(item_id(scope, item));
    }
    versions
}

/// Returns the condition that a point is one of those given, of this owner, and not newer than its version.
fn not_newer(scope: &Scope, versions: BTreeMap<Version, Vec<PointId>>) -> Filter {
    let older =
        versions.into_iter().map(|(version, ids)| Filter::must([Condition::has_id(ids), is_not_newer(version)]).into());
    Filter { must: vec![is_of(scope)], should: older.collect(), ..Filter::default() }
}

/// What a payload says of which item it is, and in which version.
pub(super) const STORED: [&str; 3] = [ITEM, EPOCH, REVISION];

/// Returns the item and the version that a payload holds.
pub(super) fn stored(payload: HashMap<String, Value>) -> Result<(ItemId, Version)> {
    let payload = Payload(payload);
    let item = ItemId::from_key(payload.text(ITEM)?).map_err(|source| Error::corrupt(BACKEND, source))?;
    Ok((item, Version { epoch: Epoch(payload.number(EPOCH)?), revision: payload.number(REVISION)? }))
}

/// Returns the versions of those of the items that are stored.
pub(super) async fn versions(index: &Index, scope: &Scope, items: &[ItemId]) -> Result<Vec<(ItemId, Version)>> {
    let mut versions = Vec::new();
    for part in items.chunks(CHUNK) {
        let request = GetPoints {
            collection_name: index.collection.name.clone(),
            ids: part.iter().map(|item| item_id(scope, item)).collect(),
            with_payload: Some(STORED.to_vec().into()),
            read_consistency: index.collection.reads(),
            ..GetPoints::default()
        };
        for point in index.server.get("read versions", request).await? {
            versions.push(stored(point.payload)?);
        }
    }
    Ok(versions)
}

/// Deletes items of an owner that are not newer than the deletion says.
pub(super) async fn delete(index: &Index, scope: &Scope, what: &Deletion) -> Result<()> {
    let doing = "delete vectors";
    match what {
        Deletion::Items(items) => {
            for part in items.chunks(CHUNK) {
                let versions = by_version(scope, part.iter().map(|(item, through)| (item, storable(*through))));
                erase::delete(index, doing, not_newer(scope, versions)).await?;
            }
            Ok(())
        }
        Deletion::Session(session, through) => {
            let said = tokens::value(&Field::Session, &Scalar::from(session.name()));
            let filter = Filter {
                must: vec![
                    is_of(scope),
                    Condition::matches(TOKENS, said.into_iter().collect::<Vec<_>>()),
                    is_not_newer(storable(*through)),
                ],
                must_not: vec![Condition::matches(TOKENS, tokens::unit(Unit::Record.name()))],
                ..Filter::default()
            };
            erase::delete(index, doing, filter).await
        }
    }
}

/// Returns the bound among versions that can be stored.
fn storable(through: Version) -> Version {
    Version { epoch: Epoch(through.epoch.0.min(LARGEST)), revision: through.revision.min(LARGEST) }
}

#[cfg(test)]
mod tests {
    use memory_core::store::vectors::VectorEntry;
    use memory_core::vector::EmbeddingSpace;
    use memory_core::{Fields, RecordId, Seq, SessionId, Timestamp};

    use super::*;

    fn prepared(number: u8, revision: u64, dimension: usize) -> Prepared {
        let space = EmbeddingSpace { model: "m".to_owned(), dimension, normalised: true, recipe: String::new() };
        let entry = VectorEntry {
            item: ItemId::Record(RecordId::of_content(&[number])),
            version: Version { epoch: Epoch(0), revision },
            pieces: vec![vec![1.0; dimension]],
            fields: Fields::of_span(&SessionId::new("s").unwrap(), Seq(1), Timestamp(0)),
        };
        Prepared::new(&space, &entry).unwrap()
    }

    #[test]
    fn the_newest_entry_of_each_item_is_kept_in_the_place_of_the_first() {
        let entries = vec![prepared(1, 2, 1), prepared(2, 1, 1), prepared(1, 3, 1), prepared(1, 1, 1)];
        let kept: Vec<_> = newest(entries).iter().map(|entry| entry.version.revision).collect();
        assert_eq!(kept, [3, 1]);
    }

    #[test]
    fn requests_keep_their_bounds_and_lose_no_entry() {
        let small: Vec<_> = (0..=255).chain(0..=255).map(|number| prepared(number, 1, 1)).collect();
        assert_eq!(chunks(small).iter().map(Vec::len).collect::<Vec<_>>(), [256, 256]);
        let large: Vec<_> = (0..5).map(|number| prepared(number, 1, 1 << 20)).collect();
        assert_eq!(chunks(large).iter().map(Vec::len).collect::<Vec<_>>(), [1, 1, 1, 1, 1]);
        assert!(chunks(Vec::new()).is_empty());
    }
}
