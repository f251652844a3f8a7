//! Restoring exported records: everything is checked before anything is stored.

use memory_core::error::Result;
use memory_core::plan::records::Restoration;
use memory_core::record::StoredRecord;
use memory_core::scope::Scope;

use super::row::{known, store};
use crate::client::{Call, Postgres};
use crate::filter::facets;
use crate::owner::{self, Truth};

const RESTORE: &str = "restore records";

/// Restores the records that are newer than the stored ones.
pub(super) async fn restore(server: &Postgres, scope: &Scope, rows: &[StoredRecord]) -> Result<()> {
    if rows.is_empty() {
        return Ok(());
    }
    let rows = (scope.clone(), Restoration::encode(rows, facets)?);
    let call = Call::transaction(RESTORE).rows(rows.1.records.len());
    let restored = server.run(call, rows, |connection, (scope, restoration)| {
        Box::pin(async move {
            let epoch = owner::enter(connection, Truth::Records, scope, RESTORE).await?.unwrap_or_default();
            let known = known(connection, scope, epoch, &restoration.records, RESTORE).await?;
            store(connection, scope, epoch, &restoration.plan(&known)?, RESTORE).await
        })
    });
    restored.await
}
