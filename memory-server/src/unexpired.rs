//! Records that have not expired. One that has is gone for whoever asks, although upkeep may not have deleted it yet, or leaves it
//! because it is on hold.

use memory::{RecordId, Result, Scoped, StoredRecord};

/// Returns those of the records with these ids that are there, in their order.
pub(crate) async fn unexpired(ada: &Scoped, ids: &[RecordId]) -> Result<Vec<StoredRecord>> {
    let mut found = ada.get(ids).await?;
    let now = ada.memory().now();
    found.retain(|stored| stored.record.expires_at().is_none_or(|at| at > now));
    Ok(found)
}
