//! Putting records.

use memory_core::error::Result;
use memory_core::plan::records::{Batch, Planned};
use memory_core::scope::Scope;
use memory_core::store::chat::Fence;
use memory_core::store::records::RecordBatch;

use super::fence;
use super::row::{known, store};
use crate::client::Sqlite;
use crate::filter::value_rows;
use crate::notes::mark_records;
use crate::owner::{self, Truth};

const PUT: &str = "put records";

/// Puts all records of a batch, and returns the version of each.
pub(super) async fn put(file: &Sqlite, scope: &Scope, batch: &RecordBatch) -> Result<Vec<u64>> {
    let batch = Batch::encode(batch, value_rows)?;
    let scope = scope.clone();
    let work = file.write(PUT, move |connection| {
        Box::pin(async move {
            let found = fence::find(connection, &scope, PUT).await?;
            let now = found.map_or(Fence::default(), |(_, fence)| fence);
            batch.check(now)?;
            if batch.records.is_empty() {
                return Ok(Vec::new());
            }
            let owner = match found {
                Some((owner, _)) => owner,
                None => owner::create(connection, Truth::Records, &scope, 0, PUT).await?,
            };
            let known = known(connection, owner, &batch.records, PUT).await?;
            let Planned { versions, changed } = batch.plan(&known, now)?;
            store(connection, owner, &known, &changed, PUT).await?;
            let changed: Vec<_> = changed.iter().map(|put| (*put.record.id.0.as_bytes(), put.version)).collect();
            mark_records(connection, owner, &changed, false).await?;
            Ok(versions)
        })
    });
    work.await
}
