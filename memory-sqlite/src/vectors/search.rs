//! Searching a vector index: in the cache, after reading what has changed in the file.

use std::sync::Arc;

use memory_core::Result;
use memory_core::store::vectors::{VectorHit, VectorQuery};
use memory_core::vector::Similarity;
use sqlx::SqliteConnection;

use super::block::{Block, Sought};
use super::follow::{Fresh, blocks, fetch, follow, read};
use super::held::{Held, Key};
use super::nearest::{Near, Nearest};

use crate::client::Sqlite;
use crate::error::lost;
use crate::index::now::now;
use crate::index::stamp::Stamp;
use crate::index::{Choice, Chosen, Owner, Shelf, best};

const SEARCH: &str = "search vectors";

/// Returns the hits of a checked query.
pub(super) async fn search(file: &Sqlite, key: &Key, query: &VectorQuery) -> Result<Vec<VectorHit>> {
    let Some(wanted) = now(file, SEARCH, &key.0, &key.1).await? else { return Ok(Vec::new()) };
    let held = file.vectors().get_or_begin(key, Held::default);
    let near = match look(&held, wanted, query).await? {
        Look::Hits(hits) => return Ok(hits),
        Look::Near(near) => Some(near),
        Look::Nothing => None,
    };
    let (file, key, query) = (file.clone(), key.clone(), query.clone());
    // In a task of its own: if a caller that does not poll got the lock, all others would wait forever.
    let task = tokio::spawn(async move { lookup(&file, wanted, key, held, query, near).await });
    task.await.unwrap_or_else(|_| Err(lost(SEARCH)))
}

/// Returns how many of the nearest items are looked at first. Most filters let most items pass.
fn first_look(query: &VectorQuery) -> usize {
    query.limit.saturating_add(query.limit / 8).saturating_add(8)
}

/// What the cache tells.
enum Look {
    /// The hits.
    Hits(Vec<VectorHit>),
    /// The nearest items, of which some must be read, or filtered in the file.
    Near(Near),
    /// It is of another state.
    Nothing,
}

async fn look(held: &Arc<Held>, wanted: Stamp, query: &VectorQuery) -> Result<Look> {
    let mut most = first_look(query);
    loop {
        let Some(near) = held.nearest(wanted, query, most).await? else { return Ok(Look::Nothing) };
        match held.shelf.choose(&query.filter, query.limit, &near.candidates) {
            Choice::Chosen(chosen) if near.is_all || chosen.len() >= query.limit => {
                return Ok(Look::Hits(hits(near, chosen)));
            }
            Choice::Chosen(_) | Choice::Selective if !near.is_all => most = usize::MAX,
            _ => return Ok(Look::Near(near)),
        }
    }
}

/// Reads what the cache lacks, when it is this search's turn, and returns the hits. `near` are the nearest items at `wanted`,
/// if they are known.
async fn lookup(
    file: &Sqlite,
    wanted: Stamp,
    key: Key,
    held: Arc<Held>,
    query: VectorQuery,
    mut near: Option<Near>,
) -> Result<Vec<VectorHit>> {
    let turn = held.turn().await;
    if near.is_none() {
        // Another task may have read the changes meanwhile.
        match look(&held, wanted, &query).await? {
            Look::Hits(hits) => return Ok(hits),
            Look::Near(found) => near = Some(found),
            Look::Nothing => fetch(file, &key, &held, query.space.dimension).await?,
        }
    }
    let cache = file.clone();
    let work = file.snapshot(SEARCH, move |connection| {
        Box::pin(async move {
            let cache = cache.vectors();
            let (stamp, near) = match near {
                Some(near) if held.is_at(wanted) && is_still(connection, &key, wanted).await? => (wanted, near),
                _ => match follow(connection, cache, &key, &held, query.space.dimension).await? {
                    Fresh::Nothing => return Ok(Vec::new()),
                    Fresh::Held(stamp) => {
                        let place = Place::Memory(&held, stamp);
                        (stamp, place.nearest(connection, stamp.owner, &query, first_look(&query)).await?)
                    }
                    Fresh::TooLarge(owner) => {
                        // Nothing is read into the cache, so others need not wait.
                        drop(turn);
                        let near = Place::File.nearest(connection, owner, &query, first_look(&query)).await?;
                        return choose(connection, owner, Place::File, &Shelf::default(), &query, near).await;
                    }
                },
            };
            let found = choose(connection, stamp.owner, Place::Memory(&held, stamp), &held.shelf, &query, near).await;
            cache.weigh(&key, &held);
            found
        })
    });
    work.await
}

