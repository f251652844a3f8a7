//! Blocks: the vectors of several items side by side in one row.
//!
//! An item is its number, its time, how many pieces it has, and their vectors at unit length; all little-endian.

use memory_core::{Result, Timestamp};
use sqlx::SqliteConnection;

use crate::error::Doing;
use crate::index::{Owner, corrupt};

/// A block of so many bytes takes no more items: large enough that a search reads few rows, small enough that a put
/// writes few pages.
const FULL: i64 = 32 << 10;

const READ: &str = "read the vectors";
const WRITE: &str = "write the vectors";

/// The vectors of one item.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Pieces<'b> {
    pub(super) item: i64,
    pub(super) at: Timestamp,
    /// The vectors one after the other.
    pub(super) vectors: &'b [u8],
}

/// Reads a block of vectors of `dimension` numbers and gives each item to `visit`.
pub(super) fn visit<'b>(mut bytes: &'b [u8], dimension: usize, mut visit: impl FnMut(Pieces<'b>)) -> Result<()> {
    let damaged = || corrupt("a block of vectors is damaged");
    while !bytes.is_empty() {
        let (item, rest) = bytes.split_first_chunk().ok_or_else(damaged)?;
        let (at, rest) = rest.split_first_chunk().ok_or_else(damaged)?;
        let (count, rest) = rest.split_first_chunk().ok_or_else(damaged)?;
        let length = (u32::from_le_bytes(*count) as usize).checked_mul(dimension * 4).ok_or_else(damaged)?;
        let (vectors, rest) = rest.split_at_checked(length).ok_or_else(damaged)?;
        visit(Pieces { item: i64::from_le_bytes(*item), at: Timestamp(i64::from_le_bytes(*at)), vectors });
        bytes = rest;
    }
    Ok(())
}

/// A block at hand.
#[derive(Debug)]
pub(super) struct Block {
    pub(super) number: i64,
    dimension: usize,
    bytes: Vec<u8>,
}

impl Block {
    /// Returns the block numbered `number`.
    pub(super) async fn open(
        connection: &mut SqliteConnection,
        owner: i64,
        dimension: usize,
        number: i64,
    ) -> Result<Self> {
        let bytes = sqlx::query_scalar("SELECT vectors FROM vector_block WHERE owner = ? AND block = ?")
            .bind(owner)
            .bind(number)
            .fetch_optional(connection)
            .await
            .doing(READ)?;
        let bytes = bytes.ok_or_else(|| corrupt("a block of vectors is missing"))?;
        Ok(Self { number, dimension, bytes })
    }

    /// Returns the block with the most room; a new one if none has any.
    pub(super) async fn with_room(
        connection: &mut SqliteConnection,
        owner: &mut Owner,
        dimension: usize,
    ) -> Result<Self> {
        let sql = "SELECT block FROM vector_block WHERE owner = ? AND bytes < ? ORDER BY bytes, block LIMIT 1";
        let roomy =
            sqlx::query_scalar(sql).bind(owner.id).bind(FULL).fetch_optional(&mut *connection).await.doing(READ)?;
        match roomy {
            Some(number) => Self::open(connection, owner.id, dimension, number).await,
            None => Ok(Self { number: owner.number(), dimension, bytes: Vec::new() }),
        }
    }

    /// Returns whether another item may be added.
    pub(super) fn has_room(&self) -> bool {
        (self.bytes.len() as i64) < FULL
    }

    /// Adds an item.
    pub(super) fn push(&mut self, pieces: Pieces<'_>) {
        let Pieces { item, at, vectors } = pieces;
        let count = (vectors.len() / (self.dimension * 4)) as u32;
        self.bytes.extend_from_slice(&item.to_le_bytes());
        self.bytes.extend_from_slice(&at.0.to_le_bytes());
        self.bytes.extend_from_slice(&count.to_le_bytes());
        self.bytes.extend_from_slice(vectors);
    }

    /// Keeps only the items for which `keep` is true, and returns how many are gone.
    pub(super) fn retain(&mut self, keep: impl Fn(i64) -> bool) -> Result<usize> {
        let mut gone = 0;
        let mut kept = Self { number: self.number, dimension: self.dimension, bytes: Vec::new() };
        visit(&self.bytes, self.dimension, |pieces| {
            if keep(pieces.item) {
                kept.push(pieces);
            } else {
                gone += 1;
            }
        })?;
        *self = kept;
        Ok(gone)
    }

    /// Gives each item to `visit`.
    pub(super) fn visit<'b>(&'b self, see: impl FnMut(Pieces<'b>)) -> Result<()> {
        visit(&self.bytes, self.dimension, see)
    }

    /// Writes the block; deletes it if it is empty.
    pub(super) async fn save(self, connection: &mut SqliteConnection, owner: i64) -> Result<()> {
        let Self { number, bytes, .. } = self;
        let saved = if bytes.is_empty() {
            let sql = "DELETE FROM vector_block WHERE owner = ? AND block = ?";
            sqlx::query(sql).bind(owner).bind(number).execute(connection).await
        } else {
            let sql = "INSERT OR REPLACE INTO vector_block (owner, block, bytes, vectors) VALUES (?, ?, ?, ?)";
            sqlx::query(sql).bind(owner).bind(number).bind(bytes.len() as i64).bind(bytes).execute(connection).await
        };
        saved.map(|_| ()).doing(WRITE)
    }
}
