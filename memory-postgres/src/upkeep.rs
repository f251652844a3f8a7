//! The upkeep of both truths.

use async_trait::async_trait;
use memory_core::error::Result;
use memory_core::scope::{Epoch, Scope};
use memory_core::store::upkeep::{Backlog, Enlisted, Incarnation, IndexName, Note, Outcome, Upkeep};
use memory_core::time::Timestamp;

use crate::chat::PgChat;
use crate::client::Postgres;
use crate::notes;
use crate::owner::{self, Truth};
use crate::records::{self, PgRecords};

macro_rules! upkeep {
    ($store:ty, $truth:expr) => {
        #[async_trait]
        impl Upkeep for $store {
            async fn enlist(&self, index: &IndexName, told: Option<Incarnation>, limit: usize) -> Result<bool> {
                notes::enlist(&self.server, $truth, index, told, limit).await
            }

            async fn doubt(&self, index: &IndexName) -> Result<()> {
                notes::doubt(&self.server, $truth, index).await
            }

            async fn indexes(&self) -> Result<Vec<Enlisted>> {
                notes::indexes(&self.server, $truth).await
            }

            async fn revive(&self, index: &IndexName) -> Result<u64> {
                notes::revive(&self.server, $truth, index).await
            }

            async fn retire(&self, index: &IndexName) -> Result<()> {
                notes::retire(&self.server, $truth, index).await
            }

            async fn pending(&self, index: &IndexName, now: Timestamp, limit: usize) -> Result<Vec<Note>> {
                notes::pending(&self.server, $truth, index, now, limit).await
            }

            async fn settle(&self, index: &IndexName, notes: &[(Note, Outcome)]) -> Result<()> {
                notes::settle(&self.server, $truth, index, notes).await
            }

            async fn backlog(&self, index: &IndexName) -> Result<Backlog> {
                notes::backlog(&self.server, $truth, index).await
            }

            async fn backlog_of(&self, scope: &Scope, index: &IndexName) -> Result<Backlog> {
                notes::backlog_of(&self.server, $truth, scope, index).await
            }

            async fn sweep(&self, now: Timestamp, limit: usize) -> Result<u64> {
                sweep(&self.server, $truth, now, limit).await
            }

            async fn owners(&self, after: Option<&Scope>, limit: usize) -> Result<Vec<Scope>> {
                owner::owners(&self.server, $truth, after, limit).await
            }

            async fn bury(&self, scope: &Scope, seen: Epoch) -> Result<Epoch> {
                owner::bury(&self.server, $truth, scope, seen).await
            }

            async fn epoch(&self, scope: &Scope) -> Result<Epoch> {
                owner::epoch(&self.server, $truth, scope).await
            }
        }
    };
}

upkeep!(PgChat, Truth::Chat);
upkeep!(PgRecords, Truth::Records);

async fn sweep(server: &Postgres, truth: Truth, now: Timestamp, limit: usize) -> Result<u64> {
    match truth {
        // Messages do not expire.
        Truth::Chat => Ok(0),
        Truth::Records => records::sweep(server, now, limit).await,
    }
}
