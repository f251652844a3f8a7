//! Checking that the sources of a record are stored, before the record is.
//!
//! A writer reads the fence of records, looks for the sources, and puts with that fence. A forget redacts a message or dooms a
//! record, raises the fence, and then looks for what was derived. So however late a put reaches the store: if it came before
//! the fence rose, the look finds its record, and if it came after, it is refused.

use crate::engine::handle::Scoped;
use crate::error::{Error, Result};
use crate::id::{ItemId, MessageId, RecordId};

impl Scoped {
    /// Returns `Ok` if all these sources are stored.
    ///
    /// # Errors
    /// `Invalid` if one is not.
    pub(crate) async fn check_sources(&self, sources: &[ItemId]) -> Result<()> {
        match self.absent_source(sources).await? {
            Some(source) => {
                let refused = format!("the source {} is not stored, or was forgotten", source.key());
                Err(Error::invalid(refused))
            }
            None => Ok(()),
        }
    }

    async fn absent_source(&self, sources: &[ItemId]) -> Result<Option<ItemId>> {
        let messages: Vec<MessageId> = sources.iter().filter_map(ItemId::as_message).collect();
        let records: Vec<RecordId> = sources.iter().filter_map(ItemId::as_record).collect();
        let stored_messages = async {
            if messages.is_empty() {
                return Ok(Vec::new());
            }
            self.said(&messages).await
        };
        let stored_records = async {
            if records.is_empty() {
                return Ok(Vec::new());
            }
            self.stored(&records).await
        };
        let (messages, records) = tokio::try_join!(stored_messages, stored_records)?;
        let is_stored = |source: &&ItemId| match source {
            ItemId::Message(id) => messages.iter().any(|row| row.id == *id),
            ItemId::Record(id) => records.iter().any(|stored| stored.record.id == *id && !stored.record.doomed),
            // A span only weighs in the ranking and is never shown, so nothing can be derived from it.
            ItemId::Span(..) => false,
        };
        Ok(sources.iter().find(|source| !is_stored(source)).cloned())
    }
}
