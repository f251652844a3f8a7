//! The items of an index: their versions, their places, and the fields that filters see.

mod sessions;
mod write;

#[cfg(test)]
pub(crate) mod tests;

use std::collections::HashMap;
use std::sync::Arc;

use memory_core::store::text::Deletion;
use memory_core::{Digest, Epoch, Fields, ItemId, Result, Scope, SessionId, Unit, Version};
use sqlx::SqliteConnection;

use super::key::{corrupt, read_key, stored_key};
use super::owner::{Owner, whole};
use crate::client::Sqlite;
use crate::error::Doing;
use crate::filter::unit_of;
use crate::number::list;
use crate::number::loaded;

pub(crate) use write::{Row, delete, move_to, put};

/// An entry to be put; `C` is its searched content.
#[derive(Clone, Debug)]
pub(crate) struct Incoming<C> {
    pub(crate) item: ItemId,
    pub(crate) version: Version,
    pub(crate) fields: Fields,
    /// The digest of the content.
    pub(crate) digest: Vec<u8>,
    pub(crate) content: C,
}

/// An entry that is to be stored.
#[derive(Debug)]
pub(crate) struct Accepted<C> {
    /// The item's number.
    pub(crate) id: i64,
    pub(crate) entry: Incoming<C>,
    pub(crate) before: Before,
}

/// What is stored of an item already, with its block; none while it is in the tail of a text index.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Before {
    /// Nothing.
    Absent,
    /// The same content.
    Same(Option<i64>),
    /// Other content.
    Other(Option<i64>),
}

/// Where a stored item is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ItemPlace {
    pub(crate) id: i64,
    pub(crate) unit: Unit,
    /// The block; none while it is in the tail of a text index.
    pub(crate) block: Option<i64>,
}

/// Returns a digest of content, shortened but long enough to tell whether it has changed.
pub(crate) fn digest(parts: &[&[u8]]) -> Vec<u8> {
    Digest::of(parts).0.iter().copied().take(8).collect()
}

/// Returns the entries to store: the newest of each item, unless it is of an erased epoch or a newer one is stored.
pub(crate) async fn accept<C>(
    connection: &mut SqliteConnection,
    owner: &mut Owner,
    entries: Vec<Incoming<C>>,
) -> Result<Vec<Accepted<C>>> {
    let below = owner.below;
    let entries = newest(entries.into_iter().filter(|entry| whole(entry.version.epoch.0) >= below));
    let keys: Vec<_> = entries.iter().map(|entry| stored_key(&entry.item)).collect();
    let stored = stored(connection, owner.id, &keys).await?;
    let mut accepted = Vec::with_capacity(entries.len());
    for (key, entry) in keys.iter().zip(entries) {
        let version = numbers(entry.version);
        let (id, before) = match stored.get(key) {
            None => (owner.number(), Before::Absent),
            Some(old) if old.version > version => continue,
            Some(old) if old.digest == entry.digest => (old.id, Before::Same(old.block)),
            Some(old) => (old.id, Before::Other(old.block)),
        };
        accepted.push(Accepted { id, entry, before });
    }
    Ok(accepted)
}

/// Keeps the newest of several entries of one item; of equal versions the last.
fn newest<C>(entries: impl Iterator<Item = Incoming<C>>) -> Vec<Incoming<C>> {
    let mut places: HashMap<ItemId, usize> = HashMap::new();
    let mut kept: Vec<Option<Incoming<C>>> = Vec::new();
    for entry in entries {
        let earlier = places.get(&entry.item).and_then(|place| kept.get_mut(*place));
        if let Some(earlier) = earlier {
            if earlier.as_ref().is_some_and(|earlier| earlier.version > entry.version) {
                continue;
            }
            *earlier = None;
        }
        places.insert(entry.item.clone(), kept.len());
        kept.push(Some(entry));
    }
    kept.into_iter().flatten().collect()
}

/// Returns a version as it is stored.
fn numbers(version: Version) -> (i64, i64) {
    (whole(version.epoch.0), whole(version.revision))
}

struct Stored {
    id: i64,
    version: (i64, i64),
    digest: Vec<u8>,
    block: Option<i64>,
}

/// Key, number, epoch, revision, digest, block.
type StoredRow = (Vec<u8>, i64, i64, i64, Vec<u8>, Option<i64>);

async fn stored(connection: &mut SqliteConnection, owner: i64, keys: &[Vec<u8>]) -> Result<HashMap<Vec<u8>, Stored>> {
    let rows: Vec<StoredRow> = sqlx::query_as(
        "SELECT item.item, item.id, item.epoch, item.revision, item.digest, item.block \
         FROM json_each(?) AS wanted CROSS JOIN index_item AS item \
         WHERE item.owner = ? AND item.item = unhex(wanted.value)",
    )
    .bind(list(keys))
    .bind(owner)
    .fetch_all(connection)
    .await
    .doing("find the items")?;
    let stored = rows.into_iter().map(|(item, id, epoch, revision, digest, block)| {
        (item, Stored { id, version: (epoch, revision), digest, block })
    });
    Ok(stored.collect())
}

/// Returns the places of the items of a deletion.
pub(crate) async fn to_delete(
    connection: &mut SqliteConnection,
    owner: i64,
    what: &Deletion,
) -> Result<Vec<ItemPlace>> {
    match what {
        Deletion::Items(items) => listed(connection, owner, items).await,
        Deletion::Session(session, through) => of_session(connection, owner, session, *through).await,
    }
}

