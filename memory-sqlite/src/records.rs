//! The record store in SQLite.

mod change;
mod fence;
mod put;
mod read;
mod restore;
mod row;

use async_trait::async_trait;
use memory_core::error::Result;
use memory_core::filter::Filter;
use memory_core::id::RecordId;
use memory_core::record::StoredRecord;
use memory_core::scope::{Epoch, Scope};
use memory_core::store::chat::Fence;
use memory_core::store::records::{RecordBatch, RecordStore, Replace};
use memory_core::store::{Durability, Erased, Health, Store};
use memory_core::time::Timestamp;

use crate::client::Sqlite;
use crate::error::BACKEND;
use crate::owner::{self, Truth};

pub(crate) use change::sweep;

/// Records in a SQLite file: [`RecordStore`] and [`memory_core::store::upkeep::Upkeep`].
#[derive(Clone, Debug)]
pub struct SqliteRecords {
    pub(crate) file: Sqlite,
}

impl SqliteRecords {
    /// Returns the records of an open file.
    pub fn new(file: &Sqlite) -> Self {
        Self { file: file.clone() }
    }
}

#[async_trait]
impl Store for SqliteRecords {
    fn backend(&self) -> &'static str {
        BACKEND
    }

    async fn ping(&self) -> Result<Health> {
        self.file.ping().await
    }

    async fn close(&self) -> Result<()> {
        self.file.close().await
    }

    async fn erase(&self, scope: &Scope, below: Epoch) -> Result<Erased> {
        owner::erase(&self.file, Truth::Records, scope, below).await
    }
}

#[async_trait]
impl RecordStore for SqliteRecords {
    fn durability(&self) -> Durability {
        self.file.durability()
    }

    async fn put(&self, scope: &Scope, batch: &RecordBatch) -> Result<Vec<u64>> {
        put::put(&self.file, scope, batch).await
    }

    async fn get(&self, scope: &Scope, ids: &[RecordId]) -> Result<Vec<StoredRecord>> {
        read::get(&self.file, scope, ids).await
    }

    async fn scan(
        &self,
        scope: &Scope,
        filter: &Filter,
        after: Option<RecordId>,
        limit: usize,
    ) -> Result<Vec<StoredRecord>> {
        let order = read::Order::ById { after };
        read::page(&self.file, scope, filter, order, limit).await
    }

    async fn newest(
        &self,
        scope: &Scope,
        filter: &Filter,
        before: Option<(Timestamp, RecordId)>,
        limit: usize,
    ) -> Result<Vec<StoredRecord>> {
        let order = read::Order::NewestFirst { before };
        read::page(&self.file, scope, filter, order, limit).await
    }

    async fn touch(&self, scope: &Scope, ids: &[RecordId], at: Timestamp) -> Result<()> {
        change::touch(&self.file, scope, ids, at).await
    }

    async fn fence(&self, scope: &Scope) -> Result<Fence> {
        fence::read(&self.file, scope).await
    }

    async fn advance(&self, scope: &Scope, seen: Fence) -> Result<Fence> {
        fence::advance(&self.file, scope, seen).await
    }

    async fn delete(&self, scope: &Scope, records: &[(RecordId, u64)]) -> Result<u64> {
        change::delete(&self.file, scope, records).await
    }

    async fn restore(
        &self,
        scope: &Scope,
        epoch: Option<Epoch>,
        rows: &[StoredRecord],
        replace: Replace,
    ) -> Result<()> {
        restore::restore(&self.file, scope, epoch, rows, replace).await
    }
}
