//! A record store that holds nothing, for a truth of conversations alone.

use async_trait::async_trait;

use crate::error::{Error, Result};
use crate::filter::Filter;
use crate::id::RecordId;
use crate::record::StoredRecord;
use crate::scope::{Epoch, Scope};
use crate::store::chat::{ChatStore, Fence};
use crate::store::records::{RecordBatch, RecordStore};
use crate::store::truth::Truth;
use crate::store::upkeep::{Backlog, Enlisted, Incarnation, IndexName, Note, Outcome, Upkeep};
use crate::store::{Durability, Erased, ErasureLevel, Health, Store};
use crate::time::Timestamp;

/// Holds no records: reads find nothing, and a put is `Unsupported`. Its epochs are those of the conversations.
#[derive(Debug)]
pub(crate) struct NoRecords {
    chat: Truth<dyn ChatStore>,
}

impl NoRecords {
    pub(crate) fn beside(chat: Truth<dyn ChatStore>) -> Self {
        Self { chat }
    }

    fn refusal(&self) -> Error {
        Error::Unsupported { backend: self.backend(), what: "hold records".to_owned() }
    }
}

#[async_trait]
impl Store for NoRecords {
    fn backend(&self) -> &'static str {
        self.chat.store().backend()
    }

    async fn ping(&self) -> Result<Health> {
        Ok(Health::new("none: conversations alone", "", Durability::Volatile))
    }

    async fn close(&self) -> Result<()> {
        Ok(())
    }

    async fn erase(&self, _: &Scope, _: Epoch) -> Result<Erased> {
        Ok(Erased { removed: 0, remaining: 0, level: ErasureLevel::Purged })
    }
}

#[async_trait]
impl RecordStore for NoRecords {
    async fn put(&self, _: &Scope, batch: &RecordBatch) -> Result<Vec<u64>> {
        if batch.puts.is_empty() { Ok(Vec::new()) } else { Err(self.refusal()) }
    }

    async fn get(&self, _: &Scope, _: &[RecordId]) -> Result<Vec<StoredRecord>> {
        Ok(Vec::new())
    }

    async fn scan(&self, _: &Scope, _: &Filter, _: Option<RecordId>, _: usize) -> Result<Vec<StoredRecord>> {
        Ok(Vec::new())
    }

    async fn newest(
        &self,
        _: &Scope,
        _: &Filter,
        _: Option<(Timestamp, RecordId)>,
        _: usize,
    ) -> Result<Vec<StoredRecord>> {
        Ok(Vec::new())
    }

    async fn touch(&self, _: &Scope, _: &[RecordId], _: Timestamp) -> Result<()> {
        Ok(())
    }

    async fn fence(&self, _: &Scope) -> Result<Fence> {
        Ok(Fence::default())
    }

    async fn advance(&self, _: &Scope, _: Fence) -> Result<Fence> {
        Ok(Fence::default())
    }

    async fn delete(&self, _: &Scope, _: &[(RecordId, u64)]) -> Result<u64> {
        Ok(0)
    }

    async fn restore(&self, _: &Scope, _: Option<Epoch>, rows: &[StoredRecord]) -> Result<()> {
        if rows.is_empty() { Ok(()) } else { Err(self.refusal()) }
    }
}

#[async_trait]
impl Upkeep for NoRecords {
    async fn enlist(&self, _: &IndexName, _: Option<Incarnation>, _: usize) -> Result<bool> {
        Ok(true)
    }

    async fn doubt(&self, _: &IndexName) -> Result<()> {
        Ok(())
    }

    async fn indexes(&self) -> Result<Vec<Enlisted>> {
        Ok(Vec::new())
    }

    async fn revive(&self, _: &IndexName) -> Result<u64> {
        Ok(0)
    }

    async fn retire(&self, _: &IndexName) -> Result<()> {
        Ok(())
    }

    async fn pending(&self, _: &IndexName, _: Timestamp, _: usize) -> Result<Vec<Note>> {
        Ok(Vec::new())
    }

    async fn settle(&self, _: &IndexName, _: &[(Note, Outcome)]) -> Result<()> {
        Ok(())
    }

    async fn backlog(&self, _: &IndexName) -> Result<Backlog> {
        Ok(Backlog::default())
    }

    async fn backlog_of(&self, _: &Scope, _: &IndexName) -> Result<Backlog> {
        Ok(Backlog::default())
    }

    async fn sweep(&self, _: Timestamp, _: usize) -> Result<u64> {
        Ok(0)
    }

    async fn owners(&self, _: Option<&Scope>, _: usize) -> Result<Vec<Scope>> {
        Ok(Vec::new())
    }

    async fn bury(&self, scope: &Scope, _: Epoch) -> Result<Epoch> {
        self.epoch(scope).await
    }

    async fn epoch(&self, scope: &Scope) -> Result<Epoch> {
        self.chat.upkeep().epoch(scope).await
    }
}
