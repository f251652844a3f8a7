//! Blocks: several items in one row, each with its fields and vectors, so that a search reads nothing else.
//!
//! An item consists of its number, the lengths of its key and its fields, the number of pieces, the key, the fields, and the
//! vectors at unit length; all little-endian.

use memory_core::{Fields, ItemId, Result};
use sqlx::SqliteConnection;

use crate::error::{BACKEND, Doing};
use crate::index::key::read_key;
use crate::index::{Owner, corrupt};

/// The bytes from which on a block takes no more items: large enough that a search reads few rows, small enough that a put
/// writes few pages.
const FULL: i64 = 32 << 10;

const READ: &str = "read the vectors";
const WRITE: &str = "write the vectors";

/// One item of a block.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Stored<'b> {
    pub(super) item: i64,
    pub(super) key: &'b [u8],
    /// As [`Fields::encode`] writes them.
    pub(super) fields: &'b [u8],
    /// The vectors one after the other.
    pub(super) vectors: &'b [u8],
}

impl Stored<'_> {
    /// Returns the numbers of its vectors.
    pub(super) fn numbers(&self) -> Vec<f32> {
        let (numbers, _) = self.vectors.as_chunks::<4>();
        numbers.iter().map(|number| f32::from_le_bytes(*number)).collect()
    }

    /// Returns the item and its fields.
    pub(super) fn decode(&self) -> Result<(ItemId, Fields)> {
        let key = std::str::from_utf8(self.key).map_err(|_| corrupt("an item has a key that is none"))?;
        Ok((read_key(key)?, Fields::decode(BACKEND, self.fields)?))
    }
}

/// Reads a block of vectors of `dimension` numbers and gives each item to `visit`.
pub(super) fn visit<'b>(
    mut bytes: &'b [u8],
    dimension: usize,
    mut visit: impl FnMut(Stored<'b>) -> Result<()>,
) -> Result<()> {
    let damaged = || corrupt("a block of vectors is damaged");
    while !bytes.is_empty() {
        let (item, rest) = bytes.split_first_chunk().ok_or_else(damaged)?;
        let (key, rest) = rest.split_first_chunk().ok_or_else(damaged)?;
        let (fields, rest) = rest.split_first_chunk().ok_or_else(damaged)?;
        let (count, rest) = rest.split_first_chunk().ok_or_else(damaged)?;
        let length = (u32::from_le_bytes(*count) as usize).checked_mul(dimension * 4).ok_or_else(damaged)?;
        let (key, rest) = rest.split_at_checked(u32::from_le_bytes(*key) as usize).ok_or_else(damaged)?;
        let (fields, rest) = rest.split_at_checked(u32::from_le_bytes(*fields) as usize).ok_or_else(damaged)?;
        let (vectors, rest) = rest.split_at_checked(length).ok_or_else(damaged)?;
        visit(Stored { item: i64::from_le_bytes(*item), key, fields, vectors })?;
        bytes = rest;
    }
    Ok(())
}

/// A block that is being changed.
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

    /// Returns the block with the most room, or a new one if none has room.
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
    pub(super) fn push(&mut self, stored: Stored<'_>) {
        let Stored { item, key, fields, vectors } = stored;
        let count = vectors.len() / (self.dimension * 4);
        self.bytes.extend_from_slice(&item.to_le_bytes());
        for length in [key.len(), fields.len(), count] {
            self.bytes.extend_from_slice(&(length as u32).to_le_bytes());
        }
        for part in [key, fields, vectors] {
            self.bytes.extend_from_slice(part);
        }
    }

    /// Keeps only the items for which `keep` is true, and returns how many are gone.
    pub(super) fn retain(&mut self, keep: impl Fn(i64) -> bool) -> Result<usize> {
        let mut gone = 0;
        let mut kept = Self { number: self.number, dimension: self.dimension, bytes: Vec::new() };
        visit(&self.bytes, self.dimension, |stored| {
            if keep(stored.item) {
                kept.push(stored);
            } else {
                gone += 1;
            }
            Ok(())
        })?;
        *self = kept;
        Ok(gone)
    }

    /// Writes the block as part of the owner's present change; deletes it if it is empty.
    pub(super) async fn save(self, connection: &mut SqliteConnection, owner: &Owner) -> Result<()> {
        let Self { number, bytes, .. } = self;
        let saved = if bytes.is_empty() {
            let sql = "DELETE FROM vector_block WHERE owner = ? AND block = ?";
            sqlx::query(sql).bind(owner.id).bind(number).execute(connection).await
        } else {
            let sql =
                "INSERT OR REPLACE INTO vector_block (owner, block, bytes, changed, vectors) VALUES (?, ?, ?, ?, ?)";
            let save = sqlx::query(sql).bind(owner.id).bind(number).bind(bytes.len() as i64);
            save.bind(owner.changed).bind(bytes).execute(connection).await
        };
        saved.map(|_| ()).doing(WRITE)
    }
}