/// Returns whether the file is at the state `wanted` of an owner.
async fn is_still(connection: &mut SqliteConnection, (scope, name): &Key, wanted: Stamp) -> Result<bool> {
    Ok(Owner::find(connection, scope, name).await?.is_some_and(|owner| Stamp::of(&owner) == wanted))
}

/// Where vectors are searched.
#[derive(Clone, Copy)]
enum Place<'h> {
    /// In the cache, which is at this state.
    Memory(&'h Arc<Held>, Stamp),
    /// In the file, because they are too many for the cache.
    File,
}

impl Place<'_> {
    /// Returns about `most` of the nearest items, whatever the query's filter says.
    async fn nearest(
        self,
        connection: &mut SqliteConnection,
        owner: i64,
        query: &VectorQuery,
        most: usize,
    ) -> Result<Near> {
        match self {
            Self::Memory(held, stamp) => Ok(held.nearest(stamp, query, most).await?.unwrap_or_default()),
            Self::File => pass(connection, owner, query, most).await,
        }
    }
}

/// Returns the hits among the nearest items, and reads the fields that `shelf` lacks.
async fn choose(
    connection: &mut SqliteConnection,
    owner: i64,
    place: Place<'_>,
    shelf: &Shelf,
    query: &VectorQuery,
    mut near: Near,
) -> Result<Vec<VectorHit>> {
    let VectorQuery { space: _, vector: _, filter, limit, floor: _, with_vectors: _ } = query;
    loop {
        match shelf.choose(filter, *limit, &near.candidates) {
            Choice::Lacks(items) => shelf.read(connection, owner, &items).await?,
            Choice::Chosen(chosen) if near.is_all || chosen.len() >= *limit => return Ok(hits(near, chosen)),
            Choice::Selective if near.is_all => {
                let chosen = best(connection, owner, shelf, filter, *limit, near.candidates.clone()).await?;
                return Ok(hits(near, chosen));
            }
            Choice::Chosen(_) | Choice::Selective => {
                near = place.nearest(connection, owner, query, usize::MAX).await?;
            }
        }
    }
}

fn hits(mut near: Near, chosen: Vec<Chosen>) -> Vec<VectorHit> {
    let hit = |Chosen { candidate, item }: Chosen| {
        let found = near.found.get_mut(candidate.place)?;
        let (piece, vector) = (found.piece, found.vector.take());
        let similarity = Similarity::new(candidate.score);
        Some(VectorHit { item: item.item.clone(), piece, similarity, fields: item.fields.clone(), vector })
    };
    chosen.into_iter().filter_map(hit).collect()
}

/// Brings an owner's cache, if there is one, to the state of the file, so that deleted vectors leave it.
pub(super) async fn let_go(file: &Sqlite, key: &Key, dimension: usize) -> Result<()> {
    let Some(held) = file.vectors().get(key) else { return Ok(()) };
    let turn = held.turn().await;
    let (cache, key) = (file.clone(), key.clone());
    let work = file.snapshot("follow a deletion", move |connection| {
        Box::pin(async move {
            let _turn = turn;
            follow(connection, cache.vectors(), &key, &held, dimension).await.map(|_| ())
        })
    });
    work.await
}

/// Searches block by block, with only a few in memory at a time.
async fn pass(connection: &mut SqliteConnection, owner: i64, query: &VectorQuery, most: usize) -> Result<Near> {
    let Some(sought) = Sought::of(&query.vector) else { return Ok(Near::default()) };
    let all = blocks(connection, owner).await?;
    let mut nearest = Nearest::new(query, most);
    read(connection, owner, &all, |_, bytes| {
        nearest.offer(&Block::decode(bytes, query.space.dimension)?, &sought);
        Ok(())
    })
    .await?;
    Ok(nearest.finish())
}
