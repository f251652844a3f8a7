//! The pieces near a vector: their query, and reading their rows.

use memory_core::store::vectors::VectorQuery;
use memory_core::vector::normalise;
use memory_core::{Error, Fields, ItemId, Result, Scope};
use pgvector::Vector;
use sqlx::Row;
use sqlx::postgres::PgRow;

use super::table::Table;
use crate::error::{Attempt, BACKEND, Doing};
use crate::index::key;

/// A piece near the vector of the query.
#[derive(Debug)]
pub(super) struct Near {
    pub(super) item: ItemId,
    pub(super) piece: i64,
    pub(super) similarity: f32,
    pub(super) fields: Fields,
    pub(super) vector: Option<Vec<f32>>,
}

/// The values of a search, in the form of the server.
pub(super) struct Sought<'q> {
    pub(super) scope: &'q Scope,
    pub(super) table: &'q Table,
    pub(super) query: &'q VectorQuery,
    /// The vector at unit length.
    pub(super) vector: Vector,
}

/// Pieces, nearest first, and whether there may be more.
pub(super) struct Nearest {
    pub(super) pieces: Vec<Near>,
    pub(super) is_all: bool,
}

impl<'q> Sought<'q> {
    /// Returns the values of `query`.
    ///
    /// # Errors
    /// `Invalid` for a vector without length.
    pub(super) fn new(scope: &'q Scope, table: &'q Table, query: &'q VectorQuery) -> Result<Self> {
        let vector = normalise(&query.vector).map(Vector::from);
        let vector = vector.ok_or_else(|| Error::invalid("a vector without length has no direction"))?;
        Ok(Self { scope, table, query, vector })
    }

    /// Returns how many pieces to ask for at first: more than hits, because an item may have several.
    pub(super) fn count(&self) -> usize {
        self.query.limit.saturating_mul(2).saturating_add(16)
    }
}

/// Returns the columns that a hit is read from, except the similarity.
pub(super) fn columns(with_vectors: bool) -> &'static str {
    if with_vectors {
        "item.item, item.piece, item.fields, item.embedding"
    } else {
        "item.item, item.piece, item.fields"
    }
}

/// Reads the columns `item`, `piece`, `similarity`, `fields` and, if it was asked for, `embedding` of a row.
pub(super) fn read(row: &PgRow, with_vector: bool) -> Attempt<Near> {
    let doing = "read what is near";
    let item: Vec<u8> = row.try_get("item").doing(doing)?;
    let fields: Vec<u8> = row.try_get("fields").doing(doing)?;
    let similarity: f64 = row.try_get("similarity").doing(doing)?;
    let vector: Option<Vector> = if with_vector { Some(row.try_get("embedding").doing(doing)?) } else { None };
    Ok(Near {
        item: key::decode(&item)?,
        piece: row.try_get("piece").doing(doing)?,
        // The server sums in single precision; adding zero makes -0.0 the same as 0.0, which tie.
        similarity: similarity as f32 + 0.0,
        fields: Fields::decode(BACKEND, &fields)?,
        vector: vector.map(Vec::from),
    })
}
