//! The handle of one owner: listing, reading and restoring.

use crate::error::Result;
use crate::filter::Filter;
use crate::id::{MessageId, RecordId, SessionId};
use crate::message::StoredMessage;
use crate::record::StoredRecord;
use crate::scope::Scope;
use crate::store::chat::{FoundMessages, SessionState};
use crate::store::records::Replace;
use crate::time::Timestamp;

use super::damage::{self, Salvaged};
use super::handle::Scoped;
use super::inner::{Half, Inner};
use super::memory::IndexStatus;

/// How many accesses wait for upkeep at most; later ones are not counted.
const ACCESSES: usize = 10_000;

impl Scoped {
    /// Returns how far each index is behind for this owner. What other owners wrote does not count.
    pub async fn indexes(&self) -> Vec<IndexStatus> {
        self.inner().indexes_of(self.scope()).await
    }

    /// Returns up to `limit` sessions after the session `after`, in the order of their ids.
    pub async fn sessions(&self, after: Option<&SessionId>, limit: usize) -> Result<Vec<SessionState>> {
        self.inner().chat.store().sessions(self.scope(), after, limit).await
    }

    /// Returns the records with these ids, in order; absent ids are skipped.
    pub async fn get(&self, ids: &[RecordId]) -> Result<Vec<StoredRecord>> {
        self.inner().records.store().get(self.scope(), ids).await
    }

    /// Returns up to `limit` records after the id `after` that match `filter`, in the order of their ids.
    ///
    /// Expired and superseded records are among them unless the filter says otherwise: [`Filter::current`].
    pub async fn records(&self, filter: &Filter, after: Option<RecordId>, limit: usize) -> Result<Vec<StoredRecord>> {
        filter.check(&self.inner().limits)?;
        self.inner().records.store().scan(self.scope(), filter, after, limit).await
    }

    /// Returns up to `limit` records that match `filter`, the newest first. The last one of a page is the place `before` the next.
    ///
    /// Expired and superseded records are among them unless the filter says otherwise: [`Filter::current`].
    ///
    /// ```
    /// # async fn example(ada: &memory_core::engine::Scoped) -> memory_core::Result<()> {
    /// use memory_core::Filter;
    ///
    /// let page = ada.latest(&Filter::All, None, 20).await?;
    /// let before = page.last().map(|last| (last.record.created_at(), last.record.id));
    /// let older = ada.latest(&Filter::All, before, 20).await?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// `Invalid` for a filter beyond the limits.
    pub async fn latest(
        &self,
        filter: &Filter,
        before: Option<(Timestamp, RecordId)>,
        limit: usize,
    ) -> Result<Vec<StoredRecord>> {
        filter.check(&self.inner().limits)?;
        self.inner().records.store().newest(self.scope(), filter, before, limit).await
    }

    /// Stores records as they were exported, with versions and access statistics.
    ///
    /// # Errors
    /// `Conflict` if a record is stored in the same or a newer version with other content; `Invalid` beyond the limits, or
    /// if a version or count is larger than [`StoredRecord::check_numbers`] allows; `Fenced` if the owner was erased since this
    /// handle was first used.
    pub async fn restore(&self, rows: &[StoredRecord]) -> Result<()> {
        self.restore_over(rows, Replace::Older).await
    }

    /// Stores records as [`Self::restore`] does, but those alone that are not stored and were not forgotten. One that is stored with
    /// equal content is skipped.
    ///
    /// # Errors
    /// As [`Self::restore`]; `Conflict` if a record is stored in any version with other content, or was forgotten. Then none is stored.
    pub async fn restore_missing(&self, rows: &[StoredRecord]) -> Result<()> {
        self.restore_over(rows, Replace::Nothing).await
    }

    async fn restore_over(&self, rows: &[StoredRecord], replace: Replace) -> Result<()> {
        rows.iter().try_for_each(|row| self.inner().limits.check_stored(row))?;
        let epoch = Some(self.whole_epoch().await?);
        self.inner().records.store().restore(self.scope(), epoch, rows, replace).await?;
        let now = self.inner().clock.now();
        rows.iter().for_each(|row| self.inner().synopses.told(self.scope(), Half::of(&row.record), now));
        self.inner().changed.notify_one();
        Ok(())
    }

    /// Returns the messages with these ids, in order; absent and forgotten ids are skipped.
    pub async fn messages(&self, ids: &[MessageId]) -> Result<Vec<StoredMessage>> {
        Ok(self.known(ids).await?.messages)
    }

    /// Returns the messages with these ids, in order, and the ids among them that belong to forgotten messages. Absent ids are
    /// skipped.
    pub async fn known(&self, ids: &[MessageId]) -> Result<FoundMessages> {
        self.inner().chat.store().get(self.scope(), ids).await
    }

    /// Returns the records with these ids, read from truth and not from the cache.
    pub(super) async fn stored(&self, ids: &[RecordId]) -> Result<Vec<StoredRecord>> {
        self.inner().bare.records.get(self.scope(), ids).await
    }

    /// Returns the records as [`Scoped::stored`] does, and those that are damaged.
    pub(super) async fn stored_or_damaged(&self, ids: &[RecordId]) -> Result<Salvaged<Vec<StoredRecord>, RecordId>> {
        damage::records(self.inner().bare.records.as_ref(), self.scope(), ids).await
    }

    /// Returns the messages with these ids, read from truth and not from the cache. Those that wait are sent there first.
    pub(super) async fn said(&self, ids: &[MessageId]) -> Result<Vec<StoredMessage>> {
        self.inner().settle(self.scope(), ids).await?;
        Ok(self.inner().bare.chat.get(self.scope(), ids).await?.messages)
    }

    /// Returns the messages as [`Scoped::said`] does, and those that are damaged.
    pub(super) async fn said_or_damaged(&self, ids: &[MessageId]) -> Result<Salvaged<Vec<StoredMessage>, MessageId>> {
        self.inner().settle(self.scope(), ids).await?;
        let Salvaged { read, damaged } = damage::messages(self.inner().bare.chat.as_ref(), self.scope(), ids).await?;
        Ok(Salvaged { read: read.messages, damaged })
    }

    /// Notes records as accessed now. A hint: upkeep writes it down, and it is lost if the process ends before.
    pub(super) fn note_access(&self, records: Vec<RecordId>) {
        self.inner().note_access(self.scope(), records);
    }
}

impl Inner {
    /// Notes records of an owner as accessed now, as [`Scoped::note_access`] does.
    pub(super) fn note_access(&self, scope: &Scope, records: Vec<RecordId>) {
        if records.is_empty() || !self.touch {
            return;
        }
        let now = self.clock.now();
        let mut accessed = self.accessed.lock();
        if accessed.len() < ACCESSES {
            accessed.push((scope.clone(), records, now));
        }
    }
}
