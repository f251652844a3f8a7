//! Blocks: the vectors of several items in one row, so that a search reads few rows and nothing else.
//!
//! A block holds a head for each item, behind how many bytes they take together, and then the rows of all vectors, item by item.
//! Heads are written as the documents of a text segment: the item's number and time, and as length how many vectors it has.

use memory_core::posting::{Document, decode_documents, encode_documents};
use memory_core::vector::{CodedQuery, CodedRows, Direction, Similarity};
use memory_core::{Result, Timestamp};
use sqlx::SqliteConnection;

use crate::error::Doing;
use crate::index::{Owner, corrupt};

/// The bytes from which on a block takes no more items: large enough that a search reads few rows, small enough that a put
/// writes few pages.
const FULL: i64 = 32 << 10;

/// The bytes of a block before its heads: how many bytes they take.
const LENGTH_BYTES: usize = 4;

/// About the bytes of a head.
const HEAD_BYTES: usize = 8;

/// From this many numbers on, a vector is stored in 8 bits a number. The more numbers, the less its similarity is off by that.
const CODED_FROM: usize = 128;

const READ: &str = "read the vectors";
const WRITE: &str = "write the vectors";

/// One item of a block.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Stored {
    pub(super) item: i64,
    pub(super) at: Timestamp,
    /// Its vectors one after the other, as [`encode`] makes them.
    pub(super) vectors: Vec<u8>,
}

/// Returns the bytes in which a unit vector is stored.
pub(super) fn encode(unit: &[f32]) -> Vec<u8> {
    if unit.len() >= CODED_FROM {
        return CodedRows::encode(unit);
    }
    unit.iter().flat_map(|number| number.to_le_bytes()).collect()
}

fn row_bytes(dimension: usize) -> usize {
    if dimension >= CODED_FROM { CodedRows::row_bytes(dimension) } else { dimension * size_of::<f32>() }
}

/// The head of an item.
#[derive(Clone, Copy, Debug)]
pub(super) struct Head {
    pub(super) item: i64,
    pub(super) at: Timestamp,
    /// How many vectors it has.
    pub(super) pieces: usize,
}

/// Splits a block into its heads and the bytes of its rows.
fn split(bytes: &[u8], dimension: usize) -> Result<(Vec<Head>, &[u8])> {
    let damaged = || corrupt("a block of vectors is damaged");
    let (length, rest) = bytes.split_first_chunk::<LENGTH_BYTES>().ok_or_else(damaged)?;
    let (heads, rows) = rest.split_at_checked(u32::from_le_bytes(*length) as usize).ok_or_else(damaged)?;
    let heads = decode_documents(heads).map_err(|_| damaged())?;
    let head = |Document { slot: _, item, length, at }: Document| Head { item, at, pieces: length as usize };
    let heads: Vec<Head> = heads.into_iter().map(head).collect();
    let pieces: usize = heads.iter().map(|head| head.pieces).sum();
    if pieces.checked_mul(row_bytes(dimension)) != Some(rows.len()) || heads.iter().any(|head| head.pieces == 0) {
        return Err(damaged());
    }
    Ok((heads, rows))
}

/// A block as it is searched.
#[derive(Debug)]
pub(super) struct Block {
    dimension: usize,
    pub(super) heads: Vec<Head>,
    rows: Rows,
}

#[derive(Debug)]
enum Rows {
    /// In full, one after the other.
    Full(Vec<f32>),
    Coded(CodedRows),
}

/// A query vector, for either form of rows.
#[derive(Debug)]
pub(super) struct Sought {
    full: Direction,
    coded: CodedQuery,
}

impl Sought {
    /// Returns the query for `vector`; none for a vector without length.
    pub(super) fn of(vector: &[f32]) -> Option<Self> {
        Some(Self { full: Direction::of(vector)?, coded: CodedQuery::of(vector)? })
    }
}

impl Block {
    /// Reads a block of vectors of `dimension` numbers.
    pub(super) fn decode(bytes: &[u8], dimension: usize) -> Result<Self> {
        let (heads, rows) = split(bytes, dimension)?;
        let rows = if dimension >= CODED_FROM {
            let rows = CodedRows::decode(dimension, rows);
            Rows::Coded(rows.ok_or_else(|| corrupt("a block of vectors is damaged"))?)
        } else {
            let (numbers, _) = rows.as_chunks();
            Rows::Full(numbers.iter().map(|number| f32::from_le_bytes(*number)).collect())
        };
        Ok(Self { dimension: dimension.max(1), heads, rows })
    }

    /// Returns about how many bytes it takes in memory.
    pub(super) fn bytes(&self) -> usize {
        let rows = match &self.rows {
            Rows::Full(numbers) => size_of_val(numbers.as_slice()),
            Rows::Coded(rows) => rows.bytes(),
        };
        size_of::<Self>() + self.heads.capacity() * size_of::<Head>() + rows
    }

