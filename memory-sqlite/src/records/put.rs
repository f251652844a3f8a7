//! Putting.

use std::collections::{HashMap, HashSet};

use memory_core::chat::Fence;
use memory_core::error::{Error, Result};
use memory_core::id::RecordId;
use memory_core::record::{Expect, Put, RecordBatch};
use memory_core::scope::Scope;

use super::fence;
use super::row::{Encoded, Known, Stored, known, store};
use crate::client::Sqlite;
use crate::notes::mark_records;
use crate::number::loaded;
use crate::owner::{self, Truth};

const PUT: &str = "put records";

/// Puts all records of a batch, and returns the version of each.
pub(super) async fn put(file: &Sqlite, scope: &Scope, batch: &RecordBatch) -> Result<Vec<u64>> {
    let RecordBatch { fence: seen, puts } = batch;
    let seen = *seen;
    let records: Vec<Encoded> = puts.iter().map(|Put { record, expect: _ }| Encoded::new(record)).collect();
    let expected: Vec<Expect> = puts.iter().map(|Put { record: _, expect }| *expect).collect();
    let scope = scope.clone();
    let work = file.write(PUT, move |connection| {
        Box::pin(async move {
            let found = fence::find(connection, &scope, PUT).await?;
            let now = found.map_or(Fence::default(), |(_, fence)| fence);
            if seen.is_some_and(|seen| seen.epoch != now.epoch) {
                return Err(Error::Fenced);
            }
            let is_outrun = seen.is_some_and(|seen| seen != now);
            let mut seen = HashSet::with_capacity(records.len());
            if !records.iter().all(|record| seen.insert(record.id)) {
                return Err(Error::invalid("a batch puts a record once"));
            }
            if records.is_empty() {
                return Ok(Vec::new());
            }
            let owner = match found {
                Some((owner, _)) => owner,
                None => owner::create(connection, Truth::Records, &scope, 0, PUT).await?,
            };
            let known = known(connection, owner, &records, PUT).await?;
            let versions = plan(&known, &records, &expected, is_outrun)?;
            let is_changed = |record: &Encoded, version: i64| {
                known.get(&record.id).is_none_or(|there| there.row.is_none() || there.version != version)
            };
            let changed = records.iter().zip(&versions).filter(|(record, version)| is_changed(record, **version));
            let changed = changed.map(|(record, version)| Stored { record, version: *version, accessed: None });
            let changed: Vec<_> = changed.collect();
            store(connection, owner, &known, &changed, PUT).await?;
            let changed: Vec<_> = changed.iter().map(|put| (*put.record.id.0.as_bytes(), put.version)).collect();
            mark_records(connection, owner, &changed, false).await?;
            versions.into_iter().map(loaded).collect()
        })
    });
    work.await
}

/// Returns the version that each record will have; the one it has if it changes nothing. Nothing may change if the put is
/// outrun by a deletion.
fn plan(
    known: &HashMap<RecordId, Known>,
    records: &[Encoded],
    expected: &[Expect],
    is_outrun: bool,
) -> Result<Vec<i64>> {
    let mut versions = Vec::with_capacity(records.len());
    for (record, expect) in records.iter().zip(expected) {
        let there = known.get(&record.id);
        let row = there.and_then(|there| there.row.as_ref().map(|(_, digest)| (there.version, digest)));
        if let Some((version, _)) = row.filter(|(_, digest)| **digest == record.digest) {
            versions.push(version);
            continue;
        }
        match (expect, row) {
            _ if is_outrun => return Err(Error::Conflict),
            (Expect::Anything, _) | (Expect::Absent, None) => {}
            (Expect::Absent, Some(_)) => return Err(Error::IdConflict { id: record.id.to_string() }),
            (Expect::Version(version), Some((there, _))) if i64::try_from(*version) == Ok(there) => {}
            (Expect::Version(_), _) => return Err(Error::Conflict),
        }
        versions.push(there.map_or(0, |there| there.version).saturating_add(1));
    }
    Ok(versions)
}
