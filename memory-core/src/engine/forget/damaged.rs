//! Forgetting records that their store cannot read any more.

use std::sync::Arc;

use crate::engine::handle::Scoped;
use crate::error::{Error, Result};
use crate::id::RecordId;
use crate::record::Record;
use crate::store::records::{Expect, Put, RecordBatch};

use super::derived::Protected;

/// The kind and the text of a record that stands in the place of a damaged one.
const DAMAGED: &str = "damaged";

impl Scoped {
    /// Puts doomed records in the place of damaged ones: they have a version, by which they are deleted as others are.
    ///
    /// # Errors
    /// The damage, unless whatever is asked for falls: a damaged record does not tell whether it is protected.
    pub(super) async fn replace_damaged(&self, damaged: Vec<(RecordId, Error)>, protected: Protected) -> Result<()> {
        let (records, now) = (self.inner().records.store(), self.inner().clock.now());
        let mut puts = Vec::with_capacity(damaged.len());
        for (id, damage) in damaged {
            if protected != Protected::Falls {
                return Err(damage);
            }
            let record = Record { id, doomed: true, ..Record::new(DAMAGED, DAMAGED, now) };
            puts.push(Put { record: Arc::new(record), expect: Expect::Anything });
        }
        let fence = Some(records.fence(self.scope()).await?);
        match records.put(self.scope(), &RecordBatch { fence, puts }).await {
            Ok(_) | Err(Error::Conflict) => Ok(()),
            Err(error) => Err(error),
        }
    }
}