    /// Puts the similarities of all rows into `out`.
    pub(super) fn similarities(&self, sought: &Sought, out: &mut Vec<Similarity>) {
        out.clear();
        match &self.rows {
            Rows::Full(numbers) => {
                out.extend(numbers.chunks_exact(self.dimension).map(|row| sought.full.similarity(row)));
            }
            Rows::Coded(rows) => {
                out.resize(self.heads.iter().map(|head| head.pieces).sum(), Similarity::new(-1.0));
                rows.similarities(&sought.coded, |row, similarity| {
                    if let Some(out) = out.get_mut(row) {
                        *out = similarity;
                    }
                });
            }
        }
    }

    /// Returns the numbers of a row.
    pub(super) fn numbers(&self, row: usize) -> Option<Vec<f32>> {
        match &self.rows {
            Rows::Full(numbers) => numbers.chunks_exact(self.dimension).nth(row).map(<[f32]>::to_vec),
            Rows::Coded(rows) => rows.numbers(row),
        }
    }
}

/// A block that is being changed.
#[derive(Debug)]
pub(super) struct Draft {
    pub(super) number: i64,
    row_bytes: usize,
    items: Vec<Stored>,
    bytes: usize,
}

impl Draft {
    fn new(number: i64, dimension: usize) -> Self {
        Self { number, row_bytes: row_bytes(dimension), items: Vec::new(), bytes: LENGTH_BYTES }
    }

    /// Returns the block numbered `number`.
    pub(super) async fn open(
        connection: &mut SqliteConnection,
        owner: i64,
        dimension: usize,
        number: i64,
    ) -> Result<Self> {
        let bytes: Option<Vec<u8>> =
            sqlx::query_scalar("SELECT vectors FROM vector_block WHERE owner = ? AND block = ?")
                .bind(owner)
                .bind(number)
                .fetch_optional(connection)
                .await
                .doing(READ)?;
        let bytes = bytes.ok_or_else(|| corrupt("a block of vectors is missing"))?;
        let (heads, mut rest) = split(&bytes, dimension)?;
        let mut draft = Self::new(number, dimension);
        for Head { item, at, pieces } in heads {
            let (vectors, later) = rest.split_at_checked(pieces * draft.row_bytes).unwrap_or((rest, &[]));
            draft.push(Stored { item, at, vectors: vectors.to_owned() });
            rest = later;
        }
        Ok(draft)
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
            None => Ok(Self::new(owner.number(), dimension)),
        }
    }

    /// Returns whether another item may be added.
    pub(super) fn has_room(&self) -> bool {
        (self.bytes as i64) < FULL
    }

    /// Adds an item.
    pub(super) fn push(&mut self, stored: Stored) {
        self.bytes += HEAD_BYTES + stored.vectors.len();
        self.items.push(stored);
    }

    /// Keeps only the items for which `keep` is true, and returns how many are gone.
    pub(super) fn retain(&mut self, keep: impl Fn(i64) -> bool) -> usize {
        let before = self.items.len();
        self.items.retain(|stored| keep(stored.item));
        before - self.items.len()
    }

    fn encode(&self) -> Vec<u8> {
        let head = |(slot, Stored { item, at, vectors }): (u32, &Stored)| Document {
            slot,
            item: *item,
            length: (vectors.len() / self.row_bytes.max(1)) as u32,
            at: *at,
        };
        let heads = encode_documents(&(0..).zip(&self.items).map(head).collect::<Vec<_>>());
        let mut bytes = Vec::with_capacity(self.bytes + heads.len());
        bytes.extend_from_slice(&(heads.len() as u32).to_le_bytes());
        bytes.extend_from_slice(&heads);
        self.items.iter().for_each(|stored| bytes.extend_from_slice(&stored.vectors));
        bytes
    }

    /// Writes the block as part of the owner's present change; deletes it if it is empty.
    pub(super) async fn save(self, connection: &mut SqliteConnection, owner: &Owner) -> Result<()> {
        let saved = if self.items.is_empty() {
            let sql = "DELETE FROM vector_block WHERE owner = ? AND block = ?";
            sqlx::query(sql).bind(owner.id).bind(self.number).execute(connection).await
        } else {
            let sql =
                "INSERT OR REPLACE INTO vector_block (owner, block, bytes, changed, vectors) VALUES (?, ?, ?, ?, ?)";
            let bytes = self.encode();
            let save = sqlx::query(sql).bind(owner.id).bind(self.number).bind(bytes.len() as i64);
            save.bind(owner.changed).bind(bytes).execute(connection).await
        };
        saved.map(|_| ()).doing(WRITE)
    }
}
