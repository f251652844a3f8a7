//! The items of a text index: their versions, their places, and the fields that filters see.

use std::collections::HashMap;

use memory_core::store::text::Deletion;
use memory_core::{Epoch, ItemId, Scope, Unit, Version};
use sqlx::postgres::PgConnection;

use super::entry::Terms;
use crate::error::{Attempt, Doing};
use crate::index::columns::{self, Columns};
use crate::index::owner::{number, version, whole};
use crate::index::{Incoming, Owner, corrupt, key, newest};
use crate::statement::fill;

const FIND: &str = "find the items";
const WRITE: &str = "write the items";

/// What an item can be.
const UNITS: [Unit; 3] = [Unit::Message, Unit::Record, Unit::Span];

/// An entry that is to be stored.
#[derive(Debug)]
pub(super) struct Accepted<'e> {
    /// The item's number.
    pub(super) id: i64,
    pub(super) entry: &'e Incoming<Terms>,
    pub(super) before: Before,
}

/// What is stored of an item already, with its segment; none while it is in the tail.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Before {
    /// Nothing.
    Absent,
    /// The same content.
    Same(Option<i64>),
    /// Other content.
    Other(Option<i64>),
}

/// Where a stored item is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ItemPlace {
    pub(super) id: i64,
    pub(super) unit: Unit,
    /// The segment; none while it is in the tail.
    pub(super) segment: Option<i64>,
}

struct Stored {
    id: i64,
    version: (i64, i64),
    digest: Vec<u8>,
    segment: Option<i64>,
}

/// Returns the entries to store: the newest of each item, unless it is of an erased epoch or a newer one is stored.
pub(super) async fn accept<'e>(
    connection: &mut PgConnection,
    owner: &mut Owner,
    entries: &'e [Incoming<Terms>],
) -> Attempt<Vec<Accepted<'e>>> {
    let below = owner.below;
    let entries = newest(entries.iter().filter(|entry| whole(entry.version.epoch.0) >= below));
    let keys: Vec<_> = entries.iter().map(|entry| key::encode(&entry.item)).collect();
    let stored = stored(connection, owner.scope.key(), owner.id, &keys).await?;
    let mut accepted = Vec::with_capacity(entries.len());
    for (key, entry) in keys.iter().zip(entries) {
        let version = (whole(entry.version.epoch.0), whole(entry.version.revision));
        let (id, before) = match stored.get(key) {
            None => (owner.number(), Before::Absent),
            Some(old) if old.version > version => continue,
            Some(old) if old.digest == entry.content.digest => (old.id, Before::Same(old.segment)),
            Some(old) => (old.id, Before::Other(old.segment)),
        };
        accepted.push(Accepted { id, entry, before });
    }
    Ok(accepted)
}

/// Key, number, epoch, revision, digest, segment.
type StoredRow = (Vec<u8>, i64, i64, i64, Vec<u8>, Option<i64>);

async fn stored(
    connection: &mut PgConnection,
    scope: &str,
    owner: i64,
    keys: &[Vec<u8>],
) -> Attempt<HashMap<Vec<u8>, Stored>> {
    let sql = "SELECT item, id, epoch, revision, digest, segment FROM text_item \
         WHERE scope = $1 AND owner = $2 AND item = ANY ($3)";
    let find = sqlx::query_as(sql).bind(scope).bind(owner).bind(keys);
    let rows: Vec<StoredRow> = find.fetch_all(connection).await.doing(FIND)?;
    let stored = rows.into_iter().map(|(item, id, epoch, revision, digest, segment)| {
        (item, Stored { id, version: (epoch, revision), digest, segment })
    });
    Ok(stored.collect())
}

