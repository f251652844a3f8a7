//! Records stored as they are: everything is checked before anything is stored.

use std::collections::BTreeMap;

use memory_core::error::{Error, Result};
use memory_core::id::RecordId;
use memory_core::record::StoredRecord;
use memory_core::scope::Scope;

use super::row::{Encoded, Stored, known, store};
use crate::client::Sqlite;
use crate::notes::mark_records;
use crate::number::stored;
use crate::owner::{self, Truth};

const RESTORE: &str = "restore records";

/// What stands beside a record.
#[derive(Clone, Copy)]
struct Beside {
    version: i64,
    accessed_at: Option<i64>,
    access_count: i64,
}

/// Restores records that are newer than those that are there.
pub(super) async fn restore(file: &Sqlite, scope: &Scope, rows: &[StoredRecord]) -> Result<()> {
    if rows.is_empty() {
        return Ok(());
    }
    let records: Vec<Encoded> = rows.iter().map(|row| Encoded::new(&row.record)).collect();
    let beside = rows.iter().map(|row| {
        row.check_numbers()?;
        let StoredRecord { record: _, version, accessed_at, access_count } = row;
        let accessed_at = accessed_at.map(|at| at.0);
        Ok(Beside { version: stored(*version)?, accessed_at, access_count: stored(*access_count)? })
    });
    let beside = beside.collect::<Result<Vec<_>>>()?;
    let scope = scope.clone();
    let work = file.write(RESTORE, move |connection| {
        Box::pin(async move {
            let owner = owner::obtain(connection, Truth::Records, &scope, RESTORE).await?;
            let known = known(connection, owner, &records, RESTORE).await?;
            let mut plan: BTreeMap<RecordId, (&Encoded, Beside)> = BTreeMap::new();
            for (record, beside) in records.iter().zip(&beside) {
                let there = known.get(&record.id);
                let planned = plan.get(&record.id);
                let last = planned.map(|(_, beside)| beside.version).or_else(|| there.map(|there| there.version));
                if beside.version > last.unwrap_or(0) {
                    plan.insert(record.id, (record, *beside));
                    continue;
                }
                let stands = planned.map(|(record, _)| &record.digest);
                let stands = stands.or_else(|| there.and_then(|there| there.row.as_ref().map(|(_, digest)| digest)));
                if stands != Some(&record.digest) {
                    return Err(Error::Conflict);
                }
            }
            let rows = plan.into_values().map(|(record, beside)| {
                let Beside { version, accessed_at, access_count } = beside;
                Stored { record, version, accessed: Some((accessed_at, access_count)) }
            });
            let rows: Vec<_> = rows.collect();
            store(connection, owner, &known, &rows, RESTORE).await?;
            let changed: Vec<_> = rows.iter().map(|row| (*row.record.id.0.as_bytes(), row.version)).collect();
            mark_records(connection, owner, &changed, false).await
        })
    });
    work.await
}
