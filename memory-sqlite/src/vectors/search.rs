//! Searching a vector index: in the cache, after reading what has changed in the file.

use std::sync::Arc;

use memory_core::store::vectors::{VectorHit, VectorQuery};
use memory_core::vector::{Direction, Partition, Similarity, nearest_first};
use memory_core::{Epoch, Result, Version};
use sqlx::{Row, SqliteConnection};

use super::block::visit;
use super::held::{Cache, Held, Key};

use crate::client::Sqlite;
use crate::error::{Doing, lost};
use crate::index::now::now;
use crate::index::rows::json_numbers;
use crate::index::stamp::Stamp;
use crate::index::{Owner, corrupt};

/// Adds up the bytes of the owner's blocks.
pub(super) const BYTES: &str = "SELECT sum(bytes) FROM vector_block WHERE owner = ?";

/// Lists the owner's blocks, each with the random number of its last change, packed into one row.
pub(super) const BLOCKS: &str = "SELECT group_concat(block || ' ' || changed, ' ') FROM vector_block WHERE owner = ?";

/// Reads blocks, in the order of the list.
pub(super) const READ: &str = "SELECT vectors FROM json_each(?) AS wanted CROSS JOIN vector_block \
     WHERE owner = ? AND block = wanted.value";

/// How many blocks are read at once.
const AT_ONCE: usize = 64;

const SEARCH: &str = "search vectors";

/// Returns the hits of a checked query.
pub(super) async fn search(file: &Sqlite, key: &Key, query: &VectorQuery) -> Result<Vec<VectorHit>> {
    let Some(wanted) = now(file, SEARCH, &key.0, &key.1).await? else { return Ok(Vec::new()) };
    let held = file.vectors().get_or_begin(key, || Held::new(query.space.dimension));
    if let Some(hits) = held.search(wanted, query).await? {
        return Ok(hits);
    }
    let (file, key, query) = (file.clone(), key.clone(), query.clone());
    // In a task of its own: if a caller that does not poll got the lock, all others would wait forever.
    let task = tokio::spawn(async move { lookup(&file, wanted, key, held, query).await });
    task.await.unwrap_or_else(|_| Err(lost(SEARCH)))
}