/// Returns the versions of the items that are stored in the index called `name`.
pub(super) async fn versions(
    connection: &mut PgConnection,
    scope: &Scope,
    name: &str,
    items: &[ItemId],
) -> Attempt<Vec<(ItemId, Version)>> {
    let Some(owner) = number(connection, scope, name).await? else { return Ok(Vec::new()) };
    let keys: Vec<_> = items.iter().map(key::encode).collect();
    let stored = stored(connection, scope.key(), owner, &keys).await?;
    let read = |(key, Stored { version: (epoch, revision), .. }): (Vec<u8>, Stored)| {
        Ok((key::decode(&key)?, version(epoch, revision)?))
    };
    stored.into_iter().map(read).collect()
}

/// Returns up to `limit` of the items after `after` that are stored in the index called `name`, in their order.
pub(super) async fn scan(
    connection: &mut PgConnection,
    scope: &Scope,
    name: &str,
    after: Option<&ItemId>,
    limit: i64,
) -> Attempt<Vec<(ItemId, Version)>> {
    let Some(owner) = number(connection, scope, name).await? else { return Ok(Vec::new()) };
    let sql = "SELECT item, epoch, revision FROM text_item WHERE scope = $1 AND owner = $2 AND item > $3 \
         ORDER BY item LIMIT $4";
    // The bytes of an item are never empty.
    let after = after.map(key::encode).unwrap_or_default();
    let rows = sqlx::query_as(sql).bind(scope.key()).bind(owner).bind(after).bind(limit);
    let rows: Vec<(Vec<u8>, i64, i64)> = rows.fetch_all(connection).await.doing("list the items")?;
    rows.into_iter().map(|(item, epoch, revision)| Ok((key::decode(&item)?, version(epoch, revision)?))).collect()
}

