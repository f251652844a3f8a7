//! The statistics of each unit, which scores need.

use std::collections::BTreeMap;

use memory_core::posting::Totals;
use memory_core::{Result, Unit};
use sqlx::SqliteConnection;

use crate::error::Doing;
use crate::filter::EACH_UNIT;
use crate::index::corrupt;
use crate::index::rows::insert;

/// Reads the statistics of an owner.
pub(super) const LOAD: &str = "SELECT unit, documents, total_length, tail_bytes FROM text_statistics WHERE owner = ?";

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
    EACH_UNIT.into_iter().find(|unit| unit.name() == name).ok_or_else(|| corrupt("a unit has no known name"))
}
