//! Putting and deleting the documents of a text index.

use std::collections::{BTreeMap, HashMap, HashSet};

use memory_core::posting::{Shape, TailDocument};
use memory_core::store::text::Deletion;
use memory_core::{Scope, Unit};
use sqlx::postgres::PgConnection;

use super::entry::Terms;
use super::items::{self, Accepted, Before, ItemPlace};
use super::segment::Segment;
use super::statistics;
use super::tail;
use crate::error::Attempt;
use crate::index::{Incoming, Owner};

/// Puts entries of an owner into the index called `name`.
pub(super) async fn put(
    connection: &mut PgConnection,
    scope: &Scope,
    name: &str,
    shape: Shape,
    entries: &[Incoming<Terms>],
) -> Attempt<()> {
    let mut owner = Owner::intern(connection, scope, name).await?;
    let accepted = items::accept(connection, &mut owner, entries).await?;
    if accepted.is_empty() {
        return Ok(());
    }
    let replaced = accepted.iter().filter_map(|accepted| match accepted.before {
        Before::Other(segment) => Some(ItemPlace { id: accepted.id, unit: accepted.entry.item.unit(), segment }),
        Before::Absent | Before::Same(_) => None,
    });
    let replaced: Vec<_> = replaced.collect();
    remove(connection, &mut owner, &replaced).await?;
    let folded = add(connection, &mut owner, shape, &accepted).await?;
    let segments: Vec<_> = accepted.iter().map(|accepted| segment_of(accepted, &folded)).collect();
    items::put(connection, &owner, &accepted, &segments).await?;
    // By the new number a search notices the change.
    owner.number();
    owner.save(connection).await
}

/// Adds the documents that are new or changed, and returns the segments of those that were folded.
async fn add(
    connection: &mut PgConnection,
    owner: &mut Owner,
    shape: Shape,
    accepted: &[Accepted<'_>],
) -> Attempt<HashMap<i64, i64>> {
    let mut new: BTreeMap<Unit, Vec<TailDocument>> = BTreeMap::new();
    for Accepted { id, entry, before } in accepted {
        if !matches!(before, Before::Same(_)) {
            let Terms { length, bytes, digest: _ } = &entry.content;
            let (stamp, at) = (owner.number(), entry.fields.at);
            let document = TailDocument { item: *id, stamp, length: *length, at, terms: bytes.clone() };
            new.entry(entry.item.unit()).or_default().push(document);
        }
    }
    let mut segments = HashMap::new();
    for (unit, documents) in new {
        for (segment, items) in tail::add(connection, owner, shape, unit, &documents).await? {
            items::move_to(connection, owner, &items, segment).await?;
            segments.extend(items.into_iter().map(|item| (item, segment)));
        }
    }
    Ok(segments)
}

fn segment_of(accepted: &Accepted<'_>, folded: &HashMap<i64, i64>) -> Option<i64> {
    let moved = folded.get(&accepted.id).copied();
    match accepted.before {
        // It was in the tail when looked up, and this put may have folded it since.
        Before::Same(segment) => moved.or(segment),
        Before::Absent | Before::Other(_) => moved,
    }
}

/// Removes documents from the tail, their segments and the statistics.
async fn remove(connection: &mut PgConnection, owner: &mut Owner, places: &[ItemPlace]) -> Attempt<()> {
    let mut items: BTreeMap<(Unit, Option<i64>), HashSet<i64>> = BTreeMap::new();
    for ItemPlace { id, unit, segment } in places {
        items.entry((*unit, *segment)).or_default().insert(*id);
    }
    for ((unit, segment), items) in items {
        let Some(segment) = segment else {
            tail::remove(connection, owner, unit, &items).await?;
            continue;
        };
        let mut segment = Segment::open(connection, owner, unit, segment).await?;
        let mut totals = statistics::of(owner, unit);
        for document in segment.remove(connection, owner, &items).await? {
            totals.remove(i64::from(document.length));
        }
        statistics::set(owner, unit, totals);
    }
    Ok(())
}

/// Deletes items of an owner.
pub(super) async fn delete(connection: &mut PgConnection, scope: &Scope, name: &str, what: &Deletion) -> Attempt<()> {
    let Some(mut owner) = Owner::find(connection, scope, name).await? else { return Ok(()) };
    let places = items::to_delete(connection, &owner, what).await?;
    delete_places(connection, &mut owner, &places).await
}

/// Deletes the items at these places.
pub(super) async fn delete_places(
    connection: &mut PgConnection,
    owner: &mut Owner,
    places: &[ItemPlace],
) -> Attempt<()> {
    if places.is_empty() {
        return Ok(());
    }
    remove(connection, owner, places).await?;
    let ids: Vec<_> = places.iter().map(|place| place.id).collect();
    items::delete(connection, owner, &ids).await?;
    // A search notices by the number that something has changed.
    owner.number();
    owner.save(connection).await
}
