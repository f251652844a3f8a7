//! The upkeep of both truths.

use async_trait::async_trait;
use memory_core::error::Result;
use memory_core::scope::{Epoch, Scope};
use memory_core::store::upkeep::{Backlog, Enlisted, Incarnation, IndexName, Note, Outcome, Upkeep};
use memory_core::time::Timestamp;

use crate::chat::SqliteChat;
use crate::client::Sqlite;
use crate::notes;
use crate::owner::{self, Truth};
use crate::records::{self, SqliteRecords};

macro_rules! upkeep {
    ($store:ty, $truth:expr) => {
        #[async_trait]
        impl Upkeep for $store {
            async fn enlist(&self, index: &IndexName, told: Option<Incarnation>, limit: usize) -> Result<bool> {
                notes::enlist(&self.file, $truth, index, told, limit).await
            }

            async fn doubt(&self, index: &IndexName) -> Result<()> {
                notes::doubt(&self.file, $truth, index).await
            }

            async fn indexes(&self) -> Result<Vec<Enlisted>> {
                notes::indexes(&self.file, $truth).await
            }

            async fn revive(&self, index: &IndexName) -> Result<u64> {
                notes::revive(&self.file, $truth, index).await
            }

            async fn retire(&self, index: &IndexName) -> Result<()> {
                notes::retire(&self.file, $truth, index).await
            }

            async fn pending(&self, index: &IndexName, now: Timestamp, limit: usize) -> Result<Vec<Note>> {
                notes::pending(&self.file, $truth, index, now, limit).await
            }

            async fn settle(&self, index: &IndexName, notes: &[(Note, Outcome)]) -> Result<()> {
                notes::settle(&self.file, $truth, index, notes).await
            }

            async fn backlog(&self, index: &IndexName) -> Result<Backlog> {
                notes::backlog(&self.file, $truth, index).await
            }

            async fn backlog_of(&self, scope: &Scope, index: &IndexName) -> Result<Backlog> {
                notes::backlog_of(&self.file, $truth, scope, index).await
            }

            async fn sweep(&self, now: Timestamp, limit: usize) -> Result<u64> {
                sweep(&self.file, $truth, now, limit).await
            }

            async fn owners(&self, after: Option<&Scope>, limit: usize) -> Result<Vec<Scope>> {
                owner::owners(&self.file, $truth, after, limit).await
            }

            async fn bury(&self, scope: &Scope, seen: Epoch) -> Result<Epoch> {
                notes::bury(&self.file, $truth, scope, seen).await
            }

            async fn epoch(&self, scope: &Scope) -> Result<Epoch> {
                owner::epoch(&self.file, $truth, scope).await
            }
        }
    };
}

upkeep!(SqliteChat, Truth::Chat);
upkeep!(SqliteRecords, Truth::Records);

async fn sweep(file: &Sqlite, truth: Truth, now: Timestamp, limit: usize) -> Result<u64> {
    match truth {
        // Messages do not expire.
        Truth::Chat => Ok(0),
        Truth::Records => records::sweep(file, now, limit).await,
    }
}
