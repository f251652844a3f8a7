//! Restoring exported records: everything is checked before anything is stored.

use memory_core::error::Result;
use memory_core::plan::records::{Restoration, check_epoch};
use memory_core::record::StoredRecord;
use memory_core::scope::{Epoch, Scope};
use memory_core::store::records::Replace;

use super::row::{known, store};
use crate::client::Sqlite;
use crate::filter::value_rows;
use crate::notes::mark_records;
use crate::owner::{self, Truth};

const RESTORE: &str = "restore records";

/// Restores the records that are not stored yet, or may replace what is stored.
pub(super) async fn restore(
    file: &Sqlite,
    scope: &Scope,
    seen: Option<Epoch>,
    rows: &[StoredRecord],
    replace: Replace,
) -> Result<()> {
    if rows.is_empty() {
        return Ok(());
    }
    let restoration = Restoration::encode(rows, value_rows)?;
    let scope = scope.clone();
    let work = file.write(RESTORE, move |connection| {
        Box::pin(async move {
            let owner = owner::obtain(connection, Truth::Records, &scope, RESTORE).await?;
            check_epoch(seen, owner.epoch)?;
            let known = known(connection, owner, &restoration.records, RESTORE).await?;
            let rows = restoration.plan(&known, replace)?;
            store(connection, owner, &known, &rows, RESTORE).await?;
            let changed: Vec<_> = rows.iter().map(|row| (*row.record.id.0.as_bytes(), row.version)).collect();
            mark_records(connection, owner, &changed, false).await
        })
    });
    work.await
}
