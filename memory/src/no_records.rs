//! What stands for long-term memory where the truth holds conversations alone.

use async_trait::async_trait;
use memory_core::chat::Fence;
use memory_core::record::{RecordBatch, RecordStore, StoredRecord};
use memory_core::store::{Durability, Erased, ErasureLevel, Health, Store};
use memory_core::upkeep::{Backlog, Enlisted, Incarnation, IndexName, Note, Outcome, Upkeep};
use memory_core::{Epoch, Error, Filter, RecordId, Result, Scope, Timestamp};

/// Holds no records: there is nothing to find, and a put is `Unsupported`.
#[derive(Debug)]
pub(crate) struct NoRecords {
    /// The backend that holds the conversations.
    backend: &'static str,
}

impl NoRecords {
    pub(crate) fn beside(backend: &'static str) -> Self {
        Self { backend }
    }

    fn refusal(&self) -> Error {
        Error::Unsupported { backend: self.backend, what: "hold records".to_owned() }
    }
}

#[async_trait]
impl Store for NoRecords {
    fn backend(&self) -> &'static str {
        self.backend
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

    async fn restore(&self, _: &Scope, rows: &[StoredRecord]) -> Result<()> {
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

    async fn bury(&self, _: &Scope, _: Epoch) -> Result<Epoch> {
        Ok(Epoch::default())
    }

    async fn epoch(&self, _: &Scope) -> Result<Epoch> {
        Ok(Epoch::default())
    }
}