/// Puts items, each once, in place of the rows with their numbers; `segments` tells where they are.
pub(super) async fn put(
    connection: &mut PgConnection,
    owner: &Owner,
    accepted: &[Accepted<'_>],
    segments: &[Option<i64>],
) -> Attempt<()> {
    let (mut ids, mut items, mut epochs, mut revisions) = (vec![], vec![], vec![], vec![]);
    let (mut digests, mut columns) = (vec![], Columns::default());
    for Accepted { id, entry, before: _ } in accepted {
        let Incoming { item, version, fields, content } = entry;
        ids.push(*id);
        items.push(key::encode(item));
        epochs.push(whole(version.epoch.0));
        revisions.push(whole(version.revision));
        digests.push(content.digest.as_slice());
        columns.add(fields);
    }
    let text = "INSERT INTO text_item (scope, owner, id, item, epoch, revision, digest, segment, {names}) \
         SELECT $15, $16, new.id, new.item, new.epoch, new.revision, new.digest, new.segment, {selected} \
         FROM unnest($17, $18, $19, $20, $21, $22, {values}) \
         AS new (id, item, epoch, revision, digest, segment, {names}) ON CONFLICT (scope, owner, id) \
         DO UPDATE SET (epoch, revision, digest, segment, {names}) \
         = (excluded.epoch, excluded.revision, excluded.digest, excluded.segment, {excluded})";
    let (names, selected, values) = (columns::NAMES, columns::SELECTED, columns::VALUES);
    let holes = [("names", names), ("selected", selected), ("values", values), ("excluded", columns::EXCLUDED)];
    let mut sql = fill(text, &holes);
    let put = columns.bind(sql.build()).bind(owner.scope.key()).bind(owner.id).bind(ids).bind(items);
    let put = put.bind(epochs).bind(revisions).bind(digests).bind(segments);
    put.execute(connection).await.doing(WRITE).map(|_| ())
}

/// Stores that items are now in a segment.
pub(super) async fn move_to(connection: &mut PgConnection, owner: &Owner, ids: &[i64], segment: i64) -> Attempt<()> {
    let sql = "UPDATE text_item SET segment = $3 WHERE scope = $1 AND owner = $2 AND id = ANY ($4)";
    let moved = sqlx::query(sql).bind(owner.scope.key()).bind(owner.id).bind(segment).bind(ids);
    moved.execute(connection).await.doing(WRITE).map(|_| ())
}

/// Deletes items.
pub(super) async fn delete(connection: &mut PgConnection, owner: &Owner, ids: &[i64]) -> Attempt<()> {
    let sql = "DELETE FROM text_item WHERE scope = $1 AND owner = $2 AND id = ANY ($3)";
    let deleted = sqlx::query(sql).bind(owner.scope.key()).bind(owner.id).bind(ids);
    deleted.execute(connection).await.doing(WRITE).map(|_| ())
}

/// Returns the places of the items of a deletion: those listed, or the messages and spans of a session. Records outlive the
/// session in which they were made.
pub(super) async fn to_delete(
    connection: &mut PgConnection,
    owner: &Owner,
    what: &Deletion,
) -> Attempt<Vec<ItemPlace>> {
    match what {
        Deletion::Items(items) => {
            let bounds = key::bounds(items);
            let keys: Vec<_> = bounds.keys().cloned().collect();
            let mut stored = stored(connection, owner.scope.key(), owner.id, &keys).await?;
            stored.retain(|key, stored| bounds.get(key).is_some_and(|through| stored.version <= *through));
            let place = |(key, Stored { id, segment, .. }): (Vec<u8>, Stored)| {
                Ok(ItemPlace { id, unit: key::decode(&key)?.unit(), segment })
            };
            stored.into_iter().map(place).collect()
        }
        Deletion::Session(session, through) => {
            let spans = key::spans(session);
            let sql = "SELECT id, item, segment FROM text_item WHERE scope = $1 AND owner = $2 \
                 AND (session = $3 AND item < $4 OR item >= $5 AND item < $6) AND (epoch, revision) <= ($7, $8)";
            let found = sqlx::query_as(sql).bind(owner.scope.key()).bind(owner.id).bind(session.name().as_bytes());
            let found = found.bind(key::BEHIND_MESSAGES).bind(spans.start).bind(spans.end);
            let found = found.bind(whole(through.epoch.0)).bind(whole(through.revision));
            places(found.fetch_all(connection).await)
        }
    }
}

/// Returns the places of the items of epochs before `below`.
pub(super) async fn older(connection: &mut PgConnection, owner: &Owner, below: Epoch) -> Attempt<Vec<ItemPlace>> {
    let sql = "SELECT id, unit, segment FROM text_item WHERE scope = $1 AND owner = $2 AND epoch < $3";
    let found = sqlx::query_as(sql).bind(owner.scope.key()).bind(owner.id).bind(whole(below.0));
    let rows: Vec<PlaceRow> = found.fetch_all(connection).await.doing(FIND)?;
    // Their keys are not read: what is erased may be damaged.
    let place = |(id, unit, segment): PlaceRow| {
        let unit = UNITS.into_iter().find(|known| known.name().as_bytes() == unit);
        Ok(ItemPlace { id, unit: unit.ok_or_else(|| corrupt("an item is of no known unit"))?, segment })
    };
    rows.into_iter().map(place).collect()
}

/// Returns how many items an owner's number has, and how many of them are of epochs before `below`.
pub(super) async fn count(connection: &mut PgConnection, owner: &Owner, below: Epoch) -> Attempt<(u64, u64)> {
    let sql = "SELECT count(*), count(*) FILTER (WHERE epoch < $3) FROM text_item WHERE scope = $1 AND owner = $2";
    let count = sqlx::query_as(sql).bind(owner.scope.key()).bind(owner.id).bind(whole(below.0));
    let (all, older): (i64, i64) = count.fetch_one(connection).await.doing("count the items")?;
    Ok((all.unsigned_abs(), older.unsigned_abs()))
}

/// Number, item or unit, segment.
type PlaceRow = (i64, Vec<u8>, Option<i64>);

fn places(rows: sqlx::Result<Vec<PlaceRow>>) -> Attempt<Vec<ItemPlace>> {
    let rows = rows.doing(FIND)?;
    let place = |(id, item, segment): PlaceRow| {
        let item: ItemId = key::decode(&item)?;
        Ok(ItemPlace { id, unit: item.unit(), segment })
    };
    rows.into_iter().map(place).collect()
}