/// Reads what has changed, when it is this search's turn, and returns the hits.
async fn lookup(file: &Sqlite, wanted: Stamp, key: Key, held: Arc<Held>, query: VectorQuery) -> Result<Vec<VectorHit>> {
    let turn = held.turn().await;
    // Another task may have read the changes meanwhile.
    if let Some(hits) = held.search(wanted, &query).await? {
        return Ok(hits);
    }
    let cache = file.clone();
    let work = file.snapshot(SEARCH, move |connection| {
        Box::pin(async move {
            match follow(connection, cache.vectors(), &key, &held, query.space.dimension).await? {
                Fresh::Nothing => Ok(Vec::new()),
                Fresh::Held(stamp) => Ok(held.search(stamp, &query).await?.unwrap_or_default()),
                Fresh::TooLarge(owner) => {
                    // Nothing is read into the cache, so others need not wait.
                    drop(turn);
                    pass(connection, owner, &query).await
                }
            }
        })
    });
    work.await
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

/// Brings the cache to the state of the file. Caches nothing if that fails or is too large.
async fn follow(
    connection: &mut SqliteConnection,
    cache: &Cache,
    key: &Key,
    held: &Arc<Held>,
    dimension: usize,
) -> Result<Fresh> {
    let fresh = refresh(connection, key, dimension, held, cache.bound()).await;
    match fresh {
        Ok(Fresh::Held(_)) => cache.weigh(key, held),
        Ok(Fresh::Nothing | Fresh::TooLarge(_)) | Err(_) => cache.remove(key),
    }
    fresh
}

/// The result of a refresh.
enum Fresh {
    /// The owner has no vectors.
    Nothing,
    /// The cache is at this state.
    Held(Stamp),
    /// There is more than the cache may hold.
    TooLarge(i64),
}

/// Reads what has changed since the cached state.
async fn refresh(
    connection: &mut SqliteConnection,
    (scope, name): &Key,
    dimension: usize,
    held: &Held,
    bound: usize,
) -> Result<Fresh> {
    let Some(owner) = Owner::find(connection, scope, name).await? else { return Ok(Fresh::Nothing) };
    let bytes: Option<i64> =
        sqlx::query_scalar(BYTES).bind(owner.id).fetch_one(&mut *connection).await.doing(SEARCH)?;
    // In memory it takes at most half as much again, with vectors of usual dimensions.
    if bytes.unwrap_or(0).saturating_mul(3) / 2 > i64::try_from(bound).unwrap_or(i64::MAX) {
        return Ok(Fresh::TooLarge(owner.id));
    }
    let stamp = Stamp::of(&owner);
    let lacking = held.begin(stamp, dimension, &blocks(connection, owner.id).await?);
    read(connection, owner.id, &lacking, |block, bytes| held.add(block, bytes, dimension)).await?;
    held.end(stamp);
    Ok(Fresh::Held(stamp))
}

/// Returns the numbers of an owner's blocks, each with the random number of its last change.
async fn blocks(connection: &mut SqliteConnection, owner: i64) -> Result<Vec<(i64, i64)>> {
    let listed: Option<String> = sqlx::query_scalar(BLOCKS).bind(owner).fetch_one(connection).await.doing(SEARCH)?;
    let listed = listed.unwrap_or_default();
    let mut numbers = listed.split_ascii_whitespace().map(str::parse);
    let mut blocks = Vec::new();
    while let (Some(block), Some(changed)) = (numbers.next(), numbers.next()) {
        let pair: std::result::Result<_, std::num::ParseIntError> = block.and_then(|block| Ok((block, changed?)));
        blocks.push(pair.map_err(|_| corrupt("a block has no number"))?);
    }
    Ok(blocks)
}

/// Gives each of the blocks to `visit`.
async fn read(
    connection: &mut SqliteConnection,
    owner: i64,
    blocks: &[(i64, i64)],
    mut visit: impl FnMut((i64, i64), &[u8]) -> Result<()>,
) -> Result<()> {
    for blocks in blocks.chunks(AT_ONCE) {
        let wanted = json_numbers(blocks.iter().map(|(block, _)| *block));
        let rows = sqlx::query(READ).bind(wanted).bind(owner).fetch_all(&mut *connection).await.doing(SEARCH)?;
        if rows.len() < blocks.len() {
            return Err(corrupt("a block is missing"));
        }
        for (block, row) in blocks.iter().zip(&rows) {
            // Borrowed, because a copy of every vector would cost as much as comparing it.
            visit(*block, row.try_get(0).doing(SEARCH)?)?;
        }
    }
    Ok(())
}

/// Searches block by block, with only one in memory at a time. Items that are farther than enough others are not decoded.
async fn pass(connection: &mut SqliteConnection, owner: i64, query: &VectorQuery) -> Result<Vec<VectorHit>> {
    let VectorQuery { space, vector, filter: _, limit, floor, with_vectors: _ } = query;
    let Some(direction) = Direction::of(vector) else { return Ok(Vec::new()) };
    let mut least = floor.map_or(-1.0, Similarity::value);
    let mut best: Vec<VectorHit> = Vec::new();
    let all = blocks(connection, owner).await?;
    read(connection, owner, &all, |_, bytes| {
        let mut partition = Partition::new(space.dimension);
        visit(bytes, space.dimension, |stored| {
            let numbers = stored.numbers();
            let mut pieces = numbers.chunks_exact(space.dimension.max(1));
            if pieces.any(|piece| direction.similarity(piece).value() >= least) {
                let (item, fields) = stored.decode()?;
                partition.put(item, Version { epoch: Epoch(0), revision: 0 }, fields, &numbers);
            }
            Ok(())
        })?;
        best.extend(partition.search(query));
        if best.len() > limit.saturating_mul(2) {
            cut(&mut best, *limit);
            least = best.last().map_or(least, |last| last.similarity.value());
        }
        Ok(())
    })
    .await?;
    cut(&mut best, *limit);
    Ok(best)
}

/// Keeps the nearest hits, nearest first, ties by newer `at`, then by item.
fn cut(hits: &mut Vec<VectorHit>, limit: usize) {
    hits.sort_by(|a, b| nearest_first((a.similarity, a.fields.at, &a.item), (b.similarity, b.fields.at, &b.item)));
    hits.truncate(limit);
}
