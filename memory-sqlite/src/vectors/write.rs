//! Putting and deleting the items of a vector index.

use std::collections::{BTreeMap, HashMap, HashSet};

use memory_core::store::text::Deletion;
use memory_core::store::vectors::VectorEntry;
use memory_core::vector::{EmbeddingSpace, normalise};
use memory_core::{Epoch, Error, Result, Scope};
use sqlx::SqliteConnection;

use super::block::{Draft, Stored, encode};
use crate::index::items::{self, Accepted, Before, ItemPlace, Row};
use crate::index::{Incoming, Owner, corrupt, erase};

/// The vectors of an item, as a block holds them.
pub(super) type Content = Vec<u8>;

/// Returns the entry in the form in which it is stored.
///
/// # Errors
/// `Invalid` for an entry without pieces, or with a vector that does not belong to the space.
pub(super) fn prepare(space: &EmbeddingSpace, entry: &VectorEntry) -> Result<Incoming<Content>> {
    let VectorEntry { item, version, pieces, fields } = entry;
    if pieces.is_empty() {
        return Err(Error::invalid("an entry needs at least one vector"));
    }
    let mut content = Vec::new();
    for piece in pieces {
        space.check_vector(piece)?;
        content.extend(encode(&normalise(piece).unwrap_or_default()));
    }
    // The time is in the digest because it is stored with the vectors, for the order of ties.
    let digest = items::digest(&[&fields.at.0.to_le_bytes(), &content]);
    Ok(Incoming { item: item.clone(), version: *version, fields: fields.clone(), digest, content })
}

/// Puts entries of an owner into the index called `name`.
pub(super) async fn put(
    connection: &mut SqliteConnection,
    scope: &Scope,
    name: &str,
    dimension: usize,
    entries: Vec<Incoming<Content>>,
) -> Result<()> {
    let mut owner = Owner::intern(connection, scope, name).await?;
    let accepted = items::accept(connection, &mut owner, entries).await?;
    if accepted.is_empty() {
        return Ok(());
    }
    owner.change();
    let replaced = accepted.iter().filter_map(|accepted| match accepted.before {
        Before::Other(block) => Some((accepted.id, block)),
        Before::Absent | Before::Same(_) => None,
    });
    remove(connection, &owner, dimension, replaced).await?;
    let blocks = add(connection, &mut owner, dimension, &accepted).await?;
    let rows: Vec<_> = accepted.iter().map(|accepted| row(accepted, &blocks)).collect();
    items::put(connection, owner.id, &rows).await?;
    owner.save(connection).await
}

/// Adds the vectors that are new or changed, and returns their blocks.
async fn add(
    connection: &mut SqliteConnection,
    owner: &mut Owner,
    dimension: usize,
    accepted: &[Accepted<Content>],
) -> Result<HashMap<i64, i64>> {
    let mut blocks = HashMap::new();
    let mut open: Option<Draft> = None;
    for Accepted { id, entry, before } in accepted {
        if matches!(before, Before::Same(_)) {
            continue;
        }
        let mut block = match open.take() {
            Some(block) => block,
            None => Draft::with_room(connection, owner, dimension).await?,
        };
        block.push(Stored { item: *id, at: entry.fields.at, vectors: entry.content.clone() });
        blocks.insert(*id, block.number);
        if block.has_room() {
            open = Some(block);
        } else {
            block.save(connection, owner).await?;
        }
    }
    if let Some(block) = open {
        block.save(connection, owner).await?;
    }
    Ok(blocks)
}

fn row<'r>(accepted: &'r Accepted<Content>, blocks: &HashMap<i64, i64>) -> Row<'r> {
    let Accepted { id, entry, before } = accepted;
    let block = match before {
        Before::Same(block) => *block,
        Before::Absent | Before::Other(_) => blocks.get(id).copied(),
    };
    let Incoming { item, version, fields, digest, content: _ } = entry;
    Row { id: *id, item, version: *version, digest, block, fields }
}

/// Removes items from their blocks.
async fn remove(
    connection: &mut SqliteConnection,
    owner: &Owner,
    dimension: usize,
    places: impl Iterator<Item = (i64, Option<i64>)>,
) -> Result<()> {
    let mut items: BTreeMap<i64, HashSet<i64>> = BTreeMap::new();
    for (id, block) in places {
        let block = block.ok_or_else(|| corrupt("an item is in no block"))?;
        items.entry(block).or_default().insert(id);
    }
    for (number, items) in items {
        let mut block = Draft::open(connection, owner.id, dimension, number).await?;
        if block.retain(|item| !items.contains(&item)) < items.len() {
            return Err(corrupt("a block lacks an item"));
        }
        block.save(connection, owner).await?;
    }
    Ok(())
}

/// Deletes items of an owner.
pub(super) async fn delete(
    connection: &mut SqliteConnection,
    scope: &Scope,
    name: &str,
    dimension: usize,
    what: &Deletion,
) -> Result<()> {
    let Some(owner) = Owner::find(connection, scope, name).await? else { return Ok(()) };
    let places = items::to_delete(connection, owner.id, what).await?;
    delete_places(connection, owner, dimension, &places).await
}

/// Begins the erasure of everything of epochs before `below`, and returns how much it has deleted.
pub(super) async fn erase(
    connection: &mut SqliteConnection,
    scope: &Scope,
    name: &str,
    dimension: usize,
    below: Epoch,
) -> Result<u64> {
    let (_, places) = erase::begin(connection, scope, name, below).await?;
    if let Some(owner) = Owner::find(connection, scope, name).await? {
        delete_places(connection, owner, dimension, &places).await?;
    }
    Ok(places.len() as u64)
}

async fn delete_places(
    connection: &mut SqliteConnection,
    mut owner: Owner,
    dimension: usize,
    places: &[ItemPlace],
) -> Result<()> {
    if places.is_empty() {
        return Ok(());
    }
    owner.change();
    remove(connection, &owner, dimension, places.iter().map(|place| (place.id, place.block))).await?;
    let ids: Vec<_> = places.iter().map(|place| place.id).collect();
    items::delete(connection, owner.id, &ids).await?;
    owner.save(connection).await
}
