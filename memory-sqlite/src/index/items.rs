//! The items of an index: which version of what is stored where, with the fields that filters see.

mod write;

#[cfg(test)]
pub(crate) mod tests;

use std::collections::HashMap;

use memory_core::text::Deletion;
use memory_core::{Digest, Epoch, Fields, ItemId, Result, SessionId, Unit, Version};
use sqlx::SqliteConnection;

use super::corrupt;
use super::owner::{Owner, whole};
use super::rows::json_keys;
use crate::error::Doing;

pub(crate) use write::{Row, delete, move_to, put};

/// An entry to be put; `C` is what is searched.
#[derive(Clone, Debug)]
pub(crate) struct Incoming<C> {
    pub(crate) item: ItemId,
    pub(crate) version: Version,
    pub(crate) fields: Fields,
    /// Stands for the content: equal digests, equal content.
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

/// What is stored of an item already, and in which block; none while it is in the tail of a text index.
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
pub(crate) struct Place {
    pub(crate) id: i64,
    pub(crate) unit: Unit,
    /// The block; none while it is in the tail of a text index.
    pub(crate) block: Option<i64>,
}

/// Returns what stands for content: enough of its digest to tell whether it has changed.
pub(crate) fn digest(parts: &[&[u8]]) -> Vec<u8> {
    Digest::of(parts).0.iter().copied().take(16).collect()
}

/// Returns the entries that replace what is stored: the newest of each item, unless an erasure or a newer one came
/// before.
pub(crate) async fn accept<C>(
    connection: &mut SqliteConnection,
    owner: &mut Owner,
    entries: Vec<Incoming<C>>,
) -> Result<Vec<Accepted<C>>> {
    let below = owner.below;
    let entries = newest(entries.into_iter().filter(|entry| whole(entry.version.epoch.0) >= below));
    let keys: Vec<_> = entries.iter().map(|entry| entry.item.key()).collect();
    let stored = stored(connection, owner.id, &keys).await?;
    let mut accepted = Vec::with_capacity(entries.len());
    for (key, entry) in keys.iter().zip(entries) {
        let version = (whole(entry.version.epoch.0), whole(entry.version.revision));
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

/// Of several entries of one item the newest stays; of equal versions the last.
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

struct Stored {
    id: i64,
    version: (i64, i64),
    digest: Vec<u8>,
    block: Option<i64>,
}

/// Key, number, epoch, revision, digest, block.
type StoredRow = (String, i64, i64, i64, Vec<u8>, Option<i64>);

async fn stored(connection: &mut SqliteConnection, owner: i64, keys: &[String]) -> Result<HashMap<String, Stored>> {
    let rows: Vec<StoredRow> = sqlx::query_as(
        "SELECT item.item, item.id, item.epoch, item.revision, item.digest, item.block \
         FROM json_each(?) AS wanted CROSS JOIN index_item AS item \
         WHERE item.owner = ? AND item.item = wanted.value",
    )
    .bind(json_keys(keys.iter().map(String::as_str)))
    .bind(owner)
    .fetch_all(connection)
    .await
    .doing("find the items")?;
    let stored = rows.into_iter().map(|(item, id, epoch, revision, digest, block)| {
        (item, Stored { id, version: (epoch, revision), digest, block })
    });
    Ok(stored.collect())
}

/// Returns where the items of a deletion are.
pub(crate) async fn to_delete(connection: &mut SqliteConnection, owner: i64, what: &Deletion) -> Result<Vec<Place>> {
    match what {
        Deletion::Items(items) => listed(connection, owner, items).await,
        Deletion::Session(session) => of_session(connection, owner, session).await,
    }
}

async fn listed(connection: &mut SqliteConnection, owner: i64, items: &[ItemId]) -> Result<Vec<Place>> {
    let keys: Vec<_> = items.iter().map(ItemId::key).collect();
    let rows = sqlx::query_as(
        "SELECT item.id, item.item, item.block \
         FROM (SELECT DISTINCT value FROM json_each(?)) AS wanted CROSS JOIN index_item AS item \
         WHERE item.owner = ? AND item.item = wanted.value",
    )
    .bind(json_keys(keys.iter().map(String::as_str)))
    .bind(owner)
    .fetch_all(connection)
    .await;
    places(rows)
}

/// Messages and spans only: a record outlives the session in which it was made.
async fn of_session(connection: &mut SqliteConnection, owner: i64, session: &SessionId) -> Result<Vec<Place>> {
    let rows = sqlx::query_as("SELECT id, item, block FROM index_item WHERE owner = ? AND session = ?")
        .bind(owner)
        .bind(session.name())
        .fetch_all(connection)
        .await;
    let mut places = places(rows)?;
    places.retain(|place| place.unit != Unit::Record);
    Ok(places)
}

/// Returns where the items of epochs before `below` are.
pub(crate) async fn older(connection: &mut SqliteConnection, owner: i64, below: Epoch) -> Result<Vec<Place>> {
    let rows = sqlx::query_as("SELECT id, item, block FROM index_item WHERE owner = ? AND epoch < ?")
        .bind(owner)
        .bind(whole(below.0))
        .fetch_all(connection)
        .await;
    places(rows)
}

/// Returns how many items there are.
pub(crate) async fn count(connection: &mut SqliteConnection, owner: i64) -> Result<u64> {
    let count: i64 = sqlx::query_scalar("SELECT count(*) FROM index_item WHERE owner = ?")
        .bind(owner)
        .fetch_one(connection)
        .await
        .doing("count the items")?;
    Ok(u64::try_from(count).unwrap_or(0))
}

fn places(rows: sqlx::Result<Vec<(i64, String, Option<i64>)>>) -> Result<Vec<Place>> {
    let rows = rows.doing("find the items")?;
    rows.into_iter().map(|(id, item, block)| Ok(Place { id, unit: read_key(&item)?.unit(), block })).collect()
}

/// Returns the item that a stored key names.
pub(crate) fn read_key(key: &str) -> Result<ItemId> {
    ItemId::from_key(key).map_err(|_| corrupt("an item has a key that is none"))
}
