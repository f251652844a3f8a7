//! The statistics that scores need, per unit.

use std::collections::BTreeMap;

use memory_core::{Result, Unit};
use sqlx::SqliteConnection;

use crate::error::Doing;
use crate::index::corrupt;
use crate::index::rows::insert;

/// Reads the statistics of an owner.
pub(super) const LOAD: &str = "SELECT unit, documents, total_length, tail_bytes FROM text_statistics WHERE owner = ?";

/// What is known of all documents of one unit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Totals {
    pub(super) documents: i64,
    pub(super) length: i64,
    /// Bytes of terms in the tail.
    pub(super) tail_bytes: i64,
}

impl Totals {
    /// Returns how many documents there are.
    pub(super) fn count(&self) -> u64 {
        u64::try_from(self.documents).unwrap_or(0)
    }

    /// Returns their mean length; 0 without any.
    pub(super) fn mean_length(&self) -> f32 {
        let documents = self.count();
        if documents == 0 { 0.0 } else { (self.length as f64 / documents as f64) as f32 }
    }
}

/// The totals of each unit.
pub(super) type Statistics = BTreeMap<Unit, Totals>;

/// Returns the statistics of an owner.
pub(super) async fn load(connection: &mut SqliteConnection, owner: i64) -> Result<Statistics> {
    let rows: Vec<(String, i64, i64, i64)> =
        sqlx::query_as(LOAD).bind(owner).fetch_all(connection).await.doing("read the statistics")?;
    let totals = rows
        .into_iter()
        .map(|(unit, documents, length, tail_bytes)| Ok((unit_of(&unit)?, Totals { documents, length, tail_bytes })));
    totals.collect()
}

/// Writes the statistics of an owner.
pub(super) async fn save(connection: &mut SqliteConnection, owner: i64, statistics: &Statistics) -> Result<()> {
    let rows: Vec<_> = statistics.iter().collect();
    let head = "INSERT OR REPLACE INTO text_statistics (owner, unit, documents, total_length, tail_bytes) ";
    insert(connection, head, &rows, |columns, (unit, totals)| {
        columns.push_bind(owner).push_bind(unit.name()).push_bind(totals.documents);
        columns.push_bind(totals.length).push_bind(totals.tail_bytes);
    })
    .await
}

fn unit_of(name: &str) -> Result<Unit> {
    let units = [Unit::Message, Unit::Record, Unit::Span];
    units.into_iter().find(|unit| unit.name() == name).ok_or_else(|| corrupt("a unit has no known name"))
}