async fn listed(connection: &mut SqliteConnection, owner: i64, items: &[(ItemId, Version)]) -> Result<Vec<ItemPlace>> {
    let mut bounds: HashMap<Vec<u8>, (i64, i64)> = HashMap::new();
    for (item, through) in items {
        let bound = bounds.entry(stored_key(item)).or_insert((0, -1));
        *bound = numbers(*through).max(*bound);
    }
    let keys: Vec<Vec<u8>> = bounds.keys().cloned().collect();
    let mut stored = stored(connection, owner, &keys).await?;
    stored.retain(|key, stored| bounds.get(key).is_some_and(|through| stored.version <= *through));
    let place =
        |(key, Stored { id, block, .. }): (Vec<u8>, Stored)| Ok(ItemPlace { id, unit: read_key(&key)?.unit(), block });
    stored.into_iter().map(place).collect()
}

/// Returns the versions of the items that are stored in the index called `name`.
pub(crate) async fn versions(
    file: &Sqlite,
    scope: &Scope,
    name: &Arc<str>,
    items: &[ItemId],
) -> Result<Vec<(ItemId, Version)>> {
    let (scope, name, keys) = (scope.clone(), Arc::clone(name), items.iter().map(stored_key).collect::<Vec<_>>());
    let work = file.snapshot("read versions", move |connection| {
        Box::pin(async move {
            let Some(owner) = Owner::find(connection, &scope, &name).await? else { return Ok(Vec::new()) };
            let stored = stored(connection, owner.id, &keys).await?;
            let version = |(key, Stored { version: (epoch, revision), .. }): (Vec<u8>, Stored)| {
                Ok((read_key(&key)?, Version { epoch: Epoch(loaded(epoch)?), revision: loaded(revision)? }))
            };
            stored.into_iter().map(version).collect()
        })
    });
    work.await
}

/// Returns up to `limit` of the items after `after` that are stored in the index called `name`, in the order of their keys.
pub(crate) async fn scan(
    file: &Sqlite,
    scope: &Scope,
    name: &Arc<str>,
    after: Option<&ItemId>,
    limit: usize,
) -> Result<Vec<(ItemId, Version)>> {
    // No key is empty.
    let (scope, name, after) = (scope.clone(), Arc::clone(name), after.map(stored_key).unwrap_or_default());
    let work = file.snapshot("list items", move |connection| {
        Box::pin(async move {
            let Some(owner) = Owner::find(connection, &scope, &name).await? else { return Ok(Vec::new()) };
            let sql = "SELECT item, epoch, revision FROM index_item WHERE owner = ? AND item > ? ORDER BY item LIMIT ?";
            let rows = sqlx::query_as(sql).bind(owner.id).bind(after).bind(i64::try_from(limit).unwrap_or(i64::MAX));
            let rows: Vec<(Vec<u8>, i64, i64)> = rows.fetch_all(connection).await.doing("list the items")?;
            let read = |(key, epoch, revision): (Vec<u8>, i64, i64)| {
                Ok((read_key(&key)?, Version { epoch: Epoch(loaded(epoch)?), revision: loaded(revision)? }))
            };
            rows.into_iter().map(read).collect()
        })
    });
    work.await
}

/// Finds the items of a session up to a version. The index is named, because without statistics SQLite takes all that the owner
/// has for a few rows.
const OF_SESSION: &str = "SELECT id, item, block FROM index_item INDEXED BY index_item_by_session \
     WHERE owner = ?1 AND (epoch, revision) <= (?3, ?4) AND session IS NOT NULL \
     AND session = (SELECT id FROM index_session WHERE owner = ?1 AND name = ?2)";

/// Returns the places of a session's messages and spans. Records outlive the session in which they were made.
async fn of_session(
    connection: &mut SqliteConnection,
    owner: i64,
    session: &SessionId,
    through: Version,
) -> Result<Vec<ItemPlace>> {
    let (epoch, revision) = numbers(through);
    let rows = sqlx::query_as(OF_SESSION).bind(owner).bind(session.name()).bind(epoch).bind(revision);
    let rows = rows.fetch_all(connection).await;
    let mut places = places(rows)?;
    places.retain(|place| place.unit != Unit::Record);
    Ok(places)
}

/// Returns the places of the items of epochs before `below`.
pub(crate) async fn older(connection: &mut SqliteConnection, owner: i64, below: Epoch) -> Result<Vec<ItemPlace>> {
    let rows = sqlx::query_as("SELECT id, unit, block FROM index_item WHERE owner = ? AND epoch < ?")
        .bind(owner)
        .bind(whole(below.0))
        .fetch_all(connection)
        .await;
    let rows: Vec<(i64, i64, Option<i64>)> = rows.doing("find the items")?;
    // Their keys are not read: what is erased may be damaged.
    let unit = |number| unit_of(number).ok_or_else(|| corrupt("a unit has no known number"));
    rows.into_iter().map(|(id, number, block)| Ok(ItemPlace { id, unit: unit(number)?, block })).collect()
}

/// Returns how many items there are, and how many of them are of epochs before `below`.
pub(crate) async fn count(connection: &mut SqliteConnection, owner: i64, below: Epoch) -> Result<(u64, u64)> {
    let sql = "SELECT count(*), count(*) FILTER (WHERE epoch < ?) FROM index_item WHERE owner = ?";
    let counts = sqlx::query_as::<_, (i64, i64)>(sql).bind(whole(below.0)).bind(owner);
    let (all, older) = counts.fetch_one(connection).await.doing("count the items")?;
    Ok((loaded(all)?, loaded(older)?))
}

/// A row of an item: its number, its key, and its block.
type FoundRow = (i64, Vec<u8>, Option<i64>);

fn places(rows: sqlx::Result<Vec<FoundRow>>) -> Result<Vec<ItemPlace>> {
    let rows = rows.doing("find the items")?;
    rows.into_iter().map(|(id, item, block)| Ok(ItemPlace { id, unit: read_key(&item)?.unit(), block })).collect()
}
