//! Records stored as they are: everything is checked before anything is stored.

use std::collections::{BTreeMap, HashMap};

use memory_core::error::{Error, Result};
use memory_core::id::RecordId;
use memory_core::record::StoredRecord;
use memory_core::scope::Scope;

use super::row::{Encoded, Known, Stored, known, store};
use crate::client::{Call, Postgres};
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

/// Rows, encoded before the connection's turn.
struct Rows {
    scope: Scope,
    records: Vec<Encoded>,
    beside: Vec<Beside>,
}

/// Restores records that are newer than those that are there.
pub(super) async fn restore(server: &Postgres, scope: &Scope, rows: &[StoredRecord]) -> Result<()> {
    if rows.is_empty() {
        return Ok(());
    }
    let records = rows.iter().map(|row| Encoded::new(&row.record)).collect::<Result<_>>()?;
    let beside = rows.iter().map(|row| {
        row.check_numbers()?;
        let StoredRecord { record: _, version, accessed_at, access_count } = row;
        let accessed_at = accessed_at.map(|at| at.0);
        Ok(Beside { version: stored(*version)?, accessed_at, access_count: stored(*access_count)? })
    });
    let rows = Rows { scope: scope.clone(), records, beside: beside.collect::<Result<_>>()? };
    let restored = server.run(Call::transaction(RESTORE).rows(rows.records.len()), rows, |connection, rows| {
        Box::pin(async move {
            let Rows { scope, records, beside } = rows;
            let epoch = owner::enter(connection, Truth::Records, scope, RESTORE).await?.unwrap_or_default();
            let known = known(connection, scope, epoch, records, RESTORE).await?;
            let plan = plan(&known, records, beside)?;
            store(connection, scope, epoch, &plan, RESTORE).await
        })
    });
    restored.await
}

fn plan<'a>(known: &HashMap<RecordId, Known>, records: &'a [Encoded], beside: &[Beside]) -> Result<Vec<Stored<'a>>> {
    let mut plan: BTreeMap<RecordId, (&Encoded, Beside)> = BTreeMap::new();
    for (record, beside) in records.iter().zip(beside) {
        let there = known.get(&record.id);
        let planned = plan.get(&record.id);
        let last = planned.map(|(_, beside)| beside.version).or_else(|| there.map(|there| there.version));
        if beside.version > last.unwrap_or(0) {
            plan.insert(record.id, (record, *beside));
            continue;
        }
        let stands = planned.map(|(record, _)| &record.digest);
        let stands = stands.or_else(|| there.and_then(|there| there.digest.as_ref()));
        if stands != Some(&record.digest) {
            return Err(Error::Conflict);
        }
    }
    let rows = plan.into_values().map(|(record, beside)| {
        let Beside { version, accessed_at, access_count } = beside;
        Stored { record, version, accessed: Some((accessed_at, access_count)) }
    });
    Ok(rows.collect())
}
