//! Restoring exported records: everything is checked before anything is stored.

use memory_core::error::Result;
use memory_core::plan::records::{Restoration, check_epoch};
use memory_core::record::StoredRecord;
use memory_core::scope::{Epoch, Scope};
use memory_core::store::records::Replace;

use super::row::{known, store};
use crate::client::{Call, Postgres};
use crate::filter::facets;
use crate::owner::{self, Truth};

const RESTORE: &str = "restore records";

/// Restores the records that are not stored yet, or may replace what is stored.
pub(super) async fn restore(
    server: &Postgres,
    scope: &Scope,
    seen: Option<Epoch>,
    rows: &[StoredRecord],
    replace: Replace,
) -> Result<()> {
    if rows.is_empty() {
        return Ok(());
    }
    let rows = (scope.clone(), seen, Restoration::encode(rows, facets)?);
    let call = Call::transaction(RESTORE).rows(rows.2.records.len());
    let restored = server.run(call, rows, move |connection, (scope, seen, restoration)| {
        Box::pin(async move {
            let epoch = owner::enter(connection, Truth::Records, scope, RESTORE).await?.unwrap_or_default();
            check_epoch(*seen, epoch)?;
            let known = known(connection, scope, epoch, &restoration.records, RESTORE).await?;
            store(connection, scope, epoch, &restoration.plan(&known, replace)?, RESTORE).await
        })
    });
    restored.await
}
