//! The record store in PostgreSQL.

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

use crate::client::Postgres;
use crate::error::BACKEND;
use crate::owner::{self, Truth};

pub(crate) use change::sweep;

/// Records in PostgreSQL: [`RecordStore`] and [`memory_core::store::upkeep::Upkeep`].
#[derive(Clone, Debug)]
pub struct PgRecords {
    pub(crate) server: Postgres,
}

impl PgRecords {
    /// Returns the records of an open database.
    pub fn new(server: &Postgres) -> Self {
        Self { server: server.clone() }
    }
}

#[async_trait]
impl Store for PgRecords {
    fn backend(&self) -> &'static str {
        BACKEND
    }

    async fn ping(&self) -> Result<Health> {
        self.server.ping().await
    }

    async fn close(&self) -> Result<()> {
        self.server.close().await;
        Ok(())
    }

    async fn erase(&self, scope: &Scope, below: Epoch) -> Result<Erased> {
        owner::erase(&self.server, Truth::Records, scope, below).await
    }
}

#[async_trait]
impl RecordStore for PgRecords {
    fn durability(&self) -> Durability {
        self.server.durability()
    }

    async fn put(&self, scope: &Scope, batch: &RecordBatch) -> Result<Vec<u64>> {
        // What `durability` tells of it is at most a minute old.
        self.server.truth().await?;
        put::put(&self.server, scope, batch).await
    }

    async fn get(&self, scope: &Scope, ids: &[RecordId]) -> Result<Vec<StoredRecord>> {
        read::get(&self.server, scope, ids).await
    }

    async fn scan(
        &self,
        scope: &Scope,
        filter: &Filter,
        after: Option<RecordId>,
        limit: usize,
    ) -> Result<Vec<StoredRecord>> {
        let order = read::Order::ById { after };
        read::page(&self.server, scope, filter, order, limit).await
    }

    async fn newest(
        &self,
        scope: &Scope,
        filter: &Filter,
        before: Option<(Timestamp, RecordId)>,
        limit: usize,
    ) -> Result<Vec<StoredRecord>> {
        let order = read::Order::NewestFirst { before };
        read::page(&self.server, scope, filter, order, limit).await
    }

    async fn touch(&self, scope: &Scope, ids: &[RecordId], at: Timestamp) -> Result<()> {
        change::touch(&self.server, scope, ids, at).await
    }

    async fn fence(&self, scope: &Scope) -> Result<Fence> {
        fence::read(&self.server, scope).await
    }

    async fn advance(&self, scope: &Scope, seen: Fence) -> Result<Fence> {
        fence::advance(&self.server, scope, seen).await
    }

    async fn delete(&self, scope: &Scope, records: &[(RecordId, u64)]) -> Result<u64> {
        change::delete(&self.server, scope, records).await
    }

    async fn restore(
        &self,
        scope: &Scope,
        epoch: Option<Epoch>,
        rows: &[StoredRecord],
        replace: Replace,
    ) -> Result<()> {
        restore::restore(&self.server, scope, epoch, rows, replace).await
    }
}
