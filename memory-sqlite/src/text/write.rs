//! Putting and deleting the documents of a text index.

use std::collections::{BTreeMap, HashMap, HashSet};

use memory_core::posting::{Shape, TailDocument};
use memory_core::store::text::Deletion;
use memory_core::{Epoch, Result, Scope, Unit};
use sqlx::SqliteConnection;

use super::entry::Terms;
use super::segment::Segment;
use super::statistics::{self, Statistics};
use super::tail;
use crate::index::items::{self, Accepted, Before, ItemPlace, Row};
use crate::index::{Incoming, Owner, erase};

/// Puts entries of an owner into the index called `name`.
pub(super) async fn put(
    connection: &mut SqliteConnection,
    scope: &Scope,
    name: &str,
    shape: Shape,
    entries: Vec<Incoming<Terms>>,
) -> Result<()> {
    let mut owner = Owner::intern(connection, scope, name).await?;
    let accepted = items::accept(connection, &mut owner, entries).await?;
    if accepted.is_empty() {
        return Ok(());
    }
    owner.change();
    let mut statistics = statistics::load(connection, owner.id).await?;
    let replaced = accepted.iter().filter_map(|accepted| match accepted.before {
        Before::Other(block) => Some(ItemPlace { id: accepted.id, unit: accepted.entry.item.unit(), block }),
        Before::Absent | Before::Same(_) => None,
    });
    remove(connection, &owner, &mut statistics, replaced).await?;
    let blocks = add(connection, &mut owner, shape, &mut statistics, &accepted).await?;
    let rows: Vec<_> = accepted.iter().map(|accepted| row(accepted, &blocks)).collect();
    items::put(connection, owner.id, &rows).await?;
    statistics::save(connection, owner.id, &statistics).await?;
    owner.save(connection).await
}

/// Adds the documents that are new or changed, and returns the segments of those that were folded.
async fn add(
    connection: &mut SqliteConnection,
    owner: &mut Owner,
    shape: Shape,
    statistics: &mut Statistics,
    accepted: &[Accepted<Terms>],
) -> Result<HashMap<i64, i64>> {
    let mut new: BTreeMap<Unit, Vec<TailDocument>> = BTreeMap::new();
    for Accepted { id, entry, before } in accepted {
        if !matches!(before, Before::Same(_)) {
            let Terms { length, bytes } = &entry.content;
            let (stamp, at) = (owner.number(), entry.fields.at);
            let document = TailDocument { item: *id, stamp, length: *length, at, terms: bytes.clone() };
            new.entry(entry.item.unit()).or_default().push(document);
        }
    }
    let mut blocks = HashMap::new();
    for (unit, documents) in new {
        let totals = statistics.entry(unit).or_default();
        let folded = tail::add(connection, owner, shape, (unit, totals), &documents).await?;
        for (segment, items) in folded {
            items::move_to(connection, owner.id, &items, segment).await?;
            blocks.extend(items.into_iter().map(|item| (item, segment)));
        }
    }
    Ok(blocks)
}

fn row<'r>(accepted: &'r Accepted<Terms>, blocks: &HashMap<i64, i64>) -> Row<'r> {
    let Accepted { id, entry, before } = accepted;
    let moved = blocks.get(id).copied();
    let block = match before {
        // It was in the tail when looked up, and this put may have folded it since.
        Before::Same(block) => moved.or(*block),
        Before::Absent | Before::Other(_) => moved,
    };
    let Incoming { item, version, fields, digest, content: _ } = entry;
    Row { id: *id, item, version: *version, digest, block, fields }
}

/// Removes documents from the tail, their segments and the statistics.
async fn remove(
    connection: &mut SqliteConnection,
    owner: &Owner,
    statistics: &mut Statistics,
    places: impl Iterator<Item = ItemPlace>,
) -> Result<()> {
    let mut items: BTreeMap<(Unit, Option<i64>), HashSet<i64>> = BTreeMap::new();
    for ItemPlace { id, unit, block } in places {
        items.entry((unit, block)).or_default().insert(id);
    }
    for ((unit, block), items) in items {
        let totals = statistics.entry(unit).or_default();
        let Some(block) = block else {
            tail::remove(connection, owner.id, unit, &items, totals).await?;
            continue;
        };
        let mut segment = Segment::open(connection, owner.id, unit, block).await?;
        for document in segment.remove(connection, owner, &items).await? {
            totals.remove(i64::from(document.length));
        }
    }
    Ok(())
}

/// Deletes items of an owner.
pub(super) async fn delete(
    connection: &mut SqliteConnection,
    scope: &Scope,
    name: &str,
    what: &Deletion,
) -> Result<()> {
    let Some(owner) = Owner::find(connection, scope, name).await? else { return Ok(()) };
    let places = items::to_delete(connection, owner.id, what).await?;
    delete_places(connection, owner, places).await
}

/// Begins the erasure of everything of epochs before `below`, and returns how much it has deleted.
pub(super) async fn erase(connection: &mut SqliteConnection, scope: &Scope, name: &str, below: Epoch) -> Result<u64> {
    let (_, places) = erase::begin(connection, scope, name, below).await?;
    let removed = places.len() as u64;
    if let Some(owner) = Owner::find(connection, scope, name).await? {
        delete_places(connection, owner, places).await?;
    }
    Ok(removed)
}

async fn delete_places(connection: &mut SqliteConnection, mut owner: Owner, places: Vec<ItemPlace>) -> Result<()> {
    if places.is_empty() {
        return Ok(());
    }
    owner.change();
    let mut statistics = statistics::load(connection, owner.id).await?;
    let ids: Vec<_> = places.iter().map(|place| place.id).collect();
    remove(connection, &owner, &mut statistics, places.into_iter()).await?;
    statistics::save(connection, owner.id, &statistics).await?;
    items::delete(connection, owner.id, &ids).await?;
    owner.save(connection).await
}
