//! Putting records.

use memory_core::error::Result;
use memory_core::plan::records::{Batch, Planned};
use memory_core::scope::Scope;
use memory_core::store::records::RecordBatch;

use super::fence;
use super::row::{known, store};
use crate::client::{Call, Postgres};
use crate::filter::facets;
use crate::number::stored;

const PUT: &str = "put records";

/// Puts all records of a batch, and returns the version of each.
pub(super) async fn put(server: &Postgres, scope: &Scope, batch: &RecordBatch) -> Result<Vec<u64>> {
    let batch = Batch::encode(batch, facets)?;
    let (call, batch) = (Call::transaction(PUT).rows(batch.records.len()), (scope.clone(), batch));
    let versions = server.run(call, batch, |connection, (scope, batch)| {
        Box::pin(async move {
            let now = fence::enter(connection, scope, PUT).await?;
            let epoch = stored(now.epoch.0)?;
            batch.check(now)?;
            if batch.records.is_empty() {
                return Ok(Vec::new());
            }
            let known = known(connection, scope, epoch, &batch.records, PUT).await?;
            let Planned { versions, changed } = batch.plan(&known, now)?;
            store(connection, scope, epoch, &changed, PUT).await?;
            Ok(versions)
        })
    });
    versions.await
}
