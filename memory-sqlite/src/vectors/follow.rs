//! Bringing the cache to the state of the file: which blocks it lacks, and reading them.

use std::sync::Arc;

use futures_util::TryStreamExt as _;
use futures_util::future::join_all;
use memory_core::Result;
use sqlx::{Row, SqliteConnection};

use super::block::Block;
use super::held::{Cache, Held, Key};
use crate::client::Sqlite;
use crate::error::Doing;
use crate::index::rows::json_numbers;
use crate::index::stamp::Stamp;
use crate::index::{Owner, corrupt};

/// Adds up the bytes of the owner's blocks.
pub(super) const BYTES: &str = "SELECT sum(bytes) FROM vector_block WHERE owner = ?";

/// Lists the owner's blocks, each with the random number of its last change, packed into one row.
pub(super) const BLOCKS: &str = "SELECT group_concat(block || ' ' || changed, ' ') FROM vector_block WHERE owner = ?";

/// Reads blocks, in the order of the list.
pub(super) const READ: &str = "SELECT block, changed, vectors FROM json_each(?) AS wanted CROSS JOIN vector_block \
     WHERE owner = ? AND block = wanted.value";

/// How many blocks are read at once.
const AT_ONCE: usize = 64;

/// As many blocks for each connection that reads them pay for it.
const SHARE: usize = 256;

/// How many connections read the blocks of one owner at the same time.
const CONNECTIONS: usize = 4;

const SEARCH: &str = "search vectors";

/// Brings the cache to the state of the file. Caches nothing if that fails or is too large.
pub(super) async fn follow(
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
pub(super) enum Fresh {
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
    key: &Key,
    dimension: usize,
    held: &Held,
    bound: usize,
) -> Result<Fresh> {
    match lacking(connection, key, held, bound).await? {
        Lacking::Nothing => Ok(Fresh::Nothing),
        Lacking::TooLarge(owner) => Ok(Fresh::TooLarge(owner)),
        Lacking::Blocks(stamp, lacking) => {
            read(connection, stamp.owner, &lacking, |block, bytes| {
                held.add(block, Block::decode(bytes, dimension)?);
                Ok(())
            })
            .await?;
            held.end(stamp);
            Ok(Fresh::Held(stamp))
        }
    }
}

/// What the cache lacks of the present state of the file.
enum Lacking {
    /// The owner has no vectors.
    Nothing,
    /// These blocks, of this state.
    Blocks(Stamp, Vec<(i64, i64)>),
    /// There is more than the cache may hold.
    TooLarge(i64),
}

/// Begins a change to the state of the file.
async fn lacking(connection: &mut SqliteConnection, (scope, name): &Key, held: &Held, bound: usize) -> Result<Lacking> {
    let Some(owner) = Owner::find(connection, scope, name).await? else { return Ok(Lacking::Nothing) };
    let bytes: Option<i64> =
        sqlx::query_scalar(BYTES).bind(owner.id).fetch_one(&mut *connection).await.doing(SEARCH)?;
    // In memory it takes a little more, with vectors of usual dimensions.
    if bytes.unwrap_or(0).saturating_mul(33) / 32 > i64::try_from(bound).unwrap_or(i64::MAX) {
        return Ok(Lacking::TooLarge(owner.id));
    }
    let present = blocks(connection, owner.id).await?;
    let stamp = Stamp::of(&owner);
    Ok(Lacking::Blocks(stamp, held.begin(stamp, &present)))
}

/// Reads many blocks into the cache, over several connections at once, which takes a fraction of the time.
///
/// Each sees a state of its own, so a block may be older or newer than the others. The refresh that follows knows them by
/// their changes, and reads again what is not of its state.
pub(super) async fn fetch(file: &Sqlite, key: &Key, held: &Arc<Held>, dimension: usize) -> Result<()> {
    let (cache, of, filling) = (file.clone(), key.clone(), Arc::clone(held));
    let look = file.snapshot(SEARCH, move |connection| {
        Box::pin(async move { lacking(connection, &of, &filling, cache.vectors().bound()).await })
    });
    let Lacking::Blocks(stamp, lacking) = look.await? else { return Ok(()) };
    let connections = (lacking.len() / SHARE).min(CONNECTIONS);
    if connections < 2 {
        return Ok(());
    }
    let parts = lacking.chunks(lacking.len().div_ceil(connections)).map(|part| {
        let (part, held) = (part.to_vec(), Arc::clone(held));
        file.snapshot(SEARCH, move |connection| {
            Box::pin(async move {
                let add = |block, bytes: &[u8]| {
                    held.add(block, Block::decode(bytes, dimension)?);
                    Ok(())
                };
                read_present(connection, stamp.owner, &part, add).await
            })
        })
    });
    join_all(parts).await.into_iter().collect()
}

/// Returns the numbers of an owner's blocks, each with the random number of its last change.
pub(super) async fn blocks(connection: &mut SqliteConnection, owner: i64) -> Result<Vec<(i64, i64)>> {
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
pub(super) async fn read(
    connection: &mut SqliteConnection,
    owner: i64,
    blocks: &[(i64, i64)],
    mut visit: impl FnMut((i64, i64), &[u8]) -> Result<()>,
) -> Result<()> {
    let mut count = 0;
    let counted = |block, bytes: &[u8]| {
        count += 1;
        visit(block, bytes)
    };
    read_present(connection, owner, blocks, counted).await?;
    if count < blocks.len() { Err(corrupt("a block is missing")) } else { Ok(()) }
}

/// Gives those of the blocks that are there to `visit`, as the file has them now.
async fn read_present(
    connection: &mut SqliteConnection,
    owner: i64,
    blocks: &[(i64, i64)],
    mut visit: impl FnMut((i64, i64), &[u8]) -> Result<()>,
) -> Result<()> {
    for blocks in blocks.chunks(AT_ONCE) {
        let wanted = json_numbers(blocks.iter().map(|(block, _)| *block));
        // Row by row, so that each is decoded while it is in the processor's cache.
        let mut rows = sqlx::query(READ).bind(wanted).bind(owner).fetch(&mut *connection);
        while let Some(row) = rows.try_next().await.doing(SEARCH)? {
            let block = (row.try_get(0).doing(SEARCH)?, row.try_get(1).doing(SEARCH)?);
            // Borrowed, because a copy of every vector would cost as much as comparing it.
            visit(block, row.try_get(2).doing(SEARCH)?)?;
        }
    }
    Ok(())
}
