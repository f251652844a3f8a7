//! Checking that the sources of a record are stored, before the record is.
//!
//! A writer reads the fence of records, looks for the sources, and puts with that fence. A forget redacts a message or dooms a
//! record, raises the fence, and then looks for what was derived. So however late a put reaches the store: if it came before
//! the fence rose, the look finds its record, and if it came after, it is refused.

use std::collections::HashSet;

use crate::engine::handle::Scoped;
use crate::engine::inner::Inner;
use crate::error::{Error, Result};
use crate::id::{ItemId, MessageId, RecordId};
use crate::message::{StoredMessage, Trust};
use crate::record::{Record, StoredRecord};
use crate::scope::Scope;

/// Returns the sources of a record that the stored one does not have.
///
/// Those that it has may have expired since, and a record stays when they do. One that is being forgotten changes the stored record,
/// so that the put is refused.
pub(super) fn added(record: &Record, stored: Option<&Record>) -> Vec<ItemId> {
    let known: HashSet<&ItemId> = stored.into_iter().flat_map(Record::sources).collect();
    record.sources().into_iter().filter(|source| !known.contains(source)).cloned().collect()
}

impl Scoped {
    /// Returns `Ok` if all these sources are stored. Messages among them that wait in a journal are sent first.
    ///
    /// # Errors
    /// `Invalid` if one is not.
    pub(crate) async fn check_sources(&self, sources: &[ItemId]) -> Result<()> {
        let messages: Vec<MessageId> = sources.iter().filter_map(ItemId::as_message).collect();
        self.inner().settle(self.scope(), &messages).await?;
        match self.absent_source(sources).await? {
            Some(source) => {
                let refused = format!("the source {} is not stored, or was forgotten", source.key());
                Err(Error::invalid(refused))
            }
            None => Ok(()),
        }
    }

    async fn absent_source(&self, sources: &[ItemId]) -> Result<Option<ItemId>> {
        let gone = self.inner().gone(self.scope(), sources).await?;
        Ok(sources.iter().find(|source| gone.contains(source)).cloned())
    }
}

impl Inner {
    /// Returns the lowest trust of the items that truth holds; none if it holds none of them. What waits in a journal is sent first: it
    /// has a trust too.
    pub(super) async fn least_trust(&self, scope: &Scope, sources: &[ItemId]) -> Result<Option<Trust>> {
        let messages: Vec<MessageId> = sources.iter().filter_map(ItemId::as_message).collect();
        self.settle(scope, &messages).await?;
        let (messages, records) = self.sources(scope, sources).await?;
        let said = messages.iter().filter_map(|row| row.message.as_ref()).map(|message| message.trust);
        Ok(said.chain(records.iter().map(|stored| stored.record.trust())).min())
    }

    /// Returns those of the items from which nothing may be derived, because truth does not hold them or they are about to be
    /// forgotten.
    pub(crate) async fn gone(&self, scope: &Scope, sources: &[ItemId]) -> Result<HashSet<ItemId>> {
        let (messages, records) = self.sources(scope, sources).await?;
        let messages = messages.into_iter().map(|row| ItemId::Message(row.id));
        let records = records.into_iter().filter(|stored| !stored.record.doomed);
        // A span only weighs in the ranking and is never shown, so nothing can be derived from it.
        let stored: HashSet<ItemId> = messages.chain(records.map(|stored| ItemId::Record(stored.record.id))).collect();
        Ok(sources.iter().filter(|source| !stored.contains(source)).cloned().collect())
    }

    /// Returns the messages and records among the items, read from truth and not from the cache.
    async fn sources(&self, scope: &Scope, sources: &[ItemId]) -> Result<(Vec<StoredMessage>, Vec<StoredRecord>)> {
        let messages: Vec<MessageId> = sources.iter().filter_map(ItemId::as_message).collect();
        let records: Vec<RecordId> = sources.iter().filter_map(ItemId::as_record).collect();
        let messages = async {
            if messages.is_empty() {
                return Ok(Vec::new());
            }
            Ok(self.bare.chat.get(scope, &messages).await?.messages)
        };
        let records = async {
            if records.is_empty() {
                return Ok(Vec::new());
            }
            self.bare.records.get(scope, &records).await
        };
        tokio::try_join!(messages, records)
    }
}
