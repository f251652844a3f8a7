//! Nothing is derived from what is not there: the sources of a record are looked for before it is stored, and again after.

use crate::error::{Error, Result};
use crate::id::{ItemId, MessageId, RecordId};

use super::hydrate::{as_message, as_record};
use super::remember::RememberReceipt;
use super::scoped::Scoped;

impl Scoped {
    /// Returns `Ok` if all these sources are stored.
    ///
    /// # Errors
    /// `Invalid` if one is not.
    pub(super) async fn check_sources(&self, sources: &[ItemId]) -> Result<()> {
        match self.absent_source(sources).await? {
            Some(source) => Err(refused(&source)),
            None => Ok(()),
        }
    }

    /// Keeps what was told if its sources are still stored, and takes it back if one was forgotten meanwhile.
    ///
    /// Whoever forgets a source looks for records derived from it when the source is gone. So whichever comes last sees
    /// the other.
    ///
    /// # Errors
    /// `Invalid` if a source is gone.
    pub(super) async fn confirm(&self, told: RememberReceipt, sources: &[ItemId]) -> Result<RememberReceipt> {
        let Some(source) = self.absent_source(sources).await? else { return Ok(told) };
        // What was told from other sources is not this call's to take back.
        if let Some(stored) = self.stored(&[told.id]).await?.pop()
            && !self.take_back(stored, |telling| telling.sources.contains(&source)).await?
        {
            self.forget_records(&[told.id]).await?;
        }
        Err(refused(&source))
    }

    async fn absent_source(&self, sources: &[ItemId]) -> Result<Option<ItemId>> {
        let messages: Vec<MessageId> = sources.iter().filter_map(as_message).collect();
        let records: Vec<RecordId> = sources.iter().filter_map(as_record).collect();
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
            ItemId::Record(id) => records.iter().any(|stored| stored.record.id == *id),
            // A stretch of a session weighs and is never shown, so nobody can have read it.
            ItemId::Span(..) => false,
        };
        Ok(sources.iter().find(|source| !is_stored(source)).cloned())
    }
}

fn refused(source: &ItemId) -> Error {
    Error::invalid(format!("the source {} is not stored, or was forgotten", source.key()))
}
